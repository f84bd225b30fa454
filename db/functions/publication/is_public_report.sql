-- The report service calls this before it hands out a PDF without a token, and asks publication.is_switched_on() in the same
-- statement. This function does not, so that publication.find_leaks() sees what it says while the service is switched off.
-- It reads only the public tables, so a suppressed report is handled exactly like one that does not exist.
create or replace function publication.is_public_report(asked_report_id text)
returns boolean
language plpgsql stable security definer set search_path = ''
as $$
begin
  return exists (select from disclosed.general where general.report_id = asked_report_id);
end
$$;
comment on function publication.is_public_report is
  'Whether the report may be downloaded without a key: true if disclosed.general has it; false if it is suppressed, superseded or unknown.';
grant execute on function publication.is_public_report to report_service;
