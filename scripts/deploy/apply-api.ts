import type { Client } from "pg";
import { readDeploymentFile } from "../sql/read-sql-file.ts";
import { runSqlFiles } from "../sql/run-sql-file.ts";
import { resetSession } from "../sql/session.ts";
import { refuseIfFound } from "./deployment-refused.ts";
import type { ApiFiles } from "./read-files.ts";

/**
 * Rebuilds `request` and the API schemas, inside the caller's transaction. The files of `request` run with the rights of the
 * deploying role. The files of a version run with the rights of api_owner, which may read `dissemination` and owns only these
 * schemas, so PostgreSQL refuses everything else. Running requests finish first; new requests wait until the transaction ends
 * (bench/RESULTS.md, Deployments).
 *
 * @throws SqlFileError if a file fails; DeploymentRefused if a rebuild would delete objects made by hand
 */
export async function applyApi(client: Client, { request, versions }: ApiFiles): Promise<void> {
  // request.authorize() holds a share of this lock until its request ends.
  await client.query("select pg_advisory_xact_lock(hashtext('api_schemas'))");
  await refuseHandMadeObjects(client, { versions });
  await client.query("select deployment.drop_versions()");
  await client.query(await readDeploymentFile("clear_request.sql"));
  await runSqlFiles(client, request);
  // Default privileges belong to the role that deployed first.
  await client.query("revoke execute on all functions in schema request from public");
  await recordFiles(client, versions);
  await client.query("select deployment.create_versions()");
  const files = versions.flatMap((version) => version.files);
  await runSqlFiles(client, files, "perform deployment.run_as_api_owner");
  await resetSession(client);
  await client.query("select deployment.complete_versions()");
  await client.query("notify pgrst, 'reload config'");
}

/** Records the files of the versions, so that a publication that changes the type of a column can apply them again. */
async function recordFiles(client: Client, versions: ApiFiles["versions"]): Promise<void> {
  const files = versions.flatMap(({ schema, files }) =>
    files.map(({ name, sql }) => ({ schema, name, sql })),
  );
  await client.query("truncate deployment.api_files");
  await client.query(
    `insert into deployment.api_files (place, schema_name, name, sql)
     select place, file ->> 'schema', file ->> 'name', file ->> 'sql'
     from json_array_elements($1) with ordinality as listed (file, place)`,
    [JSON.stringify(files)],
  );
}

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
  const { rows } = await client.query<{ name: string }>(handMade, [schemas]);
  refuseIfFound(
    "Rebuilding the API schemas would delete these objects, which were made by hand:",
    rows.map(({ name }) => name),
    "Move tables, materialized views and sequences to another schema, and drop the rest. Then deploy again.",
  );
}

const handMade = `
select name from deployment.list_hand_made_objects() as name
union all
select format('schema %I, which belongs to %I', nspname, pg_get_userbyid(nspowner)) from pg_catalog.pg_namespace
where nspname = any ($1) and pg_get_userbyid(nspowner) <> 'api_owner'
order by 1`;

/**
 * Refuses API schemas that break a rule (publication.find_broken_rules). The leak check must be installed.
 *
 * @throws DeploymentRefused with a line for each broken rule
 */
export async function refuseBrokenRules(client: Client): Promise<void> {
  const { rows } = await client.query<{ object: string; rule: string }>(
    "select object, rule from publication.find_broken_rules(false)",
  );
  refuseIfFound(
    "These API objects break the rules in docs/editing-views.md:",
    rows.map(({ object, rule }) => `${object}: ${rule}`),
  );
}
