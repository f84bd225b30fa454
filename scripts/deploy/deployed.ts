import type { Client } from "pg";
import { type Fingerprint, readFingerprint } from "./catalog.ts";
import type { DatabaseFiles } from "./read-files.ts";

/** The record of the last deployment (deployment.api_schemas). */
export interface Deployed {
  id: string;
  sha256: string;
  is_promise: boolean;
  definitions: Record<string, string>;
  fingerprint: Fingerprint;
}

/** Reads the last deployment, if there was one. */
export async function readDeployed(client: Client): Promise<Deployed | undefined> {
  const { rows: tables } = await client.query("select to_regclass('deployment.api_schemas') as found");
  if (tables[0].found === null) return undefined;
  const { rows } = await client.query<Deployed>(
    "select id, sha256, is_promise, definitions, fingerprint from deployment.api_schemas order by id desc limit 1",
  );
  return rows[0];
}

/** Files of `db/data_set` that differ from those that the live data set was built from. */
export async function findAwaitingDefinitions(
  client: Client,
  { definitions }: DatabaseFiles,
): Promise<string[]> {
  const { rows: tables } = await client.query("select to_regclass('publication.data_sets') as found");
  if (tables[0].found === null) return [];
  const { rows } = await client.query<{ definitions: Record<string, string> }>(
    "select definitions from publication.data_sets where state = 'live'",
  );
  const built = rows[0]?.definitions ?? {};
  return Object.keys(built)
    .filter((name) => built[name] !== definitions[name])
    .sort();
}

/** What was changed by hand since the last deployment. */
export interface Drift {
  api: boolean;
  durable: boolean;
  /** A publication has rebuilt the API, or an older catalog.sql described it, so changes to it cannot be seen. */
  isApiUnknown: boolean;
}

/** Finds changes by hand to the API and to durable objects. */
export async function findDrift(client: Client, deployed: Deployed | undefined): Promise<Drift> {
  const then = deployed?.fingerprint ?? {};
  if (then.query === undefined) return { api: false, durable: false, isApiUnknown: false };
  const now = await readFingerprint(client);
  const differs = (scope: "api" | "durable") =>
    then.query === now.query && then[scope] !== undefined && then[scope] !== now[scope];
  const isApiUnknown = then.query !== now.query || then.api === undefined;
  return { api: differs("api"), durable: differs("durable"), isApiUnknown };
}

/** Records the catalog as the deployment left it, unless it is already recorded in the same way. */
export async function recordFingerprint(client: Client): Promise<void> {
  const deployed = await readDeployed(client);
  if (deployed === undefined) return;
  const now = await readFingerprint(client);
  const { api, query } = deployed.fingerprint;
  if (api !== undefined && query === now.query) return;
  await client.query("update deployment.api_schemas set fingerprint = $1 where id = $2", [
    JSON.stringify(now),
    deployed.id,
  ]);
}

/** Records a deployment, in its transaction. */
export async function recordDeployment(
  client: Client,
  { api, definitions }: DatabaseFiles,
  isPromise: boolean,
): Promise<void> {
  await client.query(
    `insert into deployment.api_schemas (sha256, is_promise, definitions, fingerprint)
     values ($1, $2, $3, '{}')`,
    [api.sha256, isPromise, JSON.stringify(definitions)],
  );
}
