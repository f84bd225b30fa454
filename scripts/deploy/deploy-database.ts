import path from "node:path";
import type { Client } from "pg";
import { connect } from "../../service/connect.ts";
import { keepSession } from "../sql/keep-session.ts";
import { applyApi } from "./apply-api.ts";
import { findPendingMigrations } from "./check-migrations.ts";
import { refuseBrokenRules } from "./check-rules.ts";
import { refuseMissingRights, refuseOldServer } from "./check-server.ts";
import { type ContractChange, readServedContracts } from "./contract.ts";
import {
  clearFingerprint,
  type Deployed,
  findDrift,
  readDeployed,
  recordDeployment,
  recordFingerprint,
} from "./deployed.ts";
import { DeploymentRefused } from "./deployment-refused.ts";
import { lockDeployment } from "./lock-deployment.ts";
import { refuseBrokenPromises } from "./promises.ts";
import { publishEmptyDataSet } from "./publish-empty-data-set.ts";
import { type DatabaseFiles, readFiles } from "./read-files.ts";
import { refuseLeaks } from "./refuse-leaks.ts";
import { runMigration } from "./run-migrations.ts";
import { type LoginRole, setRolePasswords } from "./set-role-passwords.ts";
import { inShortTurns } from "./take-turns.ts";

export const repositoryDirectory = path.resolve(import.meta.dirname, "../../db");

/** What a deployment did. */
export interface Deployment {
  /** Names of the migrations that ran. */
  migrations: string[];
  apiSchemasChanged: boolean;
  /** What clients are served that they were not, and what they are not any more. */
  changes: ContractChange[];
  /** Files of `db/data_set` that have changed since the last deployment. */
  definitions: string[];
}

export interface DeploymentOptions {
  /** Another directory than this repository's `db`. */
  directory?: string;
  /** Whether clients may rely on what this deployment serves. Without it, the deployment is a draft. */
  promises?: boolean;
  /** Whether promises may be broken, and migrations be there that the files do not have. */
  rollsBack?: boolean;
  /** Decides whether to go on although somebody has changed the database by hand; without it, nothing is deployed. */
  acceptsDrift?: () => boolean | Promise<boolean>;
  /** Refuses by throwing, once no other deployment can come between. */
  confirm?: (client: Client) => Promise<void>;
  /** The names of the only migrations to run; then the API schemas are left alone. */
  onlyMigrations?: string[];
  /** How long to wait for another deployment; without it, as long as that runs. */
  waitMilliseconds?: number;
  /** Is told of what takes long, and of what a person should know. */
  report?: (line: string) => void;
}

/** Somebody has changed the database by hand since the last deployment, and nobody has accepted that. */
export class DriftFound extends DeploymentRefused {
  override name = "DriftFound";
}

/**
 * Brings a database to the state of `db`: migrations, passwords of the login roles that are given, an empty data set where
 * there is none, then the API schemas. Changes nothing where nothing is to be done. Each step is a transaction that ends with
 * the question whether anything leaks, and is refused whole. A second deployment at the same time waits for the first.
 *
 * @throws DeploymentRefused, DriftFound, SqlFileError, PoolerRefused; those of later steps say which earlier ones stay
 */
export async function deployDatabase(
  databaseUrl: string,
  passwords: Partial<Record<LoginRole, string>> = {},
  options: DeploymentOptions = {},
): Promise<Deployment> {
  const { directory = repositoryDirectory, report = () => {} } = options;
  const files = await readFiles(directory);
  const client = await connect(databaseUrl, "db-deploy");
  const done: string[] = [];
  try {
    await refuseOldServer(client);
    await keepSession(client);
    await refuseMissingRights(client);
    await lockDeployment(client, report, options.waitMilliseconds);
    await options.confirm?.(client);
    const { onlyMigrations } = options;
    const pending = (await findPendingMigrations(client, files.migrations, options)).filter(
      ({ id }) => onlyMigrations?.includes(id) ?? true,
    );
    const deployed = await readDeployed(client);
    const drift = await findDrift(client, deployed);
    if (drift.durable && !(await options.acceptsDrift?.())) throw new DriftFound(driftMessage);
    if (drift.api) report("The API schemas were changed by hand. They are rebuilt from db/api.");

    // What is accepted is no drift to the next deployment, nor is what this one changes before it is killed.
    if (pending.length > 0 || drift.durable) await clearFingerprint(client);
    for (const migration of pending) {
      await runMigration(client, migration, files.question, report);
      done.push(migration.id);
    }
    await setRolePasswords(client, passwords);
    await publishEmptyDataSet(client, files, report);
    const isCurrent = pending.length === 0 && !drift.api && isUpToDate(deployed, files, options);
    const isRebuilt = !isCurrent && onlyMigrations === undefined;
    const changes = isRebuilt
      ? await inShortTurns(client, () => rebuildApi(client, files, options), report)
      : [];
    // What was done by hand, or by a migration without a transaction, may leak where nothing is rebuilt.
    if (!isRebuilt && onlyMigrations === undefined) {
      await inShortTurns(client, () => refuseLeaks(client, files.question, true), report);
    }
    // Outside of the transaction, for which requests wait. For `GET /`, PostgREST joins the API's functions to all others:
    // ten times as slow if the planner expects one.
    if (isRebuilt) await client.query("analyze pg_catalog.pg_proc");
    await recordFingerprint(client);
    return {
      migrations: done,
      apiSchemasChanged: isRebuilt,
      changes,
      definitions: isRebuilt ? listChanged(files.definitions, deployed?.definitions) : [],
    };
  } catch (error) {
    if (done.length === 0) throw error;
    // What ran is no drift. Where the connection is gone, nothing is known, and nothing is said.
    await recordFingerprint(client).catch(() => {});
    throw describeDone(error, done);
  } finally {
    await client.end();
  }
}

/** Everything about the API, in the transaction of the caller: files, promises, record, and the question whether it leaks. */
export async function rebuildApi(
  client: Client,
  files: DatabaseFiles,
  options: DeploymentOptions,
): Promise<ContractChange[]> {
  await applyApi(client, files.api);
  const served = await readServedContracts(client);
  const changes = await refuseBrokenPromises(client, served, options);
  await refuseBrokenRules(client);
  await recordDeployment(client, files, served, options.promises === true);
  await refuseLeaks(client, files.question);
  return changes;
}

function isUpToDate(
  deployed: Deployed | undefined,
  { api, definitions }: DatabaseFiles,
  { promises = false }: DeploymentOptions,
): boolean {
  return (
    deployed?.sha256 === api.sha256 &&
    (deployed.is_promise || !promises) &&
    listChanged(definitions, deployed.definitions).length === 0
  );
}

/** The files that differ, in the order of their names. */
export function listChanged(now: Record<string, string>, before: Record<string, string> = now): string[] {
  const names = [...new Set([...Object.keys(now), ...Object.keys(before)])].sort();
  return names.filter((name) => now[name] !== before[name]);
}

const driftMessage = [
  "Nothing was deployed: somebody has changed this database by hand since the last deployment.",
  "npm run db:deploy -- --plan lists what. To keep a change, write it as a migration; to undo it, run the statement that the plan",
  "shows. To deploy although there is drift: npm run db:deploy -- --accept-drift",
].join("\n");

/** Each step is a transaction of its own, so those before the one that failed stay. */
function describeDone(error: unknown, done: string[]): unknown {
  if (!(error instanceof Error)) return error;
  error.message = [
    error.message,
    `${done.length === 1 ? "This migration" : "These migrations"} ran before and stay${done.length === 1 ? "s" : ""}: ${done.join(", ")}. The API is served as before.`,
  ].join("\n");
  return error;
}
