-- The gateway's sync reads the keys that changed, and not all of them.
-- Lock level: access exclusive on access.api_keys, for a moment.

create function access.notify_key_change()
returns trigger
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  ids uuid[];
begin
  if tg_op = 'INSERT' then
    select array_agg(new_keys.id) into ids from new_keys;
  else
    -- Not for updates of last_used_on: the gateway has no use for it.
    select array_agg(new_keys.id) into ids
    from new_keys
    join old_keys on old_keys.id = new_keys.id
    where (new_keys.expires_at, new_keys.revoked_at) is distinct from (old_keys.expires_at, old_keys.revoked_at);
  end if;
  if ids is not null then
    -- A notification holds less than 8,000 bytes (PostgreSQL: notify). Without IDs the sync reads all keys.
    perform pg_notify('access_changed', case when cardinality(ids) <= 100 then array_to_string(ids, ',') else '' end);
  end if;
  return null;
end
$$;
comment on function access.notify_key_change is
  'Tells the gateway''s sync which keys have changed: their IDs by comma, or nothing for more than a hundred.';
revoke execute on function access.notify_key_change from public;

-- pgls-ignore lint/safety/banDropTrigger: the lock is held for a moment, and two others take its place
drop trigger api_keys_notify_change on access.api_keys;
create trigger api_keys_notify_insert
after insert on access.api_keys
referencing new table as new_keys
for each statement execute function access.notify_key_change();
create trigger api_keys_notify_update
after update on access.api_keys
referencing old table as old_keys new table as new_keys
for each statement execute function access.notify_key_change();
