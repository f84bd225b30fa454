import path from "node:path";
import { connect } from "../../service/connect.ts";
import { readDeployedHash, rebuildApiSchemas } from "./apply-api-schemas.ts";
import { compareCatalogues, type ObjectChange } from "./compare-catalogues.ts";
import { type ContractChange, compareContracts } from "./compare-contracts.ts";
import { readServedContracts } from "./contract.ts";
import { type DeploymentOptions, lockDeployment, readApi, repositoryDirectory } from "./deploy-database.ts";
import { describeSqlError, SqlFileError } from "./describe-sql-error.ts";
import type { ApiFile } from "./read-api-files.ts";
import { apiSchemaPattern, readCatalogue } from "./read-catalogue.ts";
import { DeploymentRefused } from "./refuse-early-removal.ts";
import { findPendingMigrations, readMigrations } from "./run-migrations.ts";
import { lockTimeoutMilliseconds, takeTurns } from "./take-turns.ts";

/** What a deployment would do. */
export interface Plan {
  /** Migrations that would run, with their SQL. */
  migrations: { name: string; sql: string }[];
  /** Whether the API schemas would be rebuilt: a file differs, if only in a space. */
  apiSchemasChanged: boolean;
  /** Objects of the API that would differ. */
  changes: ObjectChange[];
  /** What would be served beyond the contracts. */
  additions: ContractChange[];
  /** Why the deployment would be refused or fail. Then nothing would change but the migrations before the failure. */
  refusal?: string;
}

/**
 * Finds out what a deployment would do by doing it in a transaction that is rolled back. Requests wait for it as
 * they would for the deployment.
 */
export async function planDeployment(databaseUrl: string, options: DeploymentOptions = {}): Promise<Plan> {
  const { directory = repositoryDirectory, apiDirectory = directory, report = () => {} } = options;
  const client = await connect(databaseUrl, "db-deploy");
  try {
    await lockDeployment(client, report);
    const migrations =
      apiDirectory === directory ? await readMigrations(path.join(directory, "migrations")) : [];
    const pending = await findPendingMigrations(client, migrations);
    const api = { ...(await readApi(apiDirectory)), keepsOthers: apiDirectory !== directory };
    const plan: Plan = {
      migrations: pending.map(({ name, sql }) => ({ name, sql })),
      apiSchemasChanged: (await readDeployedHash(client)) !== api.files.sha256,
      changes: [],
      additions: [],
    };
    if (pending.length === 0 && !plan.apiSchemasChanged) return plan;
    const before = await readCatalogue(client, apiSchemaPattern);
    return await takeTurns(
      client,
      async () => {
        await client.query("begin");
        try {
          await client.query(`set local lock_timeout = '${lockTimeoutMilliseconds}ms'`);
          await client.query(
            "set local client_min_messages = warning; create schema if not exists deployment",
          );
          for (const { path: file, sql } of pending) {
            await client.query(sql).catch((error: unknown) => {
              throw describeSqlError(`db/${file}`, sql, error);
            });
          }
          const { rows } = await client.query("select to_regclass('dissemination.data_set') as found");
          // A first deployment would publish an empty data set before, in transactions of its own.
          if (rows[0].found === null) return { ...plan, changes: listFiles(api.files.files) };
          await rebuildApiSchemas(client, api);
          const changes = compareCatalogues(before, await readCatalogue(client, apiSchemaPattern));
          const additions = compareContracts(api.contracts, await readServedContracts(client));
          return { ...plan, changes, additions };
        } catch (error) {
          if (error instanceof DeploymentRefused) return { ...plan, refusal: error.message };
          if (error instanceof SqlFileError && !isLockTimeout(error))
            return { ...plan, refusal: error.message };
          throw error;
        } finally {
          await client.query("rollback");
        }
      },
      report,
    );
  } finally {
    await client.end();
  }
}

function isLockTimeout({ cause }: Error): boolean {
  const { code } = cause as { code?: string };
  return code === "55P03" || code === "40P01";
}

function listFiles(files: ApiFile[]): ObjectChange[] {
  return files.map(({ path: name }) => ({ change: "added", kind: "file", name, lines: [] }));
}
