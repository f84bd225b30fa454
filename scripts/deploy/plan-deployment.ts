import path from "node:path";
import type { Client } from "pg";
import { connect } from "../../service/connect.ts";
import { SqlFileError } from "../sql/describe-sql-error.ts";
import { readDeployedHash } from "./apply-api-schemas.ts";
import { findPendingMigrations } from "./check-migrations.ts";
import { refuseOldServer } from "./check-server.ts";
import { compareCatalogues, type ObjectChange } from "./compare-catalogues.ts";
import { type ContractChange, compareContracts, describeBreaks } from "./compare-contracts.ts";
import { readRecordedContracts, readServedContracts } from "./contract.ts";
import { type DeploymentOptions, deployDatabase, readApi, repositoryDirectory } from "./deploy-database.ts";
import { type Drift, findDrift } from "./find-drift.ts";
import { findMissingColumns } from "./find-missing-columns.ts";
import { type CataloguePart, keyOf, readCatalogue, readCatalogueQueries } from "./read-catalogue.ts";
import { readMigrations } from "./read-migrations.ts";
import { DeploymentRefused, refuseEarlyRemoval } from "./refuse-early-removal.ts";
import { refuseOlderApi } from "./refuse-older-api.ts";

/** What a deployment would do. */
export interface Plan {
  /** Migrations that would run, with their SQL. */
  migrations: { name: string; sql: string }[];
  /** Whether the API schemas would be rebuilt: a file differs, if only in a space. */
  apiSchemasChanged: boolean;
  /** Objects that would differ. */
  changes: ObjectChange[];
  /** What would be served beyond what the last deployment promised. */
  additions: ContractChange[];
  /** What has changed in the database, other than by a deployment. */
  drift: Drift;
  /** Why the deployment would be refused or fail. */
  refusal?: string;
}

/**
 * Finds out what a deployment would do, without any way to change the database: it is read in a read-only
 * transaction, and compared with what `db` makes on a scratch server.
 *
 * @param scratchUrl an empty database on another server
 * @throws Error when the scratch server is the database's own, whose roles the files would change
 */
export async function planDeployment(
  databaseUrl: string,
  scratchUrl: string,
  options: DeploymentOptions = {},
): Promise<Plan> {
  const { directory = repositoryDirectory, apiDirectory = directory } = options;
  const client = await connect(databaseUrl, "db-deploy");
  const scratchClient = await connect(scratchUrl, "db-deploy");
  try {
    await refuseOldServer(client);
    await refuseSameServer(client, scratchClient);
    await client.query("begin isolation level repeatable read read only");
    const migrations =
      apiDirectory === directory ? await readMigrations(path.join(directory, "migrations")) : [];
    const pending = await findPendingMigrations(client, migrations, options);
    const { files } = await readApi(apiDirectory);
    const plan: Plan = {
      migrations: pending.map(({ name, sql }) => ({ name, sql })),
      apiSchemasChanged: (await readDeployedHash(client)) !== files.sha256,
      changes: [],
      additions: [],
      drift: await findDrift(client),
    };
    try {
      await refuseOlderApi(client, files.sha256, options);
      const schemas = files.files.map(({ path: file }) => file.split("/")[0] ?? "");
      if (apiDirectory === directory) await refuseEarlyRemoval(client, [...new Set(schemas)]);
      if (plan.migrations.length === 0 && !plan.apiSchemasChanged) return plan;
      await deployDatabase(scratchUrl, {}, { directory, withoutApi: true });
      await deployDatabase(scratchUrl, {}, { directory, apiDirectory });
      return { ...plan, ...(await compareWith(client, scratchClient, directory, plan.drift)) };
    } catch (error) {
      if (error instanceof DeploymentRefused || error instanceof SqlFileError)
        return { ...plan, refusal: error.message };
      throw error;
    }
  } finally {
    await client.end();
    await scratchClient.end();
  }
}

async function compareWith(
  client: Client,
  scratch: Client,
  directory: string,
  drift: Drift,
): Promise<Pick<Plan, "changes" | "additions"> & { refusal?: string }> {
  const served = await readServedContracts(scratch);
  const additions = compareContracts(await readRecordedContracts(client), served);
  const refusal = describeBreaks(additions) ?? (await findMissingColumns(client, scratch));
  const queries = await readCatalogueQueries(directory);
  const before = undoDrift(await readCatalogue(client, queries), drift).filter(isDeployed);
  const after = (await readCatalogue(scratch, queries)).filter(isDeployed);
  return {
    changes: compareCatalogues(before, after),
    additions: additions.filter(({ breaks }) => breaks === undefined),
    ...(refusal !== undefined && { refusal }),
  };
}

// What a data set is made of changes when one is published.
const isDeployed = ({ scope }: CataloguePart) => scope !== "data_set";

/** The catalogue as the last deployment left it. */
function undoDrift(now: CataloguePart[], { api, repairable, lost, foreign }: Drift): CataloguePart[] {
  const parts = new Map(now.map((part) => [keyOf(part), part]));
  for (const { before, after } of [...api, ...repairable, ...lost, ...foreign]) {
    if (before !== undefined) parts.set(keyOf(before), before);
    else if (after !== undefined) parts.delete(keyOf(after));
  }
  return [...parts.values()];
}

async function refuseSameServer(client: Client, scratch: Client): Promise<void> {
  const identify = "select system_identifier::text as server from pg_control_system()";
  const [one, other] = await Promise.all(
    [client, scratch].map(async (each) => (await each.query<{ server: string }>(identify)).rows[0]?.server),
  );
  if (one === other) {
    throw new Error(
      "SCRATCH_URL names the server that the plan is for. Roles are of a whole server, so a plan could change them: name another, or none.",
    );
  }
}
