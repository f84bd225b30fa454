-- Which reports changed with each publication or rollback, so that clients can update their copies of the data.
-- Lock level: new tables only.

create table publication.changes (
  number bigint primary key generated always as identity,
  from_data_set uuid not null,
  to_data_set uuid not null,
  published_at timestamptz not null default now(),
  added text[] not null,
  changed text[] not null,
  removed text[] not null
);
comment on table publication.changes is
  'The last 100 publications and rollbacks, and the reports whose public rows were added, changed or removed by each.';
comment on column publication.changes.number is 'Numbers publications and rollbacks chronologically.';
comment on column publication.changes.added is 'Reports with a new public row in the table general, ordered by ID.';
comment on column publication.changes.changed is
  'Reports whose public rows changed in any table, unless "added" or "removed" lists the report. These include superseded reports, whose only public rows are in the table resubmission.';
comment on column publication.changes.removed is
  'Reports that lost their public row in the table general: they were superseded, suppressed or withdrawn. The reason is not recorded, because it may be confidential.';

grant select, insert, delete on publication.changes to publisher;
