-- Decides what this request's key may see. request.authorize() calls it as gateway, before the query.
--
-- X-Api-Key-Sha256, X-Filter-Report-Id, X-Row-Order, X-Order-Rules, X-If-Match, X-Cacheable and X-Client-Network are trusted,
-- because the gateway sets or removes them in every request.
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
  key record;
  counted text;
  place integer := 1;
  answer record;
  retirement jsonb;
  answer_headers text := '[]';
  done text;
begin
  -- Step 1: PostgreSQL's log lines and pg_stat_activity show the request's ID. The gateway only sends IDs that fit into the
  -- 63 bytes of application_name and contain no key.
  done := set_config('application_name', headers ->> 'x-request-id', true)
    || set_config('request.id', headers ->> 'x-request-id', true);

  -- Step 2: whose key this is, and whether it may send this request.
  select * into key from request.keys where keys.key_sha256 = decode(headers ->> 'x-api-key-sha256', 'hex');
  if not found then
    -- A new database may get its keys from a backup, like its data. Only readers see whether there is a data set.
    if not exists (select from request.keys where keys.tier <> 'demo') then
      done := set_config('role', 'api_public', true);
      if not exists (select from dissemination.data_set where data_set.published_at is not null) then
        perform request.refuse_for('no data set');
      end if;
    end if;
    perform request.refuse_for('unknown key');
  end if;
  if not key.is_switched_on then
    perform request.refuse_for('switched off');
  end if;
  -- The version was removed and PostgREST has not yet reloaded its configuration.
  if profile <> '' and to_regnamespace(profile) is null then
    perform request.refuse_for('removed version', profile);
  end if;
  -- The grants on schemas and functions say which roles may use them. PostgREST alone would answer 403.
  if
    profile <> '' and not has_schema_privilege(key.database_role, profile, 'usage')
    or path like '/rpc/%' and not request.may_call(key.database_role, profile, substr(path, 6))
  then
    perform request.refuse_for('no Tribal access');
  end if;

  -- Step 3: the rights and limits with which the query runs.
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
  -- The gateway says that the rows are sorted by their key, at most one, or not sent.
  elsif headers ? 'x-row-order' then
    done := set_config('enable_indexonlyscan', 'on', true);
  end if;

  -- Step 4: the data set, and whether the client has it already. The description of the API at / needs no data set. It has
  -- no ETag, because PostgREST writes it from its schema cache, which may be outdated.
  if path <> '/' then
    -- The same publication, API schemas, tier and rules of the gateway give the same response to the same request.
    select
      '"' || md5(concat_ws(
        ' ', data_set.id, extract(epoch from data_set.published_at), key.api_schemas_sha256, key.tier, headers ->> 'x-order-rules', retirement
      )) || '"' as etag,
      data_set.id as data_set_id,
      to_char(data_set.published_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as published_at
    into answer from dissemination.data_set;
    -- Clients would take an empty response to mean that their reports were removed.
    if answer.published_at is null then
      perform request.refuse_for('no data set');
    end if;
  end if;
  if is_read and path <> '/' then
    if headers ? 'x-if-match' and not request.matches_etag(headers ->> 'x-if-match', answer.etag, true) then
      perform request.refuse_for('changed data set', answer.etag);
    end if;
    -- Most clients send this tag alone, and request.matches_etag() costs more than all the rest.
    if
      headers ->> 'if-none-match' = answer.etag
      or headers ? 'if-none-match' and request.matches_etag(headers ->> 'if-none-match', answer.etag, false)
    then
      -- Raised here, because calling a function would take 10 µs more.
      raise sqlstate 'PGRST' using
        message = '{"code": "not_modified", "message": "Not modified.", "details": null, "hint": null}',
        detail = format('{"status": 304, "headers": {"ETag": %s}}', to_json(answer.etag));
    end if;
    answer_headers := format(
      '[{"ETag":%s},{"Data-Set":"\"%s\"; published=\"%s\""}]', to_json(answer.etag), answer.data_set_id, answer.published_at
    );
  end if;

  -- Step 5: the headers of the response. The gateway says what caches may do with it.
  if retirement is not null then
    answer_headers := retirement || answer_headers::jsonb;
  end if;
  -- Lets the gateway keep this response. The time is in the past, so that it asks each time whether the response is current.
  if headers ? 'x-cacheable' and key.database_role = 'api_public' then
    answer_headers := answer_headers::jsonb || '{"X-Accel-Expires": "@1"}';
  end if;
  done := set_config('response.headers', answer_headers, true);

  -- Step 6: whether the report exists.
  -- The gateway sets this header from the query parameter report_id, and removes the client's.
  if
    path = '/general'
    and headers ->> 'x-filter-report-id' like 'eq.%'
    and not exists (
      select from dissemination.general where general.report_id = substr(headers ->> 'x-filter-report-id', 4)
    )
  then
    perform request.refuse_for('unknown report');
  end if;

  -- Step 7: a place among the key's queries. A gateway lets fewer pass (places.lua), but does not know of other gateways, nor of
  -- queries that go on after their client has disconnected. Transaction locks count all of them; each database server counts for
  -- itself. This comes last, so that a request that waits for a publication above does not hold a place.
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
