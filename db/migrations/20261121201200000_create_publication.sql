-- The history of data sets and which one is live, the switch that stops the service, and the view of the served API schemas.
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
  definitions jsonb not null default '{}',
  constraint data_sets_state_is_known check (state in ('live', 'previous', 'dropped'))
);

-- Two data sets are never live at once.
create unique index data_sets_one_is_live on publication.data_sets (state) where state = 'live';

comment on table publication.data_sets is 'Every data set that was published. IDs sort by time.';
comment on column publication.data_sets.source is 'Where the source files were read from.';
comment on column publication.data_sets.row_counts is 'Rows by table, as {"<table>": {"disclosed": n, "suppressed": n}}.';
comment on column publication.data_sets.checksum is
  'Hash of the source files and the table definitions; null for an empty data set.';
comment on column publication.data_sets.state is
  'live: it is served. previous: a rollback makes it live again. dropped: its tables are gone.';
comment on column publication.data_sets.rejected_rows is 'How many invalid rows of the source files were left out.';
comment on column publication.data_sets.started_at is 'When loading started.';
comment on column publication.data_sets.durations is 'Seconds per step, as {"<step>": n}.';
comment on column publication.data_sets.rolled_back_at is
  'When a rollback replaced it. Refreshes then skip its source files, unless forced (--force).';
comment on column publication.data_sets.definitions is 'Hashes of the files of db/data_set that it was built from, by name.';

grant select, insert, update on publication.data_sets to publisher;
-- A plan needs to know which data set is live.
grant usage on schema publication to deployment_planner;
grant select on publication.data_sets to deployment_planner;

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

-- The report service calls this before it gives out files or totals.
create function publication.is_switched_on()
returns boolean
language sql stable security definer set search_path = ''
as $$
  select settings.is_switched_on from publication.settings
$$;
comment on function publication.is_switched_on is
  'Whether the service is switched on. If not, requests get 503 and tokens cannot be redeemed.';
grant execute on function publication.is_switched_on to report_service;

-- Other roles may create schemas with such names, so only schemas that api_owner owns are served.
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
  'The schemas of the API. Clients that name no version get the first: the lowest-numbered version.';
comment on column publication.served_schemas.place is 'The schema''s position in PostgREST''s list of schemas.';
comment on column publication.served_schemas.version is 'The version part of the schema''s name, such as v1_1_0.';

-- PostgREST reads the view as authenticator (request.pre_config).
grant usage on schema publication to authenticator, report_service;
grant select on publication.served_schemas to authenticator, publisher, report_service, deployment_planner;
