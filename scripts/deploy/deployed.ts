import type { Client } from "pg";
import {
  type CatalogRow,
  type Fingerprint,
  fingerprintCatalog,
  keepLasting,
  readCatalog,
} from "./catalog.ts";
import type { DatabaseFiles } from "./read-files.ts";
import type { Commit, Release } from "./release.ts";

/** The record of the last deployment (deployment.api_schemas). */
export interface Deployed {
  id: string;
  sha256: string;
  is_promise: boolean;
  fingerprint: Fingerprint;
  /** The objects that migrations created, and objects outside, if the fingerprint is known. */
  durable_objects: CatalogRow[] | null;
  commit: Commit | null;
  doubt: string | null;
  /** The commit of the last deployment whose commit is known. */
  last_commit: Commit | null;
}

/** Reads the last deployment, if there was one. */
export async function readDeployed(client: Client): Promise<Deployed | undefined> {
  const { rows: tables } = await client.query("select to_regclass('deployment.api_schemas') as found");
  if (tables[0].found === null) return undefined;
  const { rows } = await client.query<Deployed>(
    `select id, sha256, is_promise, fingerprint, durable_objects, commit, doubt,
       (select commit from deployment.api_schemas where commit is not null order by id desc limit 1) as last_commit
     from deployment.api_schemas order by id desc limit 1`,
  );
  return rows[0];
}

type Comparison = "same" | "changed" | "unknown";

/**
 * Whether a part of the database was changed by hand since the last deployment. That is unknown if the deployment was
 * interrupted, if another catalog.sql described the part, or after a restore.
 */
type Drift = Record<"api" | "durable", Comparison>;

export const driftUnknown =
  "This deployment cannot check for changes made by hand since the last one, because db/deployment/catalog.sql has changed, the last one was interrupted, or a backup was restored. To find them, run npm run db:deploy -- --plan, which compares the database with a new one.";

/** Finds out whether someone changed the API or durable objects by hand. */
export async function findDrift(client: Client, deployed: Deployed | undefined): Promise<Drift> {
  if (deployed === undefined) return { api: "same", durable: "same" };
  const then = deployed.fingerprint;
  const now = fingerprintCatalog(await readCatalog(client));
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
  const catalog = await readCatalog(client);
  const now = fingerprintCatalog(catalog);
  const { api, query } = deployed.fingerprint;
  if (api !== undefined && query === now.query) return;
  await client.query(
    `update deployment.api_schemas
     set fingerprint = case id when $1 then $2::jsonb else fingerprint end, durable_objects = case id when $1 then $3::jsonb end
     where id = $1 or durable_objects is not null`,
    [deployed.id, now, JSON.stringify(keepLasting(catalog))],
  );
}

/** What a deployment did, as the history shows it. */
interface Done {
  migrations: string[];
  rebuilt_api: boolean;
  is_promise: boolean;
  is_rollback: boolean;
}

/** Records a deployment, in its transaction. */
export async function recordDeployment(
  client: Client,
  { sha256 }: DatabaseFiles,
  { migrations, rebuilt_api, is_promise, is_rollback }: Done,
  { commit, doubt }: Release = {},
): Promise<void> {
  await client.query(
    `insert into deployment.api_schemas
       (sha256, migrations, rebuilt_api, is_promise, is_rollback, commit, doubt)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [sha256, migrations, rebuilt_api, is_promise, is_rollback, commit, doubt],
  );
}

/** A row of the history. */
export interface PastDeployment extends Done {
  deployed_at: Date;
  deployed_by: string;
  commit: Commit | null;
  doubt: string | null;
}

/** Reads the history of deployments, the newest first. */
export async function readHistory(client: Client): Promise<PastDeployment[]> {
  if ((await readDeployed(client)) === undefined) return [];
  const { rows } = await client.query<PastDeployment>(
    `select deployed_at, deployed_by, commit, doubt, migrations, rebuilt_api, is_promise, is_rollback
     from deployment.api_schemas order by id desc`,
  );
  return rows;
}
