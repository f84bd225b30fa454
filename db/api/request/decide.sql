-- Decides what this request's key may see. request.authorize() calls it as gateway, before the query.
--
-- X-Api-Key-Sha256, X-Filter-Report-Id, X-Row-Order, X-Order-Rules and X-Client-Network are trusted, because the gateway sets or
-- removes them in every request.
--
-- Every request pays for each statement, function call and expression here, so there are few (bench/RESULTS.md). set_config() in
-- an assignment costs half of what it costs in a statement. Every lookup uses a unique index, so a generic plan is always
-- the best one. enable_seqscan is off because a plan that was made for three keys would scan all of 100,000.
create function request.decide()
returns void
language plpgsql volatile security invoker
set search_path = '' set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  headers constant jsonb := current_setting('request.headers');
  path constant text := current_setting('request.path');
  is_read constant boolean := current_setting('request.method') in ('GET', 'HEAD');
  profile constant text := headers ->> case when is_read then 'accept-profile' else 'content-profile' end;
  request_id constant text := headers ->> 'x-request-id';
  sent_hash constant text := headers ->> 'x-api-key-sha256';
  key record;
  counted text;
  place integer := 1;
  answer record;
  retirement jsonb;
  answer_headers text;
  done text;
begin
  -- PostgreSQL's log lines and pg_stat_activity show the request's ID. Clients may send their own, so an
  -- ID must fit into the 63 bytes of application_name and must not have the 40 letters and digits in a row that each key has
  -- (access.issue_key).
  if
    length(request_id) between 1 and 63
    and request_id !~ '[^a-zA-Z0-9_.:-]'
    and (length(request_id) < 40 or request_id !~ '[a-zA-Z0-9]{40}')
  then
    done := set_config('application_name', request_id, true) || set_config('request.id', request_id, true);
  end if;

  select * into key from request.keys
  where keys.key_sha256 = case when length(sent_hash) = 64 and sent_hash !~ '[^0-9a-f]' then decode(sent_hash, 'hex') end;
  if not found then
    perform request.refuse(
      401, 'API_KEY_INVALID',
      'The API key is not valid. Send a valid key in the header x-api-key. The API''s website says how to get one.',
      'The key is unknown, revoked or expired.', 'Use DEMO_KEY to try the API.',
      '{"WWW-Authenticate": "Key"}'
    );
  end if;

  if not key.is_switched_on then
    perform request.refuse(
      503, 'service_switched_off', 'This service is switched off.', 'The operator switched it off or, if this is a preview environment, has not switched it on yet.',
      'Ask the operator to switch it on (npm run refresh -- --requests on).'
    );
  end if;

  if profile <> '' then
    -- The version was removed and PostgREST has not yet reloaded its configuration.
    if to_regnamespace(profile) is null then
      perform request.refuse(406, 'PGRST106', format('The API version %s is no longer served.', profile), null,
        'Set Accept-Profile to another version, or leave it out to use the default. The page /reference of the API''s website lists the versions.');
    end if;
  end if;
  -- The grants on schemas and functions say which roles may use them. PostgREST alone would answer 403.
  if
    profile <> '' and not has_schema_privilege(key.database_role, profile, 'usage')
    or path like '/rpc/%' and not request.may_call(key.database_role, profile, substr(path, 6))
  then
    perform request.refuse(
      401, 'tribal_key_required', 'This request needs an API key with Tribal access.', null,
      'Tribal keys are issued under an agreement that a federal official has approved. The API''s website says how to get a key.',
      '{"WWW-Authenticate": "Key"}'
    );
  end if;

  if key.has_retired_versions then
    retirement := request.find_retirement(profile);
  end if;
  done := set_config('request.api_key_id', key.id::text, true)
    || set_config('statement_timeout', key.statement_timeout, true)
    || set_config('role', key.database_role, true);
  -- Pages must neither overlap nor skip rows. Sequential and bitmap scans return filtered rows in the order of the file. An index
  -- scan, which PostgreSQL prefers for the first pages, does not.
  if headers ->> 'x-row-order' = 'file' then
    done := set_config('enable_indexscan', 'off', true);
  -- The rows are sorted by their key, at most one, or not sent.
  elsif headers ? 'x-row-order' then
    done := set_config('enable_indexonlyscan', 'on', true);
  end if;

  -- The description of the API at / needs no data set. It has no ETag, because PostgREST writes it from its schema cache,
  -- which may be outdated.
  if path <> '/' then
    -- The same data set, API schemas, tier and rules of the gateway give the same response to the same request.
    select
      '"' || md5(concat_ws(' ', data_set.id, key.api_schemas_sha256, key.tier, headers ->> 'x-order-rules')) || '"' as etag,
      data_set.id as data_set_id,
      to_char(data_set.published_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as published_at
    into answer from dissemination.data_set;
    -- Clients would take an empty response to mean that their reports were removed.
    if answer.published_at is null then
      perform request.refuse(
        503, 'no_data_set', 'No data set has been published yet.', 'The operator is setting up or restoring the service.',
        'Wait the number of seconds in Retry-After, then send the request again.'
      );
    end if;
  end if;
  if is_read and path <> '/' then
    if headers ? 'if-match' and not request.matches_etag(headers ->> 'if-match', answer.etag, true) then
      perform request.refuse(
        412, 'data_set_changed', 'The data set, the API or your key''s tier has changed since you received this ETag.',
        format('The current ETag is %s.', answer.etag), 'Start again from the first page, without If-Match.',
        jsonb_build_object('ETag', answer.etag)
      );
    end if;
    -- Most clients send this tag alone, and request.matches_etag() costs more than all the rest.
    if
      headers ->> 'if-none-match' = answer.etag
      or headers ? 'if-none-match' and request.matches_etag(headers ->> 'if-none-match', answer.etag, false)
    then
      raise sqlstate 'PGRST' using
        message = '{"code": "not_modified", "message": "Not modified.", "details": null, "hint": null}',
        detail = format('{"status": 304, "headers": {"ETag": %s}}', to_json(answer.etag));
    end if;
    answer_headers := format(
      '[{"ETag":%s},{"Data-Set":"\"%s\"; published=\"%s\""},', to_json(answer.etag), answer.data_set_id, answer.published_at
    );
  end if;
  answer_headers := case
    when is_read then coalesce(answer_headers, '[')
      || '{"Cache-Control":"private, no-cache"},{"Vary":"Accept, Accept-Profile, Prefer, Range, X-Api-Key"}]'
    else '[]'
  end;
  if retirement is not null then
    answer_headers := retirement || answer_headers::jsonb;
  end if;
  done := set_config('response.headers', answer_headers, true);

  -- The gateway sets this header from the query parameter report_id, and removes the client's.
  if
    path = '/general'
    and headers ->> 'x-filter-report-id' like 'eq.%'
    and not exists (
      select from dissemination.general where general.report_id = substr(headers ->> 'x-filter-report-id', 4)
    )
  then
    perform request.refuse(
      404, 'report_not_found', 'The table general has no report with this report_id.', null,
      'Check the report ID (YYYY-MM-GSAFAC- or YYYY-MM-CENSUS-, then ten digits). Superseded reports are only in the table resubmission.'
    );
  end if;

  -- Transaction locks count exactly, across all gateways and PostgREST processes; each database server counts for itself.
  -- This comes last, so that a request that waits for a publication above does not hold a place.
  counted := case key.limited_by when 'address' then concat_ws(' ', key.id, headers ->> 'x-client-network') else key.id::text end;
  while not pg_try_advisory_xact_lock(hashtext(counted), place) loop
    place := place + 1;
    if place > key.requests_at_a_time then
      perform request.refuse(
        429, 'too_many_requests_at_a_time', format('Too many requests at a time. The limit is %s.', key.requests_at_a_time),
        format('The limit applies to each %s.', replace(key.limited_by, 'address', 'client IP')), 'Wait for a response before you send the next request.',
        '{"Retry-After": "1"}'
      );
    end if;
  end loop;
end
$$;
comment on function request.decide is
  'Finds the key, applies its role and limits, and sets the response headers; or refuses the request, or answers 304.';
grant execute on function request.decide to gateway;
