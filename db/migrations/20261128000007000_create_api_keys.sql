-- API keys, stored as hashes, with views of their status, of keys that work, of all keys, and of agreements with their keys.
-- Lock level: new tables only.

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
  -- Deferrable, so that a backup may contain the rows in any order (deploy/before-restore.sql).
  replaces_id uuid references access.api_keys (id) deferrable,
  constraint api_keys_key_is_unique unique (key_sha256),
  constraint api_keys_key_is_a_sha256 check (octet_length(key_sha256) = 32),
  constraint api_keys_prefix_is_short check (length(key_prefix) between 6 and 8),
  constraint api_keys_tribal_has_an_agreement check ((tier = 'tribal') = (agreement_id is not null)),
  constraint api_keys_tribal_expires check (tier <> 'tribal' or expires_at is not null)
);

-- access.agreement_overview counts an agreement's keys.
create index api_keys_agreement_id on access.api_keys (agreement_id) where agreement_id is not null;
-- access.rotate_key() looks for the key that replaces this one.
create index api_keys_replaces_id on access.api_keys (replaces_id) where replaces_id is not null;

comment on table access.api_keys is 'API keys, stored only as hashes.';
comment on column access.api_keys.key_sha256 is 'SHA-256 of the key. request.decide() looks the key up by this hash.';
comment on column access.api_keys.key_prefix is
  'The key''s first characters, without the tier name that some keys start with. Operators identify the key by this prefix.';
comment on column access.api_keys.expires_at is
  'When the key stops working; null means never. You can move it earlier, but not later. To renew a key, rotate it.';
comment on column access.api_keys.last_used_on is
  'The last day (UTC) on which PostgREST answered a request with the key, whatever the answer, except 5xx. Set by access.record_key_use().';
comment on column access.api_keys.replaces_id is 'The rotated key that this key replaced.';

-- No grant: other roles read the views below, or use functions that run with their owner's rights.

-- This view alone decides whether a key works, for requests, calls, redemptions and operators.
create view access.key_status as
select
  api_keys.id,
  api_keys.tier,
  api_keys.owner_email,
  api_keys.label,
  api_keys.key_sha256,
  api_keys.key_prefix,
  case
    when api_keys.revoked_at is not null then 'revoked'
    when api_keys.expires_at <= now() then 'expired'
    when agreement.status <> 'approved' then 'agreement ' || agreement.status
    else 'active'
  end as status,
  api_keys.created_at,
  api_keys.expires_at,
  api_keys.revoked_at,
  api_keys.last_used_on,
  api_keys.agreement_id,
  api_keys.replaces_id
from access.api_keys
left join access.agreement_status as agreement on agreement.id = api_keys.agreement_id;

comment on view access.key_status is
  'All keys and their status. A key works only while it is active: not revoked, not expired and, if Tribal, under an approved agreement that has neither ended nor been revoked.';
-- No grant: it has the hashes.

create view access.active_keys as
select
  key_status.id,
  key_status.tier,
  key_status.key_sha256,
  key_status.last_used_on,
  tiers.database_role,
  tiers.statement_timeout,
  tiers.requests_at_a_time,
  tiers.limited_by
from access.key_status
join access.tiers on tiers.name = key_status.tier
where key_status.status = 'active';

comment on view access.active_keys is 'Keys that work now, and what their tier permits.';
-- No grant: request.keys and access.valid_tokens read it with their owner's rights.

create view access.key_overview as
select
  key_status.id,
  key_status.key_prefix,
  key_status.tier,
  key_status.owner_email,
  key_status.label,
  key_status.status,
  key_status.created_at,
  key_status.expires_at,
  key_status.revoked_at,
  key_status.last_used_on,
  key_status.agreement_id,
  agreement.organization,
  key_status.replaces_id
from access.key_status
left join access.tribal_access_agreements as agreement on agreement.id = key_status.agreement_id;

comment on view access.key_overview is 'All keys and their status, for people to read. No hashes.';
grant select on access.key_overview to key_operator;

create view access.agreement_overview as
select
  agreement.id,
  agreement.organization,
  agreement.contact_email,
  agreement_status.status,
  agreement.requested_at,
  agreement.decided_at,
  agreement.decided_by_name,
  agreement.decided_by_agency,
  agreement.decided_by_email,
  agreement.reason,
  agreement.ends_on,
  agreement.revoked_at,
  (
    select count(*)
    from access.key_status
    where key_status.agreement_id = agreement.id and key_status.status = 'active'
  ) as active_keys
from access.tribal_access_agreements as agreement
join access.agreement_status on agreement_status.id = agreement.id;

comment on view access.agreement_overview is 'All agreements in readable form: who requested each, who decided and how, and how many of its keys are active.';
grant select on access.agreement_overview to key_operator;

-- Everyone knows the public demonstration key. Only its limits prevent abuse.
insert into access.api_keys (tier, owner_email, label, key_sha256, key_prefix)
values ('demo', 'public@example.gov', 'public demonstration key', sha256('DEMO_KEY'), 'DEMO_KEY');
