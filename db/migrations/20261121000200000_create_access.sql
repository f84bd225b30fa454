-- Keys, tiers, agreements, one-time tokens, and what was done to them: who may see what. Durable state.
-- Lock level: new tables only.

create schema access;
comment on schema access is
  'Who may see what: tiers, Tribal agreements, API keys, one-time access tokens, and the record of every change.';

-- What the tables below share ----------------------------------------------------------------------------

create function access.is_email_address(address text)
returns boolean
language sql immutable security invoker set search_path = ''
return length(address) <= 254
  and address ~* '^[^][:space:][:cntrl:]@"(),:;<>\\.[]+(\.[^][:space:][:cntrl:]@"(),:;<>\\.[]+)*@([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]*[a-z0-9])?$';
comment on function access.is_email_address is
  'Whether a text has the form of an e-mail address with a domain. Quoted local parts and bare host names have not.';

create domain access.email_address as text
constraint email_address_has_the_form check (access.is_email_address(value));

create function access.refuse_removal()
returns trigger
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  raise exception 'access.% keeps its rows: % is refused.', tg_table_name, lower(tg_op);
end
$$;
comment on function access.refuse_removal is 'Keeps a table append-only: statements it is attached to fail.';

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

-- Events -------------------------------------------------------------------------------------------------

create table access.events (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  database_role text not null,
  operator text,
  subject text not null,
  subject_id text not null,
  action text not null,
  before jsonb,
  after jsonb,
  constraint events_action_is_known check (action in ('insert', 'update', 'delete'))
);

-- The history of one key or agreement.
create index events_subject on access.events (subject, subject_id, id);

comment on table access.events is
  'Every change of tiers, agreements and keys, the newest last. Holds no key, no hash and no first characters of a key.';
comment on column access.events.database_role is 'The role that had logged in to the database (session_user).';
comment on column access.events.operator is
  'The person, as the setting access.operator names them; null where it was not set. Declared, not proved.';
comment on column access.events.subject is 'The table: tiers, tribal_access_agreements or api_keys.';
comment on column access.events.subject_id is 'The row''s ID; of a tier, its name.';

create trigger events_refuse_removal
before update or delete or truncate on access.events
for each statement execute function access.refuse_removal();

create function access.record_event()
returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
declare
  -- The public demonstration key is no longer than its first characters, so these stay out as well.
  hidden constant text[] := array['key_sha256', 'key_prefix'];
  before constant jsonb := to_jsonb(old) - hidden;
  after constant jsonb := to_jsonb(new) - hidden;
  row_now constant jsonb := coalesce(after, before);
begin
  insert into access.events (database_role, operator, subject, subject_id, action, before, after)
  values (
    session_user, nullif(current_setting('access.operator', true), ''),
    tg_table_name, coalesce(row_now ->> 'id', row_now ->> 'name'), lower(tg_op), before, after
  );
  return null;
end
$$;
comment on function access.record_event is
  'Writes a change down in access.events. Security definer, so that who may change a key needs no right to write there.';

-- Tiers --------------------------------------------------------------------------------------------------

create table access.tiers (
  name text primary key,
  database_role text not null,
  requests_per_hour integer,
  requests_per_day integer,
  limited_by text not null,
  statement_timeout interval not null,
  constraint tiers_database_role_is_served check (database_role in ('api_public', 'api_tribal')),
  -- The rules for Tribal keys (an agreement, an end) go by the tier's name.
  constraint tiers_only_tribal_sees_suppressed check ((name = 'tribal') = (database_role = 'api_tribal')),
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
comment on column access.tiers.limited_by is
  'What is counted: the client''s address or the key. One tier only may be limited by address: Kong counts an address once for all of them.';
comment on column access.tiers.statement_timeout is 'Longest time one query of this tier may take.';

create trigger tiers_record_event
after insert or update or delete on access.tiers
for each row execute function access.record_event();
create trigger tiers_notify_change
after insert or update or delete or truncate on access.tiers
for each statement execute function access.notify_change();

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
  contact_email access.email_address not null,
  requested_at timestamptz not null default now(),
  decision text,
  decided_at timestamptz,
  decided_by_name text,
  decided_by_agency text,
  decided_by_email access.email_address,
  reason text,
  revoked_at timestamptz,
  constraint tribal_access_agreements_names_are_not_blank check (
    organisation ~ '\S' and decided_by_name ~ '\S' and decided_by_agency ~ '\S'
  ),
  constraint tribal_access_agreements_decision_is_known check (decision in ('approved', 'denied')),
  constraint tribal_access_agreements_decision_is_signed check (
    num_nonnulls(decision, decided_at, decided_by_name, decided_by_agency, decided_by_email) in (0, 5)
  ),
  constraint tribal_access_agreements_denial_has_a_reason check (decision <> 'denied' or coalesce(reason, '') ~ '\S'),
  constraint tribal_access_agreements_reason_is_for_a_decision check (reason is null or decision is not null),
  constraint tribal_access_agreements_only_approved_is_revoked check (
    revoked_at is null or coalesce(decision = 'approved', false)
  ),
  constraint tribal_access_agreements_times_are_in_order check (
    decided_at >= requested_at and revoked_at >= decided_at
  )
);

comment on table access.tribal_access_agreements is
  'Agreements under which an organisation may see suppressed submissions (2 CFR 200.512(b)(2)): requested, then approved or denied, and revoked if it was approved. Nothing else about one may change.';
comment on column access.tribal_access_agreements.decided_by_name is
  'Federal official with Single Audit oversight who decided.';
comment on column access.tribal_access_agreements.decided_by_agency is 'The agency of that official.';
comment on column access.tribal_access_agreements.reason is 'Why it was decided so. A denial must have one.';
comment on column access.tribal_access_agreements.revoked_at is 'Since when its keys are refused.';

create function access.keep_agreement()
returns trigger
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  decision_columns constant text[] := array[
    'decision', 'decided_at', 'decided_by_name', 'decided_by_agency', 'decided_by_email', 'reason'
  ];
begin
  if tg_op = 'INSERT' then
    if num_nonnulls(new.decision, new.revoked_at) > 0 then
      raise exception 'An agreement is requested before it is decided.'
        using hint = 'Insert the request, then approve or deny it.';
    end if;
    return new;
  end if;
  if not (
    new is not distinct from old
    or old.decision is null and new.decision is not null
      and to_jsonb(new) - decision_columns = to_jsonb(old) - decision_columns
    or old.decision is not distinct from 'approved' and old.revoked_at is null and new.revoked_at is not null
      and to_jsonb(new) - 'revoked_at' = to_jsonb(old) - 'revoked_at'
  ) then
    raise exception 'The agreement % is %: this change is refused.', old.id,
      case when old.revoked_at is null then coalesce(old.decision, 'requested') else 'revoked' end
      using hint = 'A requested agreement may be approved or denied, an approved one revoked, and nothing else may change.';
  end if;
  return new;
end
$$;
comment on function access.keep_agreement is
  'Lets an agreement go from requested to approved or denied, and from approved to revoked, and refuses all else.';

create trigger tribal_access_agreements_keep
before insert or update on access.tribal_access_agreements
for each row execute function access.keep_agreement();
create trigger tribal_access_agreements_refuse_removal
before delete or truncate on access.tribal_access_agreements
for each statement execute function access.refuse_removal();
create trigger tribal_access_agreements_record_event
after insert or update on access.tribal_access_agreements
for each row execute function access.record_event();
create trigger tribal_access_agreements_notify_change
after insert or update or delete or truncate on access.tribal_access_agreements
for each statement execute function access.notify_change();

create function access.check_email_address(address text)
returns void
language plpgsql immutable security invoker set search_path = ''
as $$
begin
  if not coalesce(access.is_email_address(address), false) then
    raise exception '"%" is not an e-mail address.', coalesce(address, '');
  end if;
end
$$;
comment on function access.check_email_address is 'Refuses what has not the form of an e-mail address, in plain words.';

create function access.request_agreement(agreement_organisation text, agreement_contact_email text)
returns uuid
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  agreement_id uuid;
begin
  if coalesce(agreement_organisation, '') !~ '\S' then
    raise exception 'The name of the organisation is blank.';
  end if;
  perform access.check_email_address(agreement_contact_email);
  insert into access.tribal_access_agreements (organisation, contact_email)
  values (agreement_organisation, agreement_contact_email)
  returning id into agreement_id;
  return agreement_id;
end
$$;
comment on function access.request_agreement is 'Writes down that an organisation asks for Tribal access. Returns the agreement''s ID.';

create function access.decide_agreement(
  agreement_id uuid,
  agreement_decision text,
  official_name text,
  official_agency text,
  official_email text,
  decision_reason text default null
)
returns void
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  if coalesce(agreement_decision, '') not in ('approved', 'denied') then
    raise exception 'An agreement is decided as approved or denied.';
  elsif coalesce(official_name, '') !~ '\S' or coalesce(official_agency, '') !~ '\S' then
    raise exception 'The name or the agency of the federal official is blank.';
  elsif agreement_decision = 'denied' and coalesce(decision_reason, '') !~ '\S' then
    raise exception 'A denial must have a reason.';
  end if;
  perform access.check_email_address(official_email);
  update access.tribal_access_agreements
  set decision = agreement_decision, decided_at = now(), decided_by_name = official_name,
      decided_by_agency = official_agency, decided_by_email = official_email, reason = decision_reason
  where id = agreement_id;
  if not found then
    raise exception 'There is no agreement %.', agreement_id;
  end if;
end
$$;
comment on function access.decide_agreement is
  'Writes down the decision (approved or denied) of a federal official with Single Audit oversight on a request.';

create function access.revoke_agreement(agreement_id uuid)
returns void
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  update access.tribal_access_agreements
  set revoked_at = now()
  where id = agreement_id;
  if not found then
    raise exception 'There is no agreement %.', agreement_id;
  end if;
end
$$;
comment on function access.revoke_agreement is 'Revokes an approved agreement. Its keys are refused from the next request.';

-- Keys ---------------------------------------------------------------------------------------------------

create table access.api_keys (
  id uuid primary key default gen_random_uuid(),
  tier text not null references access.tiers (name),
  owner_email access.email_address not null,
  label text not null default '',
  key_sha256 bytea not null,
  key_prefix text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_on date,
  agreement_id uuid references access.tribal_access_agreements (id),
  replaces_id uuid references access.api_keys (id),
  constraint api_keys_key_is_unique unique (key_sha256),
  constraint api_keys_key_is_a_sha256 check (octet_length(key_sha256) = 32),
  constraint api_keys_prefix_is_short check (length(key_prefix) between 6 and 8),
  constraint api_keys_tribal_has_an_agreement check ((tier = 'tribal') = (agreement_id is not null)),
  constraint api_keys_tribal_expires check (tier <> 'tribal' or expires_at is not null)
);

-- An agreement's keys are counted when it is shown.
create index api_keys_agreement_id on access.api_keys (agreement_id) where agreement_id is not null;
-- Rotation looks for the key that has replaced this one.
create index api_keys_replaces_id on access.api_keys (replaces_id) where replaces_id is not null;

comment on table access.api_keys is 'API keys. The key itself is stored nowhere.';
comment on column access.api_keys.id is 'What the gateway tells PostgREST: X-Consumer-Custom-ID.';
comment on column access.api_keys.key_sha256 is 'SHA-256 of the key.';
comment on column access.api_keys.key_prefix is 'The key''s first characters, for recognition.';
comment on column access.api_keys.expires_at is
  'When it stops working; null is never. May be brought forward, not put off: a key is renewed by rotation.';
comment on column access.api_keys.last_used_on is
  'The last day (UTC) on which it was given data; the sync of the gateway writes it. Answers without data (304, 4xx) do not count.';
comment on column access.api_keys.replaces_id is 'The key that this one was made from by rotation.';

create function access.keep_key()
returns trigger
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  may_change constant text[] := array['label', 'expires_at', 'revoked_at', 'last_used_on'];
begin
  if tg_op = 'INSERT' then
    -- The lock keeps a revocation of the agreement waiting until this key is there.
    perform from access.tribal_access_agreements as agreement
    where agreement.id = new.agreement_id and agreement.decision = 'approved' and agreement.revoked_at is null
    for share;
    if not found and new.agreement_id is not null then
      raise exception 'The agreement % is not approved, or revoked: no key can be issued under it.', new.agreement_id;
    end if;
  elsif to_jsonb(new) - may_change <> to_jsonb(old) - may_change then
    raise exception 'Only the label, the end and the last use of a key may change.';
  elsif old.revoked_at is not null and to_jsonb(new) - 'last_used_on' <> to_jsonb(old) - 'last_used_on' then
    raise exception 'The key % is revoked: this cannot be undone, and nothing else of it may change.', old.id;
  elsif old.expires_at is not null and coalesce(new.expires_at > old.expires_at, true) then
    raise exception 'The end of a key may be brought forward, not put off.'
      using hint = 'Rotate the key to renew it.';
  end if;
  return new;
end
$$;
comment on function access.keep_key is
  'Refuses a Tribal key without an approved, unrevoked agreement, and every change of a key but its label, an earlier end, its revocation and its last use.';

create trigger api_keys_keep
before insert or update on access.api_keys
for each row execute function access.keep_key();
create trigger api_keys_refuse_removal
before delete or truncate on access.api_keys
for each statement execute function access.refuse_removal();
create trigger api_keys_record_insert
after insert on access.api_keys
for each row execute function access.record_event();
create trigger api_keys_record_update
after update on access.api_keys
for each row
when (to_jsonb(new) - 'last_used_on' <> to_jsonb(old) - 'last_used_on')
execute function access.record_event();
-- Not on updates of last_used_on: the gateway has no use for it.
create trigger api_keys_notify_change
after insert or update of expires_at, revoked_at or delete or truncate on access.api_keys
for each statement execute function access.notify_change();

create view access.active_keys as
select
  api_keys.id,
  api_keys.tier,
  encode(api_keys.key_sha256, 'hex') as key_sha256,
  tiers.database_role,
  tiers.requests_per_hour,
  tiers.requests_per_day,
  tiers.limited_by,
  tiers.statement_timeout,
  api_keys.expires_at
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

create view access.key_overview as
select
  api_keys.id,
  api_keys.key_prefix,
  api_keys.tier,
  api_keys.owner_email,
  api_keys.label,
  case
    when api_keys.revoked_at is not null then 'revoked'
    when api_keys.expires_at <= now() then 'expired'
    when agreement.revoked_at is not null then 'agreement revoked'
    else 'active'
  end as status,
  api_keys.created_at,
  api_keys.expires_at,
  api_keys.revoked_at,
  api_keys.last_used_on,
  api_keys.agreement_id,
  agreement.organisation,
  api_keys.replaces_id
from access.api_keys
left join access.tribal_access_agreements as agreement on agreement.id = api_keys.agreement_id;

comment on view access.key_overview is 'All keys, for people: what each is, whether it works, and never its hash.';
-- No grant: only the owner of this schema manages keys.

create view access.agreement_overview as
select
  agreement.id,
  agreement.organisation,
  agreement.contact_email,
  case
    when agreement.revoked_at is not null then 'revoked'
    else coalesce(agreement.decision, 'requested')
  end as status,
  agreement.requested_at,
  agreement.decided_at,
  agreement.decided_by_name,
  agreement.decided_by_agency,
  agreement.decided_by_email,
  agreement.reason,
  agreement.revoked_at,
  (
    select count(*)
    from access.active_keys
    join access.api_keys on api_keys.id = active_keys.id
    where api_keys.agreement_id = agreement.id
  ) as active_keys
from access.tribal_access_agreements as agreement;

comment on view access.agreement_overview is 'All agreements, for people: who asked, who decided what, and how many keys work under it.';
-- No grant: only the owner of this schema manages agreements.

create function access.resolve_key(reference text)
returns uuid
language plpgsql stable security invoker set search_path = ''
as $$
declare
  ids uuid[];
begin
  if length(reference) >= 6 then
    select array_agg(api_keys.id) into ids
    from access.api_keys
    where api_keys.key_prefix = reference or starts_with(api_keys.id::text, lower(reference));
  end if;
  if ids is null then
    raise exception 'There is no key "%".', reference
      using hint = 'Name a key by its ID, or by the first 6 characters of either the key or its ID.';
  elsif cardinality(ids) > 1 then
    raise exception '"%" could be any of % keys.', reference, cardinality(ids)
      using hint = 'Give the full ID.';
  end if;
  return ids[1];
end
$$;
comment on function access.resolve_key is
  'The ID of the one key that is meant by its ID, by its first characters, or by the first 6 or more characters of its ID.';

create function access.resolve_agreement(reference text)
returns uuid
language plpgsql stable security invoker set search_path = ''
as $$
declare
  ids uuid[];
begin
  if length(reference) >= 6 then
    select array_agg(agreement.id) into ids
    from access.tribal_access_agreements as agreement
    where starts_with(agreement.id::text, lower(reference));
  end if;
  if ids is null then
    raise exception 'There is no agreement "%".', reference
      using hint = 'Name an agreement by its ID, or by the first 6 or more characters of it.';
  elsif cardinality(ids) > 1 then
    raise exception '"%" could be any of % agreements.', reference, cardinality(ids)
      using hint = 'Give the full ID.';
  end if;
  return ids[1];
end
$$;
comment on function access.resolve_agreement is
  'The ID of the one agreement that is meant by its ID or by the first 6 or more characters of it.';

create function access.issue_key(
  key_tier text,
  key_owner_email text,
  key_label text default '',
  key_expires_at timestamptz default null,
  key_agreement_id uuid default null,
  key_replaces_id uuid default null
) returns table (api_key_id uuid, api_key text)
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  perform access.check_email_address(key_owner_email);
  if not exists (select from access.tiers where tiers.name = key_tier) then
    raise exception 'There is no tier "%".', key_tier
      using hint = format('Tiers: %s.', (select string_agg(tiers.name, ', ' order by tiers.name) from access.tiers));
  elsif key_tier = 'tribal' and key_agreement_id is null then
    raise exception 'A Tribal key needs an approved agreement, and none was given.';
  elsif key_tier <> 'tribal' and key_agreement_id is not null then
    raise exception 'Only a Tribal key is issued under an agreement.';
  elsif key_agreement_id is not null and not exists (
    select from access.tribal_access_agreements where tribal_access_agreements.id = key_agreement_id
  ) then
    raise exception 'There is no agreement %.', key_agreement_id;
  elsif key_expires_at <= now() then
    raise exception 'The key would have expired before it was made.';
  end if;
  -- Letters and digits only, so that a key can be passed on and its beginning typed without quotes: 43 of
  -- them are 256 bits. Three random UUIDs carry 366 bits.
  api_key := left(translate(encode(
    sha512(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())),
    'base64'), E'+/=\n', ''), 43);
  insert into access.api_keys
    (tier, owner_email, label, key_sha256, key_prefix, expires_at, agreement_id, replaces_id)
  values (
    key_tier, key_owner_email, key_label, sha256(convert_to(api_key, 'UTF8')), left(api_key, 6),
    coalesce(key_expires_at, case when key_tier = 'tribal' then now() + interval '6 months' end),
    key_agreement_id, key_replaces_id
  )
  returning id into api_key_id;
  return next;
end
$$;
comment on function access.issue_key is
  'Makes a key and returns it, once; only its SHA-256 is kept. A Tribal key lives 6 months unless told otherwise.';

create function access.rotate_key(
  old_key_id uuid,
  overlap interval default '7 days',
  key_expires_at timestamptz default null
) returns table (api_key_id uuid, api_key text)
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  old_key access.api_keys;
  old_status text;
  successor_id uuid;
begin
  select * into old_key from access.api_keys where api_keys.id = old_key_id for no key update;
  if not found then
    raise exception 'There is no key %.', old_key_id;
  end if;
  select key_overview.status into old_status from access.key_overview where key_overview.id = old_key_id;
  if old_status <> 'active' then
    raise exception 'The key % cannot be rotated: it is not active (%).', old_key_id, old_status
      using hint = 'Issue a new key.';
  elsif coalesce(overlap < interval '0', true) then
    raise exception 'The overlap must not be negative.';
  end if;
  select key_overview.id into successor_id
  from access.key_overview
  where key_overview.replaces_id = old_key_id and key_overview.status = 'active';
  if found then
    raise exception 'The key % was rotated already; the key % replaces it.', old_key_id, successor_id
      using hint = 'If the new key was lost, revoke it and rotate the old one again.';
  end if;
  select issued.api_key_id, issued.api_key into api_key_id, api_key
  from access.issue_key(
    old_key.tier, old_key.owner_email, old_key.label,
    -- As long a life as the old key was given; issue_key() knows that of a Tribal key.
    coalesce(key_expires_at, case when old_key.tier <> 'tribal' then now() + (old_key.expires_at - old_key.created_at) end),
    old_key.agreement_id, old_key.id
  ) as issued;
  update access.api_keys
  set expires_at = least(expires_at, now() + overlap)
  where id = old_key_id;
  return next;
end
$$;
comment on function access.rotate_key is
  'Makes a key that replaces an active one, with the same tier, owner, label and agreement. The old key works on for the overlap, or until its own end if that is sooner.';

create function access.revoke_key(key_id uuid)
returns timestamptz
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  since timestamptz;
begin
  update access.api_keys set revoked_at = now() where id = key_id and revoked_at is null;
  select api_keys.revoked_at into since from access.api_keys where api_keys.id = key_id;
  if not found then
    raise exception 'There is no key %.', key_id;
  end if;
  return since;
end
$$;
comment on function access.revoke_key is
  'Revokes a key for good, from the next request. Returns since when it is revoked: of a revoked key, nothing changes.';

create function access.verify_key(sha256_of_key bytea)
returns setof access.key_overview
language sql stable security invoker set search_path = ''
rows 1
as $$
  select key_overview.*
  from access.api_keys
  join access.key_overview on key_overview.id = api_keys.id
  where api_keys.key_sha256 = sha256_of_key
$$;
comment on function access.verify_key is
  'The key with this SHA-256, or no row. It opens the service if its status is active. Takes the hash, so that no log holds the key.';

create function access.record_key_use(used_keys uuid[])
returns integer
language sql volatile security definer set search_path = ''
as $$
  with recorded as (
    update access.api_keys
    set last_used_on = (now() at time zone 'UTC')::date
    where id = any (used_keys) and (last_used_on is null or last_used_on < (now() at time zone 'UTC')::date)
    returning id
  )
  select count(*)::integer from recorded
$$;
comment on function access.record_key_use is
  'Writes down that these keys were used today (UTC). Returns how many of them had not been yet. request.authorize() cannot: reads run in read-only transactions, so it notifies api_key_used with the key''s ID, and who listens calls this.';
grant execute on function access.record_key_use to gateway_sync;

-- The public demonstration key is known to everyone; its limits are its protection.
insert into access.api_keys (tier, owner_email, label, key_sha256, key_prefix)
values ('demo', 'public@example.gov', 'public demonstration key', sha256('DEMO_KEY'), 'DEMO_KEY');

-- Settings -----------------------------------------------------------------------------------------------

create table access.settings (
  is_the_one_row boolean primary key default true,
  token_retention interval not null default '90 days',
  constraint settings_has_one_row check (is_the_one_row),
  constraint settings_token_retention_is_not_negative check (token_retention >= '0')
);
comment on table access.settings is 'Settings of this schema, in one row.';
comment on column access.settings.token_retention is
  'How long a spent or expired token is kept before access.prune_access_tokens() removes it.';
insert into access.settings default values;

-- Downloads ----------------------------------------------------------------------------------------------

create table access.downloads (
  id uuid primary key default uuidv7(),
  api_key_id uuid not null references access.api_keys (id),
  report_id text not null,
  requested_at timestamptz not null default now(),
  redeemed_at timestamptz
);

comment on table access.downloads is
  'Which key asked for which report''s PDF, and when it was redeemed. Kept when the token is pruned.';
comment on column access.downloads.redeemed_at is 'When the token was spent; null if it never was.';

create function access.keep_download()
returns trigger
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  if
    old.redeemed_at is not null or new.redeemed_at is null
    or to_jsonb(new) - 'redeemed_at' <> to_jsonb(old) - 'redeemed_at'
  then
    raise exception 'access.downloads keeps its rows: only redeemed_at may be set, once.';
  end if;
  return new;
end
$$;
comment on function access.keep_download is 'Lets a download be redeemed once, and refuses every other change.';

create trigger downloads_keep
before update on access.downloads
for each row execute function access.keep_download();
create trigger downloads_refuse_removal
before delete or truncate on access.downloads
for each statement execute function access.refuse_removal();

-- One-time access tokens ---------------------------------------------------------------------------------

create table access.access_tokens (
  token_sha256 bytea primary key,
  api_key_id uuid not null references access.api_keys (id),
  report_id text not null,
  requested_at timestamptz not null default now(),
  expires_at timestamptz not null,
  redeemed_at timestamptz,
  download_id uuid not null references access.downloads (id),
  constraint access_tokens_token_is_a_sha256 check (octet_length(token_sha256) = 32)
);

comment on table access.access_tokens is
  'One-time tokens for a report''s PDF. A token, like a key, is stored as its SHA-256 only.';
comment on column access.access_tokens.download_id is 'What outlives the token. A trigger sets it.';

create function access.record_download()
returns trigger
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  if tg_op = 'INSERT' then
    insert into access.downloads (api_key_id, report_id, requested_at, redeemed_at)
    values (new.api_key_id, new.report_id, new.requested_at, new.redeemed_at)
    returning id into new.download_id;
  else
    update access.downloads set redeemed_at = new.redeemed_at where id = new.download_id;
  end if;
  return new;
end
$$;
comment on function access.record_download is
  'Writes a token''s request and redemption down in access.downloads, in the same transaction: no token is without its record.';

create trigger access_tokens_record_request
before insert on access.access_tokens
for each row execute function access.record_download();
create trigger access_tokens_record_redemption
before update on access.access_tokens
for each row
when (new.redeemed_at is distinct from old.redeemed_at)
execute function access.record_download();

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

create function access.prune_access_tokens()
returns bigint
language sql volatile security definer set search_path = ''
as $$
  with pruned as (
    delete from access.access_tokens
    using access.settings
    where coalesce(access_tokens.redeemed_at, access_tokens.expires_at) < now() - settings.token_retention
    returning access_tokens.token_sha256
  )
  select count(*) from pruned
$$;
comment on function access.prune_access_tokens is
  'Removes tokens that were spent or expired longer ago than access.settings says, and returns how many. access.downloads keeps what they were for. For a scheduler, daily.';
grant usage on schema access to publisher;
grant execute on function access.prune_access_tokens to publisher;
