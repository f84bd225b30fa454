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

type Comparison = "same" | "changed" | "unknown";

/**
 * Whether a part of the database was changed by hand since the last deployment. That is unknown if the deployment was
 * interrupted, if another catalog.sql described the part, after a restore, or if a publication has rebuilt the API.
 */
export type Drift = Record<"api" | "durable", Comparison>;

export const driftUnknown =
  "This deployment cannot check for changes made by hand since the last one, because db/deployment/catalog.sql has changed, the last one was interrupted, or a backup was restored. To find them, run npm run db:deploy -- --plan, which compares the database with a new one.";

/** Finds out whether someone changed the API or durable objects by hand. */
export async function findDrift(client: Client, deployed: Deployed | undefined): Promise<Drift> {
  if (deployed === undefined) return { api: "same", durable: "same" };
  const then = deployed.fingerprint;
  const now = await readFingerprint(client);
  const compare = (scope: keyof Drift): Comparison => {
    if (then.query !== now.query || then[scope] === undefined) return "unknown";
    return then[scope] === now[scope] ? "same" : "changed";
  };
  return { api: compare("api"), durable: compare("durable") };
}

/**
 * Clears the recorded catalog before a deployment changes the catalog. If the deployment is then killed, the next one does
 * not mistake the change for one made by hand. Does nothing before the first deployment.
 */
export async function forgetFingerprint(client: Client): Promise<void> {
  if ((await readDeployed(client)) === undefined) return;
  await client.query("update deployment.api_schemas set fingerprint = '{}' where fingerprint <> '{}'");
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
