-- The history of deployments, what clients were promised, and the versions that will be removed. The command db:deploy
-- creates the schema, together with the table of applied migrations.
-- Lock level: new tables only.

create table deployment.api_schemas (
  id bigint generated always as identity primary key,
  commit jsonb,
  doubt text,
  is_rollback boolean not null default false,
  rebuilt_api boolean not null default true,
  migrations text[] not null default '{}',
  sha256 text not null,
  is_promise boolean not null,
  fingerprint jsonb not null default '{}',
  durable_objects jsonb,
  deployed_at timestamptz not null default now(),
  deployed_by text not null default session_user
);

comment on table deployment.api_schemas is
  'Every deployment that rebuilt the API or had another commit than the one before (db:deploy --status).';
comment on column deployment.api_schemas.commit is
  'What was deployed: id, author, date and subject of the commit; null if that is unknown. A deployment is refused unless it contains the commit of the last one.';
comment on column deployment.api_schemas.doubt is
  'Why the deployed files may differ from the commit, or why the commit is unknown (db:deploy --accept-unknown-release).';
comment on column deployment.api_schemas.is_rollback is 'Whether it was allowed to take changes back (db:deploy --roll-back).';
comment on column deployment.api_schemas.sha256 is 'Hash of the deployed files of db/api and db/functions, and of db/data_set/indexes.sql.';
comment on column deployment.api_schemas.is_promise is
  'Whether clients may rely on what it served (db:deploy --promise, or ENVIRONMENT=production). Other deployments are drafts.';
comment on column deployment.api_schemas.fingerprint is
  'Hashes of the catalog right after the deployment: "api" for the API schemas and the functions, "durable" for what migrations create. If a part''s hash is different when it is computed again, someone has changed the database by hand. "query" is the hash of the SQL that computes them.';
comment on column deployment.api_schemas.durable_objects is
  'What migrations created, as statements, right after the deployment. It shows what someone has changed by hand since.';

create table deployment.retired_versions (
  version text primary key,
  deprecated_at timestamptz not null,
  sunset_at timestamptz not null,
  link text not null,
  constraint retired_versions_version_is_well_formed check (version ~ '^v[0-9]+(_[0-9]+)*$'),
  constraint retired_versions_sunset_comes_later check (sunset_at > deprecated_at),
  constraint retired_versions_link_is_an_address check (link ~ '^https?://[^\s<>"]+$')
);

comment on table deployment.retired_versions is
  'Versions of the API that will be removed. Their responses announce the removal, and a deployment may remove them after sunset_at.';
comment on column deployment.retired_versions.version is 'The version part of the schema''s name, such as v1_1_0.';
comment on column deployment.retired_versions.deprecated_at is 'When responses start to announce the removal (header Deprecation, RFC 9745).';
comment on column deployment.retired_versions.sunset_at is 'The earliest time at which the version may be removed (header Sunset, RFC 8594).';
comment on column deployment.retired_versions.link is 'A page that says why the version is removed and how to move to another version (header Link).';

create table deployment.rights (
  fact text primary key,
  is_required boolean not null
);
comment on table deployment.rights is
  'What each role may read, run, own and become: the list of the last deployment (db/contracts/rights.txt), and the bodies of the functions that it replaced. Each deployment, publication and rollback is compared with it.';
comment on column deployment.rights.is_required is
  'False, while a deployment runs, for facts that only the previous deployment or only this one lists.';

-- No other grant: requests read retired versions through request.find_retirement(), which runs with its owner's rights.
grant usage on schema deployment to deployment_planner;
grant select on deployment.migrations, deployment.api_schemas, deployment.retired_versions to deployment_planner;

create table publication.promises (
  id bigint generated always as identity primary key,
  contracts jsonb not null,
  promised_at timestamptz not null default now(),
  promised_by text not null default session_user
);

comment on table publication.promises is
  'What clients may rely on: what production served. Only the newest row counts. It is in this schema because backups contain this schema.';
comment on column publication.promises.contracts is 'The served tables, columns and functions, in the format of db/contracts.';
grant select on publication.promises to deployment_planner;
