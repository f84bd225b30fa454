create or replace function access.verify_key(sha256_of_key bytea)
returns setof access.key_overview
language sql stable security definer set search_path = ''
rows 1
as $$
  select key_overview.*
  from access.api_keys
  join access.key_overview on key_overview.id = api_keys.id
  where api_keys.key_sha256 = sha256_of_key
$$;
comment on function access.verify_key is
  'Returns the overview of the key with this SHA-256, or no row. The key works if its status is active. The parameter is the hash, so that no log contains the key.';
grant execute on function access.verify_key to key_operator;
