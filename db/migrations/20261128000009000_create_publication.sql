-- The history of data sets and which one is live, the switch that stops the service, the list of suppressed reports, and what
-- each publication changed.
-- Lock level: new tables only.

create schema publication;
comment on schema publication is 'What is published: the data sets and the deployed API schemas.';
-- PostgREST reads publication.served_schemas as authenticator (request.pre_config).
grant usage on schema publication to authenticator, report_service, site, publisher, deployment_planner;

create table publication.data_sets (
  id uuid primary key default extensions.uuid_v7(),
  source text not null,
  row_counts jsonb not null,
  published_at timestamptz not null default now(),
  published_by text not null default session_user,
  checksum text,
  state text not null default 'dropped',
  rejected_rows bigint not null default 0,
  started_at timestamptz,
  rolled_back_at timestamptz,
  kept_suppressed text[] not null default '{}',
  constraint data_sets_state_is_known check (state in ('live', 'previous', 'dropped'))
);

-- Two data sets are never live at once.
create unique index data_sets_one_is_live on publication.data_sets (state) where state = 'live';

comment on table publication.data_sets is 'Every data set that was published. IDs sort by time.';
comment on column publication.data_sets.source is 'Where the source files were read from.';
comment on column publication.data_sets.row_counts is 'Rows by table, as {"<table>": {"disclosed": n, "suppressed": n}}.';
comment on column publication.data_sets.checksum is 'Hash of the source files and of the SQL that builds tables from them.';
comment on column publication.data_sets.state is
  'live: it is served. previous: a rollback makes it live again. dropped: its tables are gone.';
comment on column publication.data_sets.rejected_rows is 'How many invalid rows of the source files were left out.';
comment on column publication.data_sets.started_at is 'When loading started.';
comment on column publication.data_sets.rolled_back_at is
  'When a rollback replaced it. Refreshes then skip its source files, unless forced (--force).';
comment on column publication.data_sets.kept_suppressed is
  'Reports that are public in the data set''s source files but stayed suppressed, because they were suppressed in an earlier data set.';

grant select, insert, update on publication.data_sets to publisher;
-- A plan needs to know the state of data sets, but not how many rows are suppressed.
grant select (state) on publication.data_sets to deployment_planner;

create table publication.settings (
  is_switched_on boolean not null default true,
  changed_at timestamptz,
  changed_by text,
  only_row boolean primary key default true,
  constraint settings_has_one_row check (only_row)
);

comment on table publication.settings is 'Settings of the whole service, in one row.';
comment on column publication.settings.is_switched_on is 'Whether the service is switched on. If not, requests get 503.';
comment on column publication.settings.changed_at is 'When someone last switched the service on or off; null if nobody has.';
insert into publication.settings default values;

grant select, update on publication.settings to publisher;

-- Reports that were ever suppressed, so that no older file and no rollback makes them public again.
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

-- Which reports changed with each publication or rollback, so that clients can update their copies of the data.
create table publication.changes (
  number bigint primary key generated always as identity,
  from_data_set uuid not null,
  to_data_set uuid not null,
  published_at timestamptz not null default now(),
  added text[] not null,
  changed text[] not null,
  removed text[] not null,
  changed_parts text[]
);

comment on table publication.changes is
  'The last 100 publications and rollbacks, and the reports whose public rows were added, changed or removed by each.';
comment on column publication.changes.number is 'Numbers publications and rollbacks chronologically.';
comment on column publication.changes.added is 'Reports that had no public row before, ordered by ID.';
comment on column publication.changes.changed is
  'Reports whose public rows changed in any table, unless "added" or "removed" lists the report. These include superseded reports, whose only public rows are in the table resubmission, and those that are current again.';
comment on column publication.changes.changed_parts is
  'For each report of "changed", which parts of it changed: findings,awards. Null if so many reports changed that nobody looked.';
comment on column publication.changes.removed is
  'Reports that lost their public row in the table general: they were superseded, suppressed or withdrawn. The reason is not recorded, because it may be confidential.';

grant select, insert, delete, update (changed_parts) on publication.changes to publisher;

-- The values of changed reports that pages show. Each publication deletes the rows of reports that are no longer public, so a report that is
-- suppressed later leaves nothing here.
create table publication.changed_values (
  number bigint not null references publication.changes (number) on delete cascade,
  report_id text not null,
  changed_values jsonb not null,
  primary key (number, report_id)
);

comment on table publication.changed_values is
  'The old and new values of up to 10 columns of general, for reports that were public before and after a publication and still are.';
comment on column publication.changed_values.number is 'The publication or rollback, as in publication.changes.';
comment on column publication.changed_values.changed_values is
  'Values by column, cut to 200 characters: {"total_amount_expended": {"old": "1", "new": "2"}}. A value is null if the report states none.';

grant select, insert, delete on publication.changed_values to publisher;
