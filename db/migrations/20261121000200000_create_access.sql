-- Keys, tiers, agreements and one-time tokens: who may see what. Durable state.
-- Lock level: new tables only.

create schema access;
comment on schema access is 'Who may see what: tiers, Tribal agreements, API keys and one-time access tokens.';

-- Tiers --------------------------------------------------------------------------------------------------

create table access.tiers (
  name text primary key,
  database_role text not null,
  requests_per_hour integer,
  requests_per_day integer,
  limited_by text not null,
  statement_timeout interval not null,
  constraint tiers_database_role_is_served check (database_role in ('api_public', 'api_tribal')),
  constraint tiers_limited_by_is_known check (limited_by in ('address', 'key')),
  constraint tiers_limits_are_positive check (requests_per_hour > 0 and requests_per_day > 0),
  constraint tiers_have_a_limit check (num_nonnulls(requests_per_hour, requests_per_day) > 0)
);

-- Kong's rate-limiting counts an address once for all consumers that are limited by address (the consumer
-- is not part of the counter's key), so a second such tier would share the first one's counter.
create unique index tiers_one_is_limited_by_address on access.tiers (limited_by) where limited_by = 'address';

comment on table access.tiers is 'What a key is worth: the database role it becomes and its limits.';
comment on column access.tiers.database_role is 'Role that request.authorize() switches to.';
comment on column access.tiers.requests_per_hour is 'Requests a calendar hour (UTC); null is no limit.';
comment on column access.tiers.requests_per_day is 'Requests a calendar day (UTC); null is no limit.';
comment on column access.tiers.limited_by is 'What is counted: the client''s address or the key.';
comment on column access.tiers.statement_timeout is 'Longest time one query of this tier may take.';

insert into access.tiers
  (name, database_role, requests_per_hour, requests_per_day, limited_by, statement_timeout)
values
  ('demo', 'api_public', 30, 50, 'address', '10 s'),
  ('individual', 'api_public', 1000, null, 'key', '60 s'),
  ('tribal', 'api_tribal', 1000, null, 'key', '60 s');

-- Agreements ---------------------------------------------------------------------------------------------

create table access.tribal_access_agreements (
  id uuid primary key default uuidv7(),
  organisation text not null,
  contact_email text not null,
  requested_at timestamptz not null default now(),
  decision text,
  decided_at timestamptz,
  decided_by_name text,
  decided_by_agency text,
  decided_by_email text,
  reason text,
  revoked_at timestamptz,
  constraint tribal_access_agreements_decision_is_known check (decision in ('approved', 'denied')),
  constraint tribal_access_agreements_decision_is_signed check (
    num_nonnulls(decision, decided_at, decided_by_name, decided_by_agency, decided_by_email) in (0, 5)
  ),
  constraint tribal_access_agreements_only_approved_is_revoked check (revoked_at is null or decision = 'approved')
);

comment on table access.tribal_access_agreements is
  'Agreements under which an organisation may see suppressed submissions (2 CFR 200.512(b)(2)).';
comment on column access.tribal_access_agreements.decided_by_name is
  'Federal official with Single Audit oversight who decided.';

-- Keys ---------------------------------------------------------------------------------------------------

create table access.api_keys (
  id uuid primary key default gen_random_uuid(),
  tier text not null references access.tiers (name),
  owner_email text not null,
  label text not null default '',
  key_sha256 bytea not null,
  key_prefix text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  agreement_id uuid references access.tribal_access_agreements (id),
  constraint api_keys_key_is_unique unique (key_sha256),
  constraint api_keys_key_is_a_sha256 check (octet_length(key_sha256) = 32),
  constraint api_keys_tribal_has_an_agreement check ((tier = 'tribal') = (agreement_id is not null)),
  constraint api_keys_tribal_expires check (tier <> 'tribal' or expires_at is not null)
);

-- Revoking an agreement looks up its keys.
create index api_keys_agreement_id on access.api_keys (agreement_id) where agreement_id is not null;

comment on table access.api_keys is 'API keys. The key itself is stored nowhere.';
comment on column access.api_keys.id is 'What the gateway tells PostgREST: X-Consumer-Custom-ID.';
comment on column access.api_keys.key_sha256 is 'SHA-256 of the key.';
comment on column access.api_keys.key_prefix is 'The key''s first characters, for recognition.';

create view access.active_keys as
select
  api_keys.id,
  api_keys.tier,
  encode(api_keys.key_sha256, 'hex') as key_sha256,
  tiers.database_role,
  tiers.requests_per_hour,
  tiers.requests_per_day,
  tiers.limited_by,
  tiers.statement_timeout
from access.api_keys
join access.tiers on tiers.name = api_keys.tier
left join access.tribal_access_agreements as agreement on agreement.id = api_keys.agreement_id
where api_keys.revoked_at is null
  and (api_keys.expires_at is null or api_keys.expires_at > now())
  and (api_keys.agreement_id is null or (agreement.decision = 'approved' and agreement.revoked_at is null));

comment on view access.active_keys is
  'Keys that open the service now: not revoked, not expired, and of a standing agreement where one is needed.';

-- The gateway's projection reads this view and nothing else.
grant usage on schema access to gateway_sync;
grant select on access.active_keys to gateway_sync;

-- The public demonstration key is known to everyone; its limits are its protection.
insert into access.api_keys (tier, owner_email, label, key_sha256, key_prefix)
values ('demo', 'public@example.gov', 'public demonstration key', sha256('DEMO_KEY'), 'DEMO_KEY');

create function access.issue_key(
  key_tier text,
  key_owner_email text,
  key_label text default '',
  key_expires_at timestamptz default null,
  key_agreement_id uuid default null
) returns table (api_key_id uuid, api_key text)
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  -- 256 random bits: two random UUIDs carry 244, so hash three of them.
  api_key := rtrim(translate(encode(
    sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())),
    'base64'), '+/', '-_'), '=');
  insert into access.api_keys (tier, owner_email, label, key_sha256, key_prefix, expires_at, agreement_id)
  values (
    key_tier, key_owner_email, key_label, sha256(convert_to(api_key, 'UTF8')), left(api_key, 6),
    coalesce(key_expires_at, case when key_tier = 'tribal' then now() + interval '6 months' end),
    key_agreement_id
  )
  returning id into api_key_id;
  return next;
end
$$;
comment on function access.issue_key is
  'Makes a key and returns it, once; only its SHA-256 is kept. A Tribal key lives 6 months unless told otherwise.';

-- One-time access tokens ---------------------------------------------------------------------------------

create table access.access_tokens (
  token_sha256 bytea primary key,
  api_key_id uuid not null references access.api_keys (id),
  report_id text not null,
  requested_at timestamptz not null default now(),
  expires_at timestamptz not null,
  redeemed_at timestamptz,
  constraint access_tokens_token_is_a_sha256 check (octet_length(token_sha256) = 32)
);

comment on table access.access_tokens is
  'One-time tokens for a report''s PDF. A token, like a key, is stored as its SHA-256 only.';

create function access.issue_access_token(
  token_report_id text,
  out access_uuid uuid,
  out expires_at timestamptz
)
language sql volatile security definer set search_path = ''
as $$
  with token as (
    select gen_random_uuid() as access_uuid, now() + interval '1 minute' as expires_at
  ), stored as (
    insert into access.access_tokens (token_sha256, api_key_id, report_id, expires_at)
    select
      sha256(uuid_send(token.access_uuid)),
      current_setting('request.api_key_id')::uuid,
      token_report_id,
      token.expires_at
    from token
  )
  select token.access_uuid, token.expires_at from token
$$;
comment on function access.issue_access_token is
  'Makes a token for one download of a report by the key of this request, valid for 1 minute. The caller has checked that the report exists and that the key may see it.';
grant usage on schema access to api_tribal;
grant execute on function access.issue_access_token to api_tribal;

create function access.redeem_access_token(access_uuid uuid)
returns text
language sql volatile security definer set search_path = ''
as $$
  update access.access_tokens
  set redeemed_at = now()
  where token_sha256 = sha256(uuid_send(access_uuid))
    and redeemed_at is null
    and expires_at > clock_timestamp()
  returning report_id
$$;
comment on function access.redeem_access_token is
  'Spends a token and returns its report ID, or null if it is unknown, spent or expired. The caller commits once the download is certain, and rolls back otherwise: then the token is not spent.';
grant usage on schema access to report_service;
grant execute on function access.redeem_access_token to report_service;

-- Changes reach the gateway ------------------------------------------------------------------------------

create function access.notify_change()
returns trigger
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  notify access_changed;
  return null;
end
$$;
comment on function access.notify_change is 'Tells the gateway''s sync that keys, tiers or agreements have changed.';

create trigger tiers_notify_change
after insert or update or delete or truncate on access.tiers
for each statement execute function access.notify_change();
create trigger tribal_access_agreements_notify_change
after insert or update or delete or truncate on access.tribal_access_agreements
for each statement execute function access.notify_change();
create trigger api_keys_notify_change
after insert or update or delete or truncate on access.api_keys
for each statement execute function access.notify_change();
