-- Which reports differ between two data sets that were live one after the other, for who keeps a copy.
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
  'For each publication and rollback, the reports whose public rows differ from those of the data set that was live before. Only the last 100 are kept.';
comment on column publication.changes.number is 'In the order in which they became live.';
comment on column publication.changes.added is 'Reports that general now has, in the order of their IDs.';
comment on column publication.changes.changed is
  'Reports with other rows than before, in whatever table; also superseded ones, which are in resubmission alone.';
comment on column publication.changes.removed is
  'Reports that general no longer has: superseded, suppressed or withdrawn. Which of these, nothing here tells.';

grant select, insert, delete on publication.changes to publisher;
