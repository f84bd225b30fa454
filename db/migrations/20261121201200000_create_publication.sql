-- Which data set is live, where each came from and what became of it; whether requests are answered at all.
-- Lock level: new tables only.

create schema publication;
comment on schema publication is 'What is published: the data sets and the deployed API schemas.';
grant usage on schema publication to publisher;

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
  durations jsonb not null default '{}',
  rolled_back_at timestamptz,
  constraint data_sets_state_is_known check (state in ('live', 'previous', 'dropped'))
);

-- Two data sets are never live at once.
create unique index data_sets_one_is_live on publication.data_sets (state) where state = 'live';

comment on table publication.data_sets is 'Every data set that was published, the newest last.';
comment on column publication.data_sets.source is 'Where its files were read from.';
comment on column publication.data_sets.row_counts is 'Rows by table, as {"<table>": {"disclosed": n, "suppressed": n}}.';
comment on column publication.data_sets.checksum is
  'SHA-256 of the source files and of the definitions they were built by; null for the empty data set.';
comment on column publication.data_sets.state is
  'live: what is served. previous: what a rollback brings back. dropped: its tables are gone.';
comment on column publication.data_sets.rejected_rows is 'Rows of the source that were tolerated and left out.';
comment on column publication.data_sets.started_at is 'When its loading began.';
comment on column publication.data_sets.durations is 'Seconds by step, as {"<step>": n}.';
comment on column publication.data_sets.rolled_back_at is
  'When a rollback took it from live. The same source is then not published again by itself.';

grant select, insert, update on publication.data_sets to publisher;
-- What is live decides what drift is.
grant usage on schema publication to deployment_planner;
grant select on publication.data_sets to deployment_planner;

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

-- Anyone else may make a schema with such a name: only those of api_owner are served.
create view publication.served_schemas as
select
  pg_namespace.oid,
  pg_namespace.nspname::text as name,
  substring(pg_namespace.nspname from 'api_(v.+)$') as version,
  row_number() over (
    order by
      pg_namespace.nspname like 'admin%',
      string_to_array(substring(pg_namespace.nspname from 'api_v(.+)$'), '_')::integer[]
  ) as place
from pg_catalog.pg_namespace
where pg_namespace.nspname ~ '^(admin_)?api_v[0-9]+(_[0-9]+)*$' and pg_get_userbyid(pg_namespace.nspowner) = 'api_owner';
comment on view publication.served_schemas is
  'The schemas of the API, in the order in which PostgREST serves them: the oldest version first, which clients get that name none.';
comment on column publication.served_schemas.version is 'As in deployment.retired_versions: v1_1_0.';

-- PostgREST reads it as authenticator (request.pre_config).
grant usage on schema publication to authenticator, report_service;
grant select on publication.served_schemas to authenticator, publisher, report_service, deployment_planner;
