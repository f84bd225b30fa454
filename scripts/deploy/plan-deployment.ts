import { createHash } from "node:crypto";
import type { Client } from "pg";
import { connect } from "../../shared/connect.ts";
import { describeChangedRights, LeaksFound } from "../sql/check-leaks.ts";
import { type ChangedRight, compareLines, readFacts } from "../sql/check-rights.ts";
import { SqlFileError } from "../sql/describe-sql-error.ts";
import { refuseHandMadeObjects } from "./apply-api.ts";
import { type CatalogRow, compareCatalogs, keepLasting, type ObjectChange, readCatalog } from "./catalog.ts";
import { refuseOldServer, refuseOtherCollation } from "./check-server.ts";
import { type ContractChange, readServedContracts } from "./contract.ts";
import { type DeploymentOptions, deployDatabase, findWork, repositoryDirectory } from "./deploy-database.ts";
import { DeploymentRefused } from "./deployment-refused.ts";
import { observeMigrations } from "./observe-migrations.ts";
import { refuseBrokenPromises } from "./promises.ts";
import { type DatabaseFiles, readFiles } from "./read-files.ts";

/** What a deployment would do. */
export interface Plan {
  /** Migrations that would run, with their SQL and the locks that each statement takes on existing tables. */
  migrations: { name: string; sql: string; effects: string[] }[];
  /** Whether the API schemas would be rebuilt. A deployment that changes anything rebuilds them. */
  apiSchemasChanged: boolean;
  /** Objects that would differ. */
  changes: ObjectChange[];
  /** Indexes of the data set that would be built or dropped. */
  indexes: string[];
  /** Columns that would be null until a refresh reads files that have them. */
  awaitedColumns: string[];
  /** What clients would gain and lose, compared with what they were promised. */
  promises: ContractChange[];
  /** Rights that the roles would lose (`- `) and gain (`+ `). */
  rights: string[];
  /** Rights that were changed by hand and that the deployment would reset. */
  changedRights: string[];
  /** Changes made by hand since the last deployment, which recorded what it left. */
  drift: ObjectChange[];
  /** Whether the deployment is refused without --accept-drift. */
  isDriftNew: boolean;
  /** Whether the deployment could not tell if there are changes made by hand since the last one, and so is not refused. */
  isDriftUnknown: boolean;
  /** Why the deployment would be refused or fail. */
  refusal?: string;
  /** Identifies this plan: a hash of the other fields, the files and the options. */
  hash: string;
}

/**
 * Finds out what a deployment would do, without changing the database: reads the database in a read-only transaction, and
 * compares it with a scratch database that is built from `db`. If nothing differs from the last deployment, none is built.
 *
 * @param createScratch creates an empty database on another server, and returns its URL
 * @throws Error if the scratch server is the database's own, whose roles the files would change
 */
export async function planDeployment(
  databaseUrl: string,
  createScratch: () => Promise<string>,
  options: DeploymentOptions = {},
): Promise<Plan> {
  const { directory = repositoryDirectory, rollsBack, promises } = options;
  const files = await readFiles(directory);
  const client = await connect(databaseUrl, "db-deploy");
  const plan: Plan = {
    migrations: [],
    apiSchemasChanged: false,
    changes: [],
    indexes: [],
    awaitedColumns: [],
    promises: [],
    rights: [],
    changedRights: [],
    drift: [],
    isDriftNew: false,
    isDriftUnknown: false,
    hash: "",
  };
  try {
    await refuseOldServer(client);
    await refuseOtherCollation(client, options.report ?? (() => {}));
    await client.query("begin isolation level repeatable read read only");
    await tryDeployment(plan, client, files, createScratch, options);
  } catch (error) {
    if (!(error instanceof DeploymentRefused || error instanceof LeaksFound || error instanceof SqlFileError))
      throw error;
    plan.refusal = error.message;
  } finally {
    await client.end();
  }
  const subject = [plan, files.sha256, rollsBack, promises];
  plan.hash = createHash("sha256").update(JSON.stringify(subject)).digest("hex").slice(0, 16);
  return plan;
}

/** Compares the database with its last deployment and with a scratch database, and completes the plan. */
async function tryDeployment(
  plan: Plan,
  client: Client,
  files: DatabaseFiles,
  createScratch: () => Promise<string>,
  options: DeploymentOptions,
): Promise<void> {
  const { directory = repositoryDirectory } = options;
  const { pending, newer, deployed, drift, changedRights, isOutdated, indexes } = await findWork(
    client,
    files,
    options,
  );
  plan.migrations = pending.map(({ id, sql }) => ({ name: id, sql, effects: [] }));
  plan.apiSchemasChanged = isOutdated;
  plan.isDriftNew = drift.durable === "changed";
  plan.isDriftUnknown = drift.durable === "unknown";
  plan.indexes = indexes.map(({ schema_name, name }) => `${schema_name}.${name}`);
  const current = await readCatalog(client);
  const durable = keepLasting(current);
  // An index is not valid if a migration without a transaction has failed.
  const left = (plan.isDriftNew ? deployed?.durable_objects : undefined) ?? durable;
  plan.drift = compareCatalogs(
    left.filter(({ statement }) => !statement.endsWith("-- invalid")),
    durable,
  );
  if (deployed) await refuseHandMadeObjects(client, files.api);
  plan.changedRights = refuseChangedRights(changedRights, files.rights);
  if (!isOutdated && !plan.isDriftUnknown) return;
  const scratchUrl = await createScratch();
  const scratch = await connect(scratchUrl, "db-deploy");
  try {
    await refuseSameServer(client, scratch);
    const { awaitedColumns } = await deployDatabase(scratchUrl, {}, { directory });
    const built = await readCatalog(scratch);
    if (deployed && pending.length > 0) {
      const effects = await observeMigrations(await createScratch(), files, pending);
      for (const migration of plan.migrations) migration.effects = effects.get(migration.name) ?? [];
    }
    // Newer migrations may have given rights that this release does not list.
    if (deployed && newer.length === 0) plan.rights = compareLines(await readFacts(client), files.rights);
    const isAhead = newer.length > 0;
    if (plan.isDriftUnknown && pending.length === 0 && !isAhead)
      plan.drift = compareCatalogs(keepLasting(built), durable);
    if (!isOutdated) return;
    if (isAhead) plan.indexes = await listOtherIndexes(client, scratch);
    const before = plan.isDriftUnknown ? durable : (deployed?.durable_objects ?? durable);
    const api = compareCatalogs(select(current, "api"), select(built, "api"));
    plan.changes = isAhead
      ? // What newer migrations made stays, and the views of dissemination have all columns of their tables.
        api.filter(({ object }) => !object.startsWith("view dissemination."))
      : [...compareCatalogs(select(before, "durable"), select(built, "durable")), ...api];
    const added = plan.changes.flatMap(({ lines }) => lines);
    plan.awaitedColumns = awaitedColumns.filter((name) => {
      const [table, column] = name.split(".");
      return added.some((line) => line.startsWith(`+ alter table disclosed.${table} add column ${column} `));
    });
    if (deployed)
      plan.promises = await refuseBrokenPromises(client, await readServedContracts(scratch), options);
  } finally {
    await scratch.end();
  }
}

/**
 * Refuses rights that were changed by hand, unless the deployment sets them anew, or its list has the change. Returns those that
 * it sets anew.
 */
function refuseChangedRights(changed: ChangedRight[], listed: string[]): string[] {
  const unlisted = changed.filter(({ fact, is_missing }) => listed.includes(fact) === is_missing);
  const lasting = unlisted.filter(({ is_replaced }) => !is_replaced);
  if (lasting.length > 0) throw new LeaksFound(describeChangedRights(lasting.map(({ leak }) => leak)));
  return unlisted.map(({ leak }) => leak);
}

/** The indexes that only one of two databases has recorded, or that differ. */
async function listOtherIndexes(client: Client, scratch: Client): Promise<string[]> {
  const read = async (from: Client) => {
    const sql =
      "select concat_ws(' ', 'disclosed.' || name, table_name, definition) as line from data_set.indexes";
    return (await from.query<{ line: string }>(sql)).rows.map(({ line }) => line);
  };
  const names = compareLines(await read(client), await read(scratch)).map((line) => line.split(" ")[1] ?? "");
  return [...new Set(names)];
}

const select = (rows: CatalogRow[], scope: CatalogRow["scope"]) => rows.filter((row) => row.scope === scope);

async function refuseSameServer(client: Client, scratch: Client): Promise<void> {
  const sql = "select system_identifier::text as server from pg_control_system()";
  const [one, other] = [await client.query(sql), await scratch.query(sql)];
  if (one.rows[0].server === other.rows[0].server) {
    throw new Error(
      "SCRATCH_URL points to the server that the plan is for. All databases of a server share its roles, so planning there could change them. Set SCRATCH_URL to another server, or unset it.",
    );
  }
}
