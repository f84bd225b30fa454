-- API keys, stored as hashes: the table, what may change in it, and views of the keys that work and of all keys.
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
  -- Deferrable, so that a backup may contain the rows in any order (ops/before-restore.sql).
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
  'The last day (UTC) on which a request with the key succeeded. 304, errors and reads on replicas do not count. Set by access.record_key_use().';
comment on column access.api_keys.replaces_id is 'The rotated key that this key replaced.';

-- No grant: other roles read the views below, or use functions that run with their owner's rights.

create function access.restrict_key_changes()
returns trigger
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  may_change constant text[] := array['label', 'expires_at', 'revoked_at', 'last_used_on'];
begin
  if tg_op = 'INSERT' then
    -- The lock makes a revocation of the agreement wait until this key is committed.
    perform from access.tribal_access_agreements as agreement
    where agreement.id = new.agreement_id and agreement.decision = 'approved' and agreement.revoked_at is null
    for share;
    if not found and new.agreement_id is not null then
      raise exception 'No key can be issued under the agreement %, because it is not approved or was revoked.', new.agreement_id;
    end if;
  elsif to_jsonb(new) - may_change <> to_jsonb(old) - may_change then
    raise exception 'Only a key''s label, expiry date, revocation and last-used date may change. Issue a new key instead.';
  elsif old.revoked_at is not null and to_jsonb(new) - 'last_used_on' <> to_jsonb(old) - 'last_used_on' then
    raise exception 'The key % is revoked. This cannot be undone, and the key can no longer change. Issue a new key instead.', old.id;
  elsif old.expires_at is not null and coalesce(new.expires_at > old.expires_at, true) then
    raise exception 'A key''s expiry date may be moved earlier, but not later.'
      using hint = 'To renew the key, rotate it.';
  end if;
  return new;
end
$$;
comment on function access.restrict_key_changes is
  'Trigger that refuses a Tribal key without an approved agreement. Once a key exists, only its label, expiry date (to an earlier one), revocation and last-used date can change.';

create trigger api_keys_keep
before insert or update on access.api_keys
for each row execute function access.restrict_key_changes();
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

create view access.active_keys as
select
  api_keys.id,
  api_keys.tier,
  api_keys.key_sha256,
  api_keys.last_used_on,
  tiers.database_role,
  tiers.statement_timeout,
  tiers.requests_at_a_time,
  tiers.limited_by
from access.api_keys
join access.tiers on tiers.name = api_keys.tier
left join access.tribal_access_agreements as agreement on agreement.id = api_keys.agreement_id
where api_keys.revoked_at is null
  and (api_keys.expires_at is null or api_keys.expires_at > now())
  and (api_keys.agreement_id is null or (agreement.decision = 'approved' and agreement.revoked_at is null));

comment on view access.active_keys is
  'Keys that work now: not revoked, not expired and, for Tribal keys, under an approved agreement that was not revoked.';
-- No grant: request.keys reads it with its owner's rights.

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
  agreement.organization,
  api_keys.replaces_id
from access.api_keys
left join access.tribal_access_agreements as agreement on agreement.id = api_keys.agreement_id;

comment on view access.key_overview is 'All keys and their status, for people to read. No hashes.';
grant select on access.key_overview to key_operator;

-- Everyone knows the public demonstration key. Only its limits prevent abuse.
insert into access.api_keys (tier, owner_email, label, key_sha256, key_prefix)
values ('demo', 'public@example.gov', 'public demonstration key', sha256('DEMO_KEY'), 'DEMO_KEY');
