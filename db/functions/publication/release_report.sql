create or replace function publication.release_report(released_report_id text)
returns void
language plpgsql volatile security definer set search_path = ''
as $$
declare
  released publication.suppressed_reports;
begin
  -- A running publication has already recorded which reports are suppressed, and would not record this one again.
  if not pg_try_advisory_xact_lock_shared(hashtext('publication')) then
    raise exception 'The report % cannot be released while a refresh or a rollback is running or bulk files are being written. Try again later.',
      released_report_id
      using errcode = 'lock_not_available';
  end if;
  delete from publication.suppressed_reports where report_id = released_report_id returning * into released;
  if not found then
    raise exception 'The report % is not in publication.suppressed_reports. Check the report ID. The report may already have been released.',
      released_report_id;
  end if;
  insert into access.events (database_role, operator, subject, subject_id, action, before)
  values (
    session_user, nullif(current_setting('access.operator', true), ''),
    'suppressed_reports', released_report_id, 'delete', to_jsonb(released)
  );
end
$$;
comment on function publication.release_report is
  'Removes a report from publication.suppressed_reports, and records in access.events who removed it. The next publication makes the report public if the source files mark it as public.';
grant execute on function publication.release_report to publisher;
