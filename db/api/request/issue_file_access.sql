-- Step 2 of downloading a suppressed report's PDF: request_file_access() of each version calls this with its caller's rights.
create function request.issue_file_access(report_id text, out access_uuid uuid, out expires_at timestamptz)
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  if issue_file_access.report_id is null then
    perform request.refuse(
      400, 'report_id_missing', 'The field report_id is null.', null,
      'Send a JSON object such as {"report_id": "2023-06-GSAFAC-0000000001"}.'
    );
  end if;
  -- Row-level security decides, because the caller reads dissemination.general with its own rights.
  if not exists (
    select from dissemination.general where general.report_id = issue_file_access.report_id
  ) then
    perform request.refuse(
      404, 'report_not_found', 'The table general has no report with this report_id.', null,
      'Copy the report ID from the table general. IDs are case-sensitive.'
    );
  end if;
  perform set_config('response.headers',
    (coalesce(nullif(current_setting('response.headers', true), ''), '[]')::jsonb
      || '{"Cache-Control": "no-store"}')::text,
    true
  );
  select token.access_uuid, token.expires_at into access_uuid, expires_at
  from access.issue_access_token(issue_file_access.report_id) as token;
  if access_uuid is null then
    perform request.refuse_for('unknown key');
  end if;
end
$$;
comment on function request.issue_file_access(text) is
  'Returns a one-time access token for a report that the caller may see; otherwise ends the request with 400 or 404.';
grant execute on function request.issue_file_access(text) to api_tribal;

create function request.issue_file_access(jsonb, out access_uuid uuid, out expires_at timestamptz)
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  perform request.refuse(
    400, 'report_id_missing', 'The body is not a JSON object whose only field is report_id.', null,
    'Send a JSON object such as {"report_id": "2023-06-GSAFAC-0000000001"}.'
  );
end
$$;
comment on function request.issue_file_access(jsonb) is 'Ends a request whose body is not an object with the single field report_id with 400.';
grant execute on function request.issue_file_access(jsonb) to api_tribal;

-- For the files of a version: creates request_file_access() in its schema. There is no grant to api_public, so request.decide() answers
-- 401 to keys without Tribal access. PostgREST calls the second function if the body's fields are not the parameters of the first.
create function request.offer_file_access(schema_name name)
returns void
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  execute format(
    $sql$
      create type %1$I.file_access as (access_uuid uuid, expires_at timestamptz);
      comment on type %1$I.file_access is 'A one-time access token and when it expires.';

      create function %1$I.request_file_access(report_id text) returns %1$I.file_access
      language sql volatile
      begin atomic select issued.access_uuid, issued.expires_at from request.issue_file_access(report_id) as issued; end;
      comment on function %1$I.request_file_access(text) is %2$L;
      grant execute on function %1$I.request_file_access(text) to api_tribal;

      create function %1$I.request_file_access(jsonb) returns %1$I.file_access
      language sql volatile
      begin atomic select issued.access_uuid, issued.expires_at from request.issue_file_access($1) as issued; end;
      comment on function %1$I.request_file_access(jsonb) is
        'Answers 400 to calls whose body is not an object with the single field report_id.';
      grant execute on function %1$I.request_file_access(jsonb) to api_tribal;
    $sql$,
    schema_name,
    E'Request access to a report''s PDF\n\n'
    'Returns a one-time access_uuid, valid until expires_at. Fetch /dissemination/report/pdf/ota/{access_uuid} from the API''s website, '
    'which redirects to the PDF. Needs an API key with Tribal access.'
  );
end
$$;
comment on function request.offer_file_access is 'Creates the function through which a version issues one-time access tokens.';
grant execute on function request.offer_file_access to api_owner;
