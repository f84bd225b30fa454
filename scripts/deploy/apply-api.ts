import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { type Client, escapeIdentifier } from "pg";
import { runSqlFiles } from "../sql/run-sql-file.ts";
import { resetSession } from "../sql/session.ts";
import { refuseIfFound } from "./deployment-refused.ts";
import type { ApiFiles } from "./read-files.ts";

/**
 * Rebuilds `request` and the API schemas, inside the caller's transaction. The files of `request` run with the rights of the
 * deploying role. The files of a version run with the rights of api_owner, which may read `dissemination` and owns only these
 * schemas, so PostgreSQL refuses everything else. Running requests finish first; new requests wait for tens of milliseconds.
 *
 * @throws SqlFileError if a file fails; DeploymentRefused if a rebuild would delete objects made by hand
 */
export async function applyApi(client: Client, { request, versions }: ApiFiles): Promise<void> {
  // request.authorize() holds a share of this lock until its request ends.
  await client.query("select pg_advisory_xact_lock(hashtext('api_schemas'))");
  await refuseHandMadeObjects(client, { versions });
  await client.query(clearSchemas);
  await runSqlFiles(client, request);
  // Default privileges belong to the role that deployed first.
  await client.query("revoke execute on all functions in schema request from public");
  await client.query(makeRunner);
  for (const { schema } of versions)
    await client.query(`create schema ${escapeIdentifier(schema)} authorization api_owner`);
  const files = versions.flatMap((version) => version.files);
  await runSqlFiles(client, files, "perform deployment.run_as_api_owner");
  await resetSession(client);
  await client.query("drop function deployment.run_as_api_owner");
  await client.query("select request.cast_views(), publication.describe_data_set()");
  await client.query("notify pgrst, 'reload config'; notify pgrst, 'reload schema'");
}

// api_owner may not use the runner's schema; otherwise a file could make the runner run with its caller's rights. Inside a
// security definer function PostgreSQL refuses to change the role or end the transaction, and deferred triggers run before
// it returns.
const makeRunner = `
  grant create on schema deployment to api_owner;
  create function deployment.run_as_api_owner(statement text) returns void
  language plpgsql volatile security definer set search_path = ''
  as $$ begin execute statement; set constraints all immediate; end $$;
  alter function deployment.run_as_api_owner owner to api_owner;
  revoke create on schema deployment from api_owner`;

/**
 * Refuses to rebuild schemas that another role created, tables in API schemas, and objects elsewhere that depend on the
 * API: dropping the schemas would delete them.
 *
 * @throws DeploymentRefused
 */
export async function refuseHandMadeObjects(
  client: Client,
  { versions }: Pick<ApiFiles, "versions">,
): Promise<void> {
  const schemas = versions.map(({ schema }) => schema);
  const { rows } = await client.query<{ line: string }>(handMade, [schemas]);
  refuseIfFound(
    "Rebuilding the API schemas would delete these objects, which were made by hand:",
    rows.map(({ line }) => line),
    "Move tables, materialized views and sequences to another schema, and drop the rest. Then deploy again.",
  );
}

const handMade = `
with relations as (
  select * from pg_catalog.pg_class where relnamespace in (select oid from publication.served_schemas)
), contents as (
  select classid, objid as oid from pg_catalog.pg_depend
  where refclassid = 'pg_namespace'::regclass and refobjid in (select oid from publication.served_schemas)
  union all
  select 'pg_type'::regclass, reltype from relations
), dependents as (
  -- A view depends on what it reads through its rule.
  select distinct case when ev_class is null then classid else 'pg_class'::regclass end as classid, coalesce(ev_class, objid) as oid
  from pg_catalog.pg_depend
  left join pg_catalog.pg_rewrite on classid = 'pg_rewrite'::regclass and pg_rewrite.oid = objid
  where deptype = 'n' and (refclassid, refobjid) in (select classid, oid from contents)
)
select format('schema %I, which belongs to %I', nspname, pg_get_userbyid(nspowner)) as line from pg_catalog.pg_namespace
where nspname = any ($1) and pg_get_userbyid(nspowner) <> 'api_owner'
union all
select pg_describe_object('pg_class'::regclass, oid, 0) from relations where relkind in ('r', 'p', 'm', 'f', 'S')
union all
select pg_describe_object(classid, oid, 0) || ', which depends on the API' from dependents
where (classid, oid) not in (select classid, oid from contents)
  -- request.cast_views() makes these.
  and classid <> 'pg_cast'::regclass
order by 1`;

// Drops everything except request.authorize() and pre_config(), which PostgREST may be about to call. Those are replaced in
// place, and lose the grants and comments that their files no longer give them.
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
      select replace(named.type, 'composite ', '') as type, named.identity
      from pg_catalog.pg_depend cross join lateral pg_identify_object(classid, objid, 0) as named
      where refclassid = 'pg_namespace'::regclass and refobjid = to_regnamespace('request')
      order by named.type = 'type'
    loop
      if object.identity in ('request.authorize()', 'request.pre_config()') then
        execute format('revoke all on function %s from authenticator, gateway, api_public, api_tribal', object.identity);
        execute format('comment on function %s is null', object.identity);
      else
        execute format('drop %s %s', object.type, object.identity);
      end if;
    end loop;
  end
  $$`;

const rulesDirectory = path.resolve(import.meta.dirname, "../../db/deployment");

/**
 * Refuses API schemas that break a rule (db/deployment/rules, one file for each).
 *
 * @throws DeploymentRefused with a line for each broken rule
 */
export async function refuseBrokenRules(client: Client): Promise<void> {
  const read = (name: string) => readFile(path.join(rulesDirectory, name), "utf8");
  for (const name of ["api_objects.sql", "callable_functions.sql"]) await client.query(await read(name));
  const broken: string[] = [];
  for (const name of (await readdir(path.join(rulesDirectory, "rules"))).sort()) {
    const { rows } = await client.query<{ object: string; rule: string }>(await read(`rules/${name}`));
    broken.push(...rows.map(({ object, rule }) => `${object}: ${rule}`));
  }
  await client.query("discard temp");
  refuseIfFound("These API objects break the rules in docs/editing-views.md:", broken);
}
