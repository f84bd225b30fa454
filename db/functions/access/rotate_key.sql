create or replace function access.rotate_key(
  old_key_id uuid,
  overlap interval default '7 days',
  key_expires_at timestamptz default null
) returns table (api_key_id uuid, api_key text)
language plpgsql volatile security definer set search_path = ''
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
    raise exception 'The key % cannot be rotated, because it is not active (%).', old_key_id, old_status
      using hint = 'Issue a new key.';
  elsif coalesce(overlap < interval '0', true) then
    raise exception 'The overlap cannot be negative.';
  end if;
  select key_overview.id into successor_id
  from access.key_overview
  where key_overview.replaces_id = old_key_id and key_overview.status = 'active';
  if found then
    raise exception 'The key % was already rotated. The key % replaces it.', old_key_id, successor_id
      using hint = 'If the new key was lost, revoke it and rotate the old one again.';
  end if;
  select issued.api_key_id, issued.api_key into api_key_id, api_key
  from access.issue_key(
    old_key.tier, old_key.owner_email, old_key.label,
    -- The new key is valid for as long as the old one was, or, if Tribal, until access.latest_expiry().
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
  'Creates a key that replaces an active one, with the same tier, owner, label and agreement. The old key keeps working during the overlap, or until it expires if that is sooner.';
grant execute on function access.rotate_key to key_operator;
