import { type Client, escapeIdentifier } from "pg";
import { readDeploymentFile } from "../sql/read-sql-file.ts";
import { runSqlFiles } from "../sql/run-sql-file.ts";
import { resetSession } from "../sql/session.ts";
import { refuseIfFound } from "./deployment-refused.ts";
import type { ApiFiles, DatabaseFiles } from "./read-files.ts";
import { completeFunctions, type Replaced } from "./replace-functions.ts";

/**
 * Completes the functions of `db/functions`, and rebuilds `request` and the API schemas, inside the caller's transaction. The
 * files of `request` run with the rights of the deploying role. The files of a version run with the rights of api_owner, which
 * may read `dissemination` and owns only these schemas, so PostgreSQL refuses everything else. Running requests finish first;
 * new requests wait until the transaction ends (bench/RESULTS.md, Deployments).
 *
 * @throws SqlFileError if a file fails; DeploymentRefused if a rebuild would delete objects made by hand
 */
export async function applyApi(
  client: Client,
  { functions, api }: DatabaseFiles,
  replaced: Replaced,
): Promise<void> {
  const { request, versions } = api;
  // request.authorize() holds a share of this lock until its request ends.
  await client.query("select pg_advisory_xact_lock(hashtext('api_schemas'))");
  await refuseHandMadeObjects(client, { versions });
  await client.query(await readDeploymentFile("drop_versions.sql"));
  await client.query(await readDeploymentFile("clear_request.sql"));
  await completeFunctions(client, functions, replaced);
  await client.query("select data_set.bind_views()");
  await runSqlFiles(client, request);
  // Default privileges belong to the role that deployed first.
  await client.query("revoke execute on all functions in schema request from public");
  await client.query(await readDeploymentFile("create_runner.sql"));
  for (const { schema } of versions)
    await client.query(`create schema ${escapeIdentifier(schema)} authorization api_owner`);
  const files = versions.flatMap((version) => version.files);
  await runSqlFiles(client, files, "perform deployment.run_as_api_owner");
  await resetSession(client);
  await client.query("drop function deployment.run_as_api_owner(text)");
  await client.query("select request.cast_views()");
  await client.query("notify pgrst, 'reload schema'; notify pgrst, 'reload config'");
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
  const { rows } = await client.query<{ name: string }>(await readDeploymentFile("hand_made_objects.sql"), [
    schemas,
  ]);
  refuseIfFound(
    "Rebuilding the API schemas would delete these objects, which were made by hand:",
    rows.map(({ name }) => name),
    "Move tables, materialized views and sequences to another schema, and drop the rest. Then deploy again.",
  );
}

/**
 * Refuses API schemas that break a rule (publication.find_broken_rules). The leak check must be installed.
 *
 * @throws DeploymentRefused with a line for each broken rule
 */
export async function refuseBrokenRules(client: Client): Promise<void> {
  const { rows } = await client.query<{ object: string; rule: string }>(
    "select object, rule from publication.find_broken_rules()",
  );
  refuseIfFound(
    "These API objects break the rules in docs/editing-views.md:",
    rows.map(({ object, rule }) => `${object}: ${rule}`),
  );
}
