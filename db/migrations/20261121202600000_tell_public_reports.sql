-- Whether a report's PDF may go to anyone: the report service asks, and the database decides.
-- Lock level: none.

-- It reads the public side alone, so that a suppressed report takes the same way as one that does not exist.
create function publication.is_public_report(asked_report_id text)
returns boolean
language plpgsql stable security definer set search_path = ''
as $$
begin
  return exists (select from disclosed.general where general.report_id = asked_report_id);
end
$$;
comment on function publication.is_public_report is
  'Whether the live data set has this report in general, as a public one. No for a suppressed report, a superseded one and one that does not exist.';
grant execute on function publication.is_public_report to report_service;
