-- What was deployed when, what is promised to clients since then, and which versions are to be removed. The schema is made
-- with the table of the migrations that were run.
-- Lock level: new tables only.

create table deployment.api_schemas (
  id bigint generated always as identity primary key,
  sha256 text not null,
  contracts jsonb not null,
  is_promise boolean not null,
  definitions jsonb not null,
  fingerprint jsonb not null,
  deployed_at timestamptz not null default now(),
  deployed_by text not null default session_user
);
comment on table deployment.api_schemas is 'Every deployment of db/api, the newest last.';
comment on column deployment.api_schemas.sha256 is 'Hash of the files of db/api that were deployed.';
comment on column deployment.api_schemas.contracts is 'What has been served since then, in the form of db/contracts.';
comment on column deployment.api_schemas.is_promise is
  'Whether clients may rely on it (db:deploy --promise). The newest promise counts; other deployments are drafts.';
comment on column deployment.api_schemas.definitions is 'Hashes of the files of db/data_set at that time, by name.';
comment on column deployment.api_schemas.fingerprint is
  'Hashes of what the catalog held right after it: {"query", "api", "durable"}. Where they differ now, somebody has changed something by hand.';

create table deployment.retired_versions (
  version text primary key,
  deprecated_at timestamptz not null,
  sunset_at timestamptz not null,
  link text not null,
  constraint retired_versions_version_has_the_form check (version ~ '^v[0-9]+(_[0-9]+)*$'),
  constraint retired_versions_sunset_comes_later check (sunset_at > deprecated_at),
  constraint retired_versions_link_is_an_address check (link ~ '^https?://[^\s<>"]+$')
);
comment on table deployment.retired_versions is
  'Versions of the API that are to be removed. Their answers say so; a deployment may remove them after the sunset.';
comment on column deployment.retired_versions.version is 'As in the schema''s name: v1_1_0.';
comment on column deployment.retired_versions.deprecated_at is 'From when answers say it (header Deprecation, RFC 9745).';
comment on column deployment.retired_versions.sunset_at is 'Until when it is served at least (header Sunset, RFC 8594).';
comment on column deployment.retired_versions.link is 'Page that says why, and how to move on (header Link).';
-- No other grant: requests read retirements by request.find_retirement(), with its owner's rights.
grant usage on schema deployment to deployment_planner;
grant select on deployment.migrations, deployment.api_schemas, deployment.retired_versions to deployment_planner;
-- A plan compares what keys may do.
grant usage on schema access to deployment_planner;
grant select on access.tiers to deployment_planner;
