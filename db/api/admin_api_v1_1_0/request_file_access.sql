-- Step 2 of downloading a suppressed report's PDF: returns a one-time token for a report that the caller may see.
create type admin_api_v1_1_0.file_access as (access_uuid uuid, expires_at timestamptz);
comment on type admin_api_v1_1_0.file_access is 'A one-time access token and when it expires.';

create function admin_api_v1_1_0.request_file_access(report_id text)
returns admin_api_v1_1_0.file_access
language sql volatile
begin atomic
  select issued.access_uuid, issued.expires_at from request.issue_file_access(report_id) as issued;
end;
comment on function admin_api_v1_1_0.request_file_access(text) is
  'Request access to a report''s PDF

Returns a one-time access_uuid, valid until expires_at. Fetch /dissemination/report/pdf/ota/{access_uuid} from the API''s website, which redirects to the PDF. Needs an API key with Tribal access.';
grant execute on function admin_api_v1_1_0.request_file_access(text) to api_tribal;

-- PostgREST calls this if the body's fields are not the parameters of the function above.
create function admin_api_v1_1_0.request_file_access(jsonb)
returns admin_api_v1_1_0.file_access
language sql volatile
begin atomic
  select issued.access_uuid, issued.expires_at from request.issue_file_access($1) as issued;
end;
comment on function admin_api_v1_1_0.request_file_access(jsonb) is 'Answers 400 to calls whose body is not an object with the single field report_id.';
grant execute on function admin_api_v1_1_0.request_file_access(jsonb) to api_tribal;
