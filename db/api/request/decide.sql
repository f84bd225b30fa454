-- Decides what the key of this request may see. request.authorize() calls it, as gateway, before the query.
--
-- X-Consumer-Custom-ID is the one identity believed: Kong overwrites it on every authenticated route.
create function request.decide()
returns void
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  headers constant json := current_setting('request.headers')::json;
  is_read constant boolean := current_setting('request.method') in ('GET', 'HEAD');
  profile constant text := headers ->> case when is_read then 'accept-profile' else 'content-profile' end;
  report_id_filter constant text := headers ->> 'x-filter-report-id';
  key record;
  data_set record;
  answer_headers jsonb;
  etag text;
begin
  perform request.note_request_id(headers ->> 'x-request-id');

  select * into key from request.find_key(headers ->> 'x-consumer-custom-id');
  if not found then
    perform request.refuse(
      401, 'key_not_valid', 'The API key is not valid.', 'It is unknown, revoked or expired.',
      'Send a valid key in the header x-api-key.', '{"WWW-Authenticate": "Key"}'
    );
  end if;

  if not key.is_open then
    perform request.refuse(
      503, 'service_switched_off', 'This service is switched off.', 'Previews answer only while someone uses them.',
      'Its operator can switch it on: npm run refresh -- --requests on.'
    );
  end if;

  -- A version that was removed a moment ago, before PostgREST has read its configuration again.
  if profile <> '' and to_regnamespace(profile) is null then
    perform request.refuse(406, 'PGRST106', format('The schema %s is not served any more.', profile));
  end if;

  -- Who may use a schema is written in its grants.
  if profile <> '' and not has_schema_privilege(key.database_role, profile, 'usage') then
    perform request.refuse(
      401, 'tribal_key_required', 'This needs an API key with Tribal access.', null,
      'Tribal keys are issued under an agreement that a federal official approved.',
      '{"WWW-Authenticate": "Key"}'
    );
  end if;

  -- Reads run in read-only transactions, so the gateway's sync is told and writes the day down. A request that
  -- is refused below tells nothing, because it is rolled back. A replica cannot notify.
  if not key.is_use_recorded and not pg_is_in_recovery() then
    perform pg_notify('api_key_used', key.id::text);
  end if;

  answer_headers := request.find_retirement(profile);
  perform set_config('request.api_key_id', key.id::text, true);
  perform set_config('statement_timeout', key.statement_timeout_milliseconds::text, true);
  perform set_config('role', key.database_role, true);

  -- The description of the API at / comes from what PostgREST remembers of the schemas, which may be a moment old:
  -- it has no ETag.
  if is_read and current_setting('request.path') <> '/' then
    select * into data_set from dissemination.data_set;
    -- The same data set, API schemas and tier give the same answer to the same request.
    etag := format('"%s"', md5(concat_ws(' ', data_set.id, key.api_schemas_sha256, key.tier)));
    if not request.matches_etag(headers ->> 'if-match', etag, true) then
      perform request.refuse(
        412, 'data_set_changed', 'The data set or the API has changed since this ETag was given.',
        format('The ETag is now %s.', etag), 'Start again from the first page.', jsonb_build_object('ETag', etag)
      );
    end if;
    if request.matches_etag(headers ->> 'if-none-match', etag, false) then
      perform request.refuse(
        304, 'not_modified', 'Not modified.', null, null, jsonb_build_object('ETag', etag)
      );
    end if;
    answer_headers := answer_headers
      || jsonb_build_object('ETag', etag)
      || jsonb_build_object('Data-Set', format(
        '"%s"; published="%s"',
        data_set.id, to_char(data_set.published_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
      ));
  end if;
  if is_read then
    answer_headers := answer_headers
      || jsonb_build_object('Cache-Control', 'private, no-cache')
      || jsonb_build_object('Vary', 'Accept, Accept-Profile, Prefer, Range, X-Api-Key');
  end if;
  perform set_config('response.headers', answer_headers::text, true);

  -- The gateway copies the query parameter report_id into this header, and drops what the client sent in it.
  if
    current_setting('request.path') = '/general'
    and report_id_filter like 'eq.%'
    and not exists (
      select from dissemination.general where general.report_id = substr(report_id_filter, 4)
    )
  then
    perform request.refuse(
      404, 'report_not_found', 'There is no report with this report_id.', null,
      'A report_id looks like 2023-06-GSAFAC-0000000001.'
    );
  end if;
end
$$;
comment on function request.decide is
  'Finds the key, switches to its role and limits, answers 401, 404, 304 and 412, and sets the headers of the answer.';
grant execute on function request.decide to gateway;
