import { type Client, escapeIdentifier } from "pg";
import { runSqlFiles } from "../sql/run-sql-file.ts";
import { DeploymentRefused } from "./deployment-refused.ts";
import type { ApiFiles } from "./read-files.ts";

/**
 * Rebuilds `request` and the schemas of the API, inside the caller's transaction. The files of `request` run with the
 * rights of the deploying role; those of a version with the rights of api_owner, which may read `dissemination` and owns
 * nothing but these schemas: what they may not do, PostgreSQL refuses. Requests that are under way end first; those that
 * come meanwhile wait, some tens of milliseconds.
 *
 * @throws SqlFileError when a file fails; DeploymentRefused when somebody else has made such a schema
 */
export async function applyApi(client: Client, { request, versions }: ApiFiles): Promise<void> {
  // request.authorize() holds this lock, shared, for as long as its request lasts.
  await client.query("select pg_advisory_xact_lock(hashtext('api_schemas'))");
  await refuseForeignSchemas(
    client,
    versions.map(({ schema }) => schema),
  );
  await client.query(clearSchemas);
  await runSqlFiles(client, request);
  // Default privileges are those of whoever deployed first.
  await client.query("revoke execute on all functions in schema request from public");
  await client.query(makeRunner);
  for (const { schema } of versions)
    await client.query(`create schema ${escapeIdentifier(schema)} authorization api_owner`);
  await runSqlFiles(
    client,
    versions.flatMap(({ files }) => files),
    "perform deployment.run_as_api_owner",
  );
  await client.query("drop function deployment.run_as_api_owner");
  await client.query("select request.cast_views(), publication.describe_data_set()");
  await client.query("notify pgrst, 'reload config'; notify pgrst, 'reload schema'");
}

// In a schema that api_owner may not use, or a file could make it run with its caller's rights. Inside such a function
// PostgreSQL refuses to change the role and to end the transaction; deferred triggers run before it returns.
const makeRunner = `
  grant create on schema deployment to api_owner;
  create function deployment.run_as_api_owner(statement text) returns void
  language plpgsql volatile security definer set search_path = ''
  as $$ begin execute statement; set constraints all immediate; end $$;
  alter function deployment.run_as_api_owner owner to api_owner;
  revoke create on schema deployment from api_owner`;

/** Schemas with the name of a version that somebody else has made: they are not served, and left alone. */
export async function refuseForeignSchemas(client: Client, versions: string[]): Promise<void> {
  const { rows } = await client.query<{ name: string; owner: string }>(
    `select nspname as name, pg_get_userbyid(nspowner) as owner from pg_catalog.pg_namespace
     where nspname = any ($1) and pg_get_userbyid(nspowner) <> 'api_owner' order by nspname`,
    [versions],
  );
  if (rows.length === 0) return;
  throw new DeploymentRefused(
    [
      "Somebody has made schemas by hand that have the names of API versions in db/api:",
      ...rows.map(({ name, owner }) => `  ${name}, which belongs to ${owner}`),
      ...rows.map(({ name }) => `Rename or drop it, and deploy again: drop schema ${name} cascade;`),
    ].join("\n"),
  );
}

// All but what PostgREST may be about to call: request.authorize() and pre_config() are replaced in place, and lose
// the rights and comments that their files do not give them again.
const clearSchemas = `
  do $$
  declare
    object record;
  begin
    for object in select name from publication.served_schemas order by place loop
      execute format('drop schema %I cascade', object.name);
    end loop;
    if to_regnamespace('request') is null then
      return;
    end if;
    revoke all on schema request from authenticator, gateway, api_public, api_tribal, api_owner;
    for object in
      select oid::regprocedure as signature, proname in ('authorize', 'pre_config') and pronargs = 0 as stays
      from pg_catalog.pg_proc
      where pronamespace = to_regnamespace('request')
    loop
      if object.stays then
        execute format('revoke all on function %s from authenticator, gateway, api_public, api_tribal', object.signature);
        execute format('comment on function %s is null', object.signature);
      else
        execute format('drop routine %s', object.signature);
      end if;
    end loop;
    for object in
      select oid::regclass as name from pg_catalog.pg_class
      where relnamespace = to_regnamespace('request') and relkind = 'v'
    loop
      execute format('drop view %s', object.name);
    end loop;
    for object in
      select oid::regtype as name from pg_catalog.pg_type
      where typnamespace = to_regnamespace('request') and typtype in ('c', 'd', 'e')
    loop
      execute format('drop type %s cascade', object.name);
    end loop;
  end
  $$`;
