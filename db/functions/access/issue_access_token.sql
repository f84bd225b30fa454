create or replace function access.issue_access_token(
  token_report_id text,
  out access_uuid uuid,
  out expires_at timestamptz
)
language sql volatile security definer set search_path = ''
as $$
  with token as (
    select active_keys.id as api_key_id, gen_random_uuid() as access_uuid, now() + settings.token_lifetime as expires_at
    from access.settings
    join access.active_keys on active_keys.id = current_setting('request.api_key_id')::uuid
    where active_keys.database_role = 'api_tribal'
  ), stored as (
    insert into access.access_tokens (token_sha256, api_key_id, report_id, expires_at)
    select sha256(uuid_send(token.access_uuid)), token.api_key_id, token_report_id, token.expires_at from token
  )
  select token.access_uuid, token.expires_at from token
$$;
comment on function access.issue_access_token is
  'Creates a token that can be redeemed once, within access.settings.token_lifetime, for a report''s PDF. Returns nulls if the request''s key has just been revoked. Callers must first check that the report exists and that the key may see it.';
grant execute on function access.issue_access_token to api_tribal;
