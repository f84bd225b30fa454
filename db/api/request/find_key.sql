-- What a key is worth now. A revoked or expired key is refused here at once, before the gateway hears of it.
create function request.find_key(api_key_id text)
returns table (
  id uuid,
  tier text,
  database_role text,
  statement_timeout_milliseconds bigint,
  is_use_recorded boolean,
  api_schemas_sha256 text,
  is_open boolean
)
language sql stable security definer set search_path = ''
rows 1
as $$
  select
    active_keys.id,
    active_keys.tier,
    active_keys.database_role,
    (extract(epoch from active_keys.statement_timeout) * 1000)::bigint,
    coalesce(api_keys.last_used_on >= (now() at time zone 'UTC')::date, false),
    (
      select api_schemas.sha256
      from deployment.api_schemas
      order by api_schemas.id desc
      limit 1
    ),
    (select settings.is_open from publication.settings)
  from access.active_keys
  join access.api_keys on api_keys.id = active_keys.id
  where active_keys.id = case when pg_input_is_valid(api_key_id, 'uuid') then api_key_id::uuid end
$$;
comment on function request.find_key is 'The active key with this ID, or no row. is_use_recorded: whether today (UTC) is written down as its last use. is_open: whether requests are answered at all.';
grant execute on function request.find_key to gateway;
