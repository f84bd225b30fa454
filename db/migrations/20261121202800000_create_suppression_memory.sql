-- Which reports were ever suppressed, so that no older file and no rollback makes one public again.
-- Lock level: new tables; a short exclusive lock on publication.data_sets, which requests do not read.

create table publication.suppressed_reports (
  report_id text primary key,
  suppressed_since timestamptz not null default now()
);
comment on table publication.suppressed_reports is
  'Reports that a published data set suppressed. They stay suppressed, whatever later files say, until someone releases them (publication.release_report).';
comment on column publication.suppressed_reports.suppressed_since is 'When the first data set that suppressed it was published.';

-- Publications add reports, dated by the database. Nobody updates or deletes rows: publication.release_report() does that,
-- and records it.
grant select, insert (report_id) on publication.suppressed_reports to publisher;

alter table publication.data_sets add column kept_suppressed text[];
comment on column publication.data_sets.kept_suppressed is
  'Reports that its files call public and that stayed suppressed, because an earlier data set suppressed them; null for data sets that are older than this column.';

create function publication.release_report(released_report_id text)
returns void
language plpgsql volatile security definer set search_path = ''
as $$
declare
  released publication.suppressed_reports;
begin
  delete from publication.suppressed_reports where report_id = released_report_id returning * into released;
  if not found then
    raise exception 'The report % is not in publication.suppressed_reports. Check the ID: it may have been released already.',
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
  'Forgets that a report was suppressed, and records who did it in access.events. The next publication makes the report public if its files do.';
grant execute on function publication.release_report to publisher;

comment on column access.events.subject is
  'The table: tiers, tribal_access_agreements, api_keys, or suppressed_reports (deleted when a report is released).';
comment on column access.events.subject_id is 'The row''s ID; the name of a tier, the report ID of a released report.';
