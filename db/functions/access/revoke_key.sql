create or replace function access.revoke_key(key_id uuid)
returns timestamptz
language plpgsql volatile security definer set search_path = ''
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
  'Revokes a key permanently. Later requests with the key or its tokens are refused. Returns when the key was first revoked.';
grant execute on function access.revoke_key to key_operator;
