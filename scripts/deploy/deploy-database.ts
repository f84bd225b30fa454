import path from "node:path";
import type { Client } from "pg";
import { connect } from "../../service/connect.ts";
import { loadDataSet } from "../refresh/load-data-set.ts";
import { keepSession } from "../sql/keep-session.ts";
import { applyApiSchemas, readDeployedHash } from "./apply-api-schemas.ts";
import { findPendingMigrations } from "./check-migrations.ts";
import { refuseMissingRights, refuseOldServer } from "./check-server.ts";
import { compareCatalogues, type ObjectChange } from "./compare-catalogues.ts";
import { readContracts } from "./contract.ts";
import { type Drift, forgetRecord, isDrifted, keepRecord, recordDeployment } from "./find-drift.ts";
import { lockDeployment } from "./lock-deployment.ts";
import { readApiFiles } from "./read-api-files.ts";
import { type CataloguePart, readCatalogue, readCatalogueQueries } from "./read-catalogue.ts";
import { readMigrations } from "./read-migrations.ts";
import { refuseOlderApi } from "./refuse-older-api.ts";
import { settleDrift } from "./repair-drift.ts";
import { runMigrations } from "./run-migrations.ts";
import { type LoginRole, setRolePasswords } from "./set-role-passwords.ts";

export const repositoryDirectory = path.resolve(import.meta.dirname, "../../db");

/** What a deployment did. */
export interface Deployment {
  migrations: string[];
  apiSchemasChanged: boolean;
  /** Objects of the API that differ from before. */
  changes: ObjectChange[];
}

export interface DeploymentOptions {
  /** Another directory than this repository's `db`. */
  directory?: string;
  /**
   * Where `api` and `contracts` are taken from in place of `directory`. Then no migration is run, and versions
   * that are not there stay as they are.
   */
  apiDirectory?: string;
  /** Whether to leave the API schemas alone. */
  withoutApi?: boolean;
  /** Whether to return what changed in the API. */
  compare?: boolean;
  /** Decides whether drift is repaired; without it, a deployment over drift is refused. */
  acceptsDrift?: (drift: Drift) => boolean | Promise<boolean>;
  /** Whether files of `db/api` may go back to what was deployed before. */
  rollsBackApi?: boolean;
  /** How long to wait for another deployment; without it, as long as that runs. */
  waitMilliseconds?: number;
  /** Is told of what takes long. */
  report?: (line: string) => void;
}

/**
 * Brings a database to the state of `db`: drift repaired if that is accepted, migrations, an empty data set where there
 * is none, passwords of the login roles that are given, then the API schemas. Changes nothing where nothing is to be
 * done. A second deployment at the same time waits for the first.
 *
 * @throws DriftFound where the database is not what the last deployment left, and nobody accepts that it is repaired;
 * DeploymentRefused, SqlFileError, PoolerRefused
 */
export async function deployDatabase(
  databaseUrl: string,
  passwords: Partial<Record<LoginRole, string>> = {},
  options: DeploymentOptions = {},
): Promise<Deployment> {
  const { directory = repositoryDirectory, apiDirectory = directory, report = () => {} } = options;
  const client = await connect(databaseUrl, "db-deploy");
  try {
    await refuseOldServer(client);
    await keepSession(client);
    await refuseMissingRights(client);
    await lockDeployment(client, report, options.waitMilliseconds);
    const api = await readApi(apiDirectory);
    await refuseOlderApi(client, api.files.sha256, options);
    const keepsOthers = apiDirectory !== directory;
    const migrationsDirectory = path.join(directory, "migrations");
    // Refuses a database with another history before anything is changed.
    const pending = keepsOthers
      ? []
      : await findPendingMigrations(client, await readMigrations(migrationsDirectory), options);
    const drift = await settleDrift(client, options.acceptsDrift ?? (() => false), report);
    if (pending.length > 0) await forgetRecord(client);
    const migrations = keepsOthers ? [] : await runMigrations(client, migrationsDirectory, report);
    await setRolePasswords(client, passwords);
    await publishEmptyDataSet(client, path.join(directory, "data_set"));
    if (options.withoutApi) return { migrations, apiSchemasChanged: false, changes: [] };
    const queries = await readCatalogueQueries(directory);
    if (
      migrations.length === 0 &&
      !isDrifted(drift) &&
      (await readDeployedHash(client)) === api.files.sha256
    ) {
      await keepRecord(client, queries, drift);
      return { migrations, apiSchemasChanged: false, changes: [] };
    }
    const before = options.compare ? await readServedParts(client, queries) : [];
    const isForced = drift.api.length > 0;
    let isApiDone = false;
    try {
      const apiSchemasChanged = await applyApiSchemas(
        client,
        { ...api, keepsOthers, isForced, foreign: drift.foreign },
        report,
      );
      isApiDone = true;
      const after = options.compare && apiSchemasChanged ? await readServedParts(client, queries) : before;
      return { migrations, apiSchemasChanged, changes: compareCatalogues(before, after) };
    } finally {
      // Where the API was refused, the migrations have run all the same.
      await recordDeployment(client, queries, drift, isApiDone);
    }
  } finally {
    await client.end();
  }
}

async function readServedParts(client: Client, queries: string[]): Promise<CataloguePart[]> {
  return (await readCatalogue(client, queries)).filter(({ scope }) => scope === "api");
}

/** The API as the files of a directory have it. */
export async function readApi(directory: string) {
  return {
    files: await readApiFiles(path.join(directory, "api")),
    contracts: await readContracts(path.join(directory, "contracts")),
  };
}

async function publishEmptyDataSet(client: Client, definitions: string): Promise<void> {
  const { rows } = await client.query("select to_regclass('dissemination.data_set') as view");
  if (rows[0].view !== null) return;
  await client.query("set role publisher");
  await loadDataSet(client, { source: "empty", files: [] }, { definitions });
  await client.query("reset role");
}
