-- The roles: which may log in, and which other roles they may switch to. publisher owns the data set and api_owner owns the
-- API schemas; the other roles own nothing. Deployments set the passwords. Until they do, nobody can log in. Grant key_operator
-- and deployment_planner to people (docs/operations.md).
-- Lock level: none on tables.

do $$
declare
  role_name text;
  purpose text;
begin
  -- Roles are found by their comments (db/deployment). They belong to the whole server, so a deployment to another database may
  -- have created them already.
  for role_name, purpose in values
    ('authenticator', 'PostgREST logs in as this role.'),
    ('gateway', 'runs request.authorize(), which decides what a request may do.'),
    ('api_public', 'reads the API without Tribal access.'),
    ('api_tribal', 'reads the API with Tribal access.'),
    ('api_owner', 'owns the API schemas.'),
    ('report_service', 'The report service logs in as this role.'),
    ('site', 'The site logs in as this role, if it has a process of its own.'),
    ('publisher', 'Refreshes log in as this role; it owns the data set.'),
    ('key_operator', 'manages keys and agreements. Grant it to people.'),
    ('deployment_planner', 'makes deployment plans. Grant it to people.')
  loop
    if not exists (select from pg_catalog.pg_roles where rolname = role_name) then
      execute format('create role %I', role_name);
    end if;
    execute format('comment on role %I is %L', role_name, 'Single Audit API: ' || purpose);
  end loop;

  -- By default, PostgreSQL lets every role connect and create temporary tables.
  execute format('revoke all on database %I from public', current_database());
  execute format(
    'grant connect on database %I to authenticator, report_service, site, publisher, key_operator, deployment_planner',
    current_database()
  );
  -- The publisher creates and renames the schemas of the data set.
  execute format('grant create on database %I to publisher', current_database());

  -- The deploying role publishes the empty data set as publisher, and creates the API schemas as api_owner. A superuser can
  -- switch to both anyway.
  foreach role_name in array array['publisher', 'api_owner'] loop
    if not pg_has_role(role_name, 'set') or not pg_has_role(role_name, 'usage') then
      execute format('grant %I to %I with inherit true, set true', role_name, current_user);
    end if;
  end loop;
end
$$;

alter role authenticator with login noinherit;
alter role report_service with login;
alter role site with login;
alter role publisher with login;

grant gateway, api_public, api_tribal to authenticator with inherit false, set true;
-- The report service serves the pages if the site has no process of its own.
grant site to report_service with inherit true, set false;

-- authenticator has these settings, because PostgreSQL applies a login role's settings to each connection. PostgREST would apply those
-- of gateway, but from version 16.0 on, it drops them while the database is unreachable, until it reloads its configuration.
--
-- Pages without an order must neither overlap nor miss rows, so every scan starts at the first block, and no parallel worker
-- interleaves rows.
alter role authenticator set synchronize_seqscans = off;
alter role authenticator set max_parallel_workers_per_gather = 0;
-- An index-only scan would return rows in the order of the index.
alter role authenticator set enable_indexonlyscan = off;

-- Memory for each sort and each hash table of a request. A page of 20,000 sorted rows fits into it, so PostgreSQL keeps only
-- these rows instead of writing the whole table to disk. docs/operations.md (Memory) counts it for each connection.
alter role authenticator set work_mem = '64MB';
-- By default, a hash table may take twice as much.
alter role authenticator set hash_mem_multiplier = 1;

-- Public tables stay in memory (docs/decisions/0014-layout-of-large-tables.md), so a random read costs hardly more than a
-- sequential one. Roles have the setting, because the configuration of a managed server may belong to others.
alter role authenticator set random_page_cost = 1.1;
alter role report_service set random_page_cost = 1.1;
alter role site set random_page_cost = 1.1;

-- Searches of the pages stop at their first matches. Parallel workers would read far beyond them, and JIT compilation takes longer
-- than it saves.
alter role report_service set max_parallel_workers_per_gather = 0;
alter role report_service set jit = off;
alter role site set max_parallel_workers_per_gather = 0;
alter role site set jit = off;

-- PostgREST commits as soon as it has a result, so a transaction stays idle only if its host is lost. It must not hold its locks,
-- such as a place among the key's queries (request.decide()), until TCP notices, which may take two hours.
alter role authenticator set idle_in_transaction_session_timeout = '30s';

revoke all on schema public from public;
alter default privileges revoke execute on functions from public;
alter default privileges for role api_owner revoke execute on functions from public;
