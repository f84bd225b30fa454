-- What the history of data sets tells: where each came from, how long it took, what became of it. Whether requests
-- are answered at all, for previews that are switched on by hand.
-- Lock level: short exclusive locks on publication.data_sets and on the one-row table disclosed.data_set.

-- pgls-ignore lint/safety/addingFieldWithDefault: a row a data set; a few hundred at most
-- pgls-ignore lint/safety/constraintMissingNotValid: likewise
alter table publication.data_sets
  add column checksum text,
  add column state text not null default 'dropped',
  add column rejected_rows bigint not null default 0,
  add column started_at timestamptz,
  add column durations jsonb not null default '{}',
  add column rolled_back_at timestamptz,
  add constraint data_sets_state_is_known check (state in ('live', 'previous', 'dropped'));

update publication.data_sets
set state = case ranked.age when 1 then 'live' else 'previous' end
from (
  select data_sets.id, row_number() over (order by data_sets.published_at desc) as age
  from publication.data_sets
) as ranked
where ranked.id = data_sets.id and ranked.age <= 2;

-- pgls-ignore lint/safety/requireConcurrentIndexCreation: likewise
create unique index data_sets_one_is_live on publication.data_sets (state) where state = 'live';

comment on column publication.data_sets.checksum is
  'SHA-256 of the source files and of the definitions they were built by; null for the empty data set.';
comment on column publication.data_sets.state is
  'live: what is served. previous: what a rollback brings back. dropped: its tables are gone.';
comment on column publication.data_sets.rejected_rows is 'Rows of the source that were tolerated and left out.';
comment on column publication.data_sets.started_at is 'When its loading began.';
comment on column publication.data_sets.durations is 'Seconds by step, as {"<step>": n}.';
comment on column publication.data_sets.rolled_back_at is
  'When a rollback took it from live. The same source is then not published again by itself.';

grant update on publication.data_sets to publisher;

create table publication.settings (
  is_open boolean not null default true,
  changed_at timestamptz,
  changed_by text,
  only_row boolean primary key default true,
  constraint settings_has_one_row check (only_row)
);
comment on table publication.settings is 'One row: how the service behaves as a whole.';
comment on column publication.settings.is_open is 'Whether requests are answered; if not, they get 503.';
comment on column publication.settings.changed_at is 'When someone last decided that; null if nobody has.';
insert into publication.settings default values;

grant select, update on publication.settings to publisher;

-- Since when a data set is live, for the header Data-Set. A database that has none yet gets the column when one is built.
do $$
declare
  schema_name text;
begin
  foreach schema_name in array array['disclosed', 'disclosed_previous'] loop
    if to_regclass(schema_name || '.data_set') is not null then
      execute format('alter table %I.data_set add column published_at timestamptz', schema_name);
      execute format(
        'update %I.data_set set published_at = data_sets.published_at '
        'from publication.data_sets where data_sets.id = data_set.id', schema_name
      );
    end if;
  end loop;
  if to_regclass('dissemination.data_set') is not null then
    create or replace view dissemination.data_set with (security_invoker = true) as
    table disclosed.data_set;
  end if;
end
$$;
