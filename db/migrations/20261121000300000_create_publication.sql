-- Which data set is live, and which API schemas are deployed. Durable state.
-- Lock level: new tables only.

create schema publication;
comment on schema publication is 'What is published: the data sets and the deployed API schemas.';

create table publication.data_sets (
  id uuid primary key default uuidv7(),
  source text not null,
  row_counts jsonb not null,
  published_at timestamptz not null default now(),
  published_by text not null default session_user
);
comment on table publication.data_sets is 'Every data set that was published, the newest last.';
comment on column publication.data_sets.source is 'Where its files were read from.';
comment on column publication.data_sets.row_counts is 'Rows by table, as {"<table>": {"disclosed": n, "suppressed": n}}.';

grant usage on schema publication to publisher;
grant select, insert on publication.data_sets to publisher;

create table deployment.api_schemas (
  id bigint generated always as identity primary key,
  sha256 text not null,
  deployed_at timestamptz not null default now()
);
comment on table deployment.api_schemas is 'Every deployment of db/api, the newest last.';
comment on column deployment.api_schemas.sha256 is 'Hash of the files that were deployed.';
