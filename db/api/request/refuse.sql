-- Ends the request with an HTTP status and PostgREST's error body (PostgREST: RAISE with SQLSTATE 'PGRST'). Proxy-Status
-- repeats the code (RFC 9209), because a response to HEAD has no body. PostgREST 13 and later add the same header.
--
-- After each 503 of its own, PostgREST connects again and loads its schema cache. So it sends 504 instead, which the gateway changes to 503.
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
      'status', case status when 503 then 504 else status end,
      'headers', jsonb_build_object('Proxy-Status', 'PostgREST; error=' || code) || headers
    )::text;
end
$$;
comment on function request.refuse is
  'Ends the request with this HTTP status, these headers and the body {code, message, details, hint}. PostgREST sends 504 for 503; the gateway sends 503.';
grant execute on function request.refuse to gateway, api_public, api_tribal;
grant usage on schema request to api_public, api_tribal;

-- Ends a request with one of the refusals of request.decide(). `value` is a profile or an ETag that the refusal names.
create function request.refuse_for(reason text, value text default null)
returns void
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  case reason
    when 'unknown key' then
      perform request.refuse(
        401, 'API_KEY_INVALID',
        'The API key is not valid. Send a valid key in the header x-api-key. The API''s website says how to get one.',
        'The key is unknown, revoked or expired.', 'Use DEMO_KEY to try the API.',
        '{"WWW-Authenticate": "Key"}'
      );
    when 'switched off' then
      perform request.refuse(
        503, 'service_switched_off', 'This service is switched off.',
        'The operator switched it off or, if this is a preview environment, has not switched it on yet.',
        'Ask the operator to switch it on (npm run refresh -- --requests on).'
      );
    when 'removed version' then
      perform request.refuse(
        406, 'PGRST106', format('The API version %s is no longer served.', value), null,
        'Set Accept-Profile to another version, or leave it out to use the default. The page /reference of the API''s website lists the versions.'
      );
    when 'no Tribal access' then
      perform request.refuse(
        401, 'tribal_key_required', 'This request needs an API key with Tribal access.', null,
        'Tribal keys are issued under an agreement that a federal official has approved. The API''s website says how to get a key.',
        '{"WWW-Authenticate": "Key"}'
      );
    when 'no data set' then
      perform request.refuse(
        503, 'no_data_set', 'No data set has been published yet.', 'The operator is setting up or restoring the service.',
        'Wait the number of seconds in Retry-After, then send the request again.'
      );
    when 'changed data set' then
      perform request.refuse(
        412, 'data_set_changed', 'The data set, the API or your key''s tier has changed since you received this ETag.',
        format('The current ETag is %s.', value), 'Start again from the first page, without If-Match.',
        jsonb_build_object('ETag', value)
      );
    when 'unknown report' then
      perform request.refuse(
        404, 'report_not_found', 'The table general has no report with this report_id.', null,
        'Check the report ID (YYYY-MM-GSAFAC- or YYYY-MM-CENSUS-, then ten digits). Superseded reports are only in the table resubmission.'
      );
  end case;
end
$$;
comment on function request.refuse_for is
  'Ends a request for the reason that request.decide() found.';
grant execute on function request.refuse_for to gateway, api_public, api_tribal;
