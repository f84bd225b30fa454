create or replace function access.find_request_of_token(access_uuid uuid)
returns text
language sql stable security definer set search_path = ''
as $$
  select downloads.request_id
  from access.access_tokens
  join access.downloads on downloads.id = access_tokens.download_id
  where access_tokens.token_sha256 = sha256(uuid_send(access_uuid))
$$;
comment on function access.find_request_of_token is
  'Returns the X-Request-Id of the request that created a token, for the report service''s log; null if either is unknown.';
grant execute on function access.find_request_of_token to report_service;
