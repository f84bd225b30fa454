-- Remembers which reports were ever suppressed, so that no older file and no rollback makes them public again.
-- Lock level: new tables; a short exclusive lock on publication.data_sets, which requests do not read.

create table publication.suppressed_reports (
  report_id text primary key,
  suppressed_since timestamptz not null default now()
);
comment on table publication.suppressed_reports is
  'Reports that were suppressed in a published data set. They stay suppressed, whatever later files say, until someone releases them (publication.release_report).';
comment on column publication.suppressed_reports.suppressed_since is 'Time at which the report was first suppressed in a published data set.';

-- Publications insert report IDs, and the database sets the date. publisher may not update or delete rows: only
-- publication.release_report() removes them, and it records who did so.
grant select, insert (report_id) on publication.suppressed_reports to publisher;

alter table publication.data_sets add column kept_suppressed text[];
comment on column publication.data_sets.kept_suppressed is
  'Reports that are public in the data set''s source files but stayed suppressed, because they were suppressed in an earlier data set. Null for data sets that are older than this column.';

create function publication.release_report(released_report_id text)
returns void
language plpgsql volatile security definer set search_path = ''
as $$
declare
  released publication.suppressed_reports;
begin
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

comment on column access.events.subject is
  'The changed table: tiers, tribal_access_agreements, api_keys, or suppressed_reports (releasing a report deletes its row).';
comment on column access.events.subject_id is 'The ID of the changed row, the name of a tier, or the ID of a released report.';
