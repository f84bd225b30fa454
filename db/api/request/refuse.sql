-- Ends the request with an HTTP status and PostgREST's error body (PostgREST: RAISE with SQLSTATE 'PGRST'). Proxy-Status
-- repeats the code (RFC 9209), because a response to HEAD has no body. PostgREST 13 and later add the same header.
create function request.refuse(
  status integer,
  code text,
  message text,
  details text default null,
  hint text default null,
  headers jsonb default '{}'
)
returns void
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  raise sqlstate 'PGRST' using
    message = jsonb_build_object('code', code, 'message', message, 'details', details, 'hint', hint)::text,
    detail = jsonb_build_object(
      'status', status, 'headers', jsonb_build_object('Proxy-Status', 'PostgREST; error=' || code) || headers
    )::text;
end
$$;
comment on function request.refuse is
  'Ends the request with this HTTP status, these headers and the body {code, message, details, hint}.';
grant execute on function request.refuse to gateway, api_public, api_tribal;
grant usage on schema request to api_public, api_tribal;
