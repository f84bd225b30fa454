-- When which state of db/api was deployed. The schema is made with the table of the migrations that were run.
-- Lock level: new tables only.

create table deployment.api_schemas (
  id bigint generated always as identity primary key,
  sha256 text not null,
  contracts jsonb,
  deployed_at timestamptz not null default now()
);
comment on table deployment.api_schemas is 'Every deployment of db/api, the newest last.';
comment on column deployment.api_schemas.sha256 is 'Hash of the files that were deployed.';
comment on column deployment.api_schemas.contracts is
  'What is promised to clients since then, in the form of db/contracts; null for a draft (db:watch).';

-- Only deployments use it, and plans (create_catalogues).
