import { createHash } from "node:crypto";
import type { Client } from "pg";
import { connect } from "../../service/connect.ts";
import { SqlFileError } from "../sql/describe-sql-error.ts";
import { splitStatements } from "../sql/split-statements.ts";
import { refuseHandMade } from "./apply-api.ts";
import {
  type CatalogRow,
  compareCatalogs,
  type ObjectChange,
  readCatalog,
  readFingerprint,
} from "./catalog.ts";
import { refuseOldServer } from "./check-server.ts";
import { type ContractChange, readServedContracts, refuseBrokenPromises } from "./contract.ts";
import {
  type DeploymentOptions,
  deployDatabase,
  listChanged,
  repositoryDirectory,
} from "./deploy-database.ts";
import { findDrift, readDeployed } from "./deployed.ts";
import { DeploymentRefused } from "./deployment-refused.ts";
import { findPendingMigrations, readApplied } from "./migrations.ts";
import { type DatabaseFiles, type Migration, readFiles } from "./read-files.ts";

/** What a deployment would do. */
export interface Plan {
  /** Migrations that would run, with their SQL. */
  migrations: { name: string; sql: string }[];
  /** What only the deployment can tell, because it depends on rows. */
  uncertain: string[];
  /** Files of `db/data_set` that have changed since the last deployment. */
  definitions: string[];
  /** Whether the API schemas would be rebuilt: a file differs, or they were changed by hand. */
  apiSchemasChanged: boolean;
  /** Objects that would differ. */
  changes: ObjectChange[];
  /** What clients would gain and lose, compared with what they were promised. */
  promises: ContractChange[];
  /** What was changed by hand: the difference between the database and a scratch build of the same files. */
  drift: ObjectChange[];
  /** Whether the deployment is refused without --accept-drift. */
  isDriftNew: boolean;
  /** Why the deployment would be refused or fail. */
  refusal?: string;
  /** Identifies this plan: it is another for another state of the database or of the files. */
  hash: string;
}

/**
 * Finds out what a deployment would do without being able to change the database: reads it in a read-only transaction, and
 * compares it with what `db` builds on a scratch server.
 *
 * @param scratchUrl an empty database on another server
 * @throws Error if the scratch server is the database's own, whose roles the files would change
 */
export async function planDeployment(
  databaseUrl: string,
  scratchUrl: string,
  options: DeploymentOptions = {},
): Promise<Plan> {
  const { directory = repositoryDirectory } = options;
  const client = await connect(databaseUrl, "db-deploy");
  const scratch = await connect(scratchUrl, "db-deploy");
  try {
    await refuseOldServer(client);
    await refuseSameServer(client, scratch);
    await client.query("begin isolation level repeatable read read only");
    const files = await readFiles(directory);
    const deployed = await readDeployed(client);
    const { api, durable } = await findDrift(client, deployed);
    const isDraftKept = options.promises === true && !deployed?.is_promise;
    const plan: Plan = {
      migrations: [],
      uncertain: [],
      definitions: listChanged(files.definitions, deployed?.definitions),
      apiSchemasChanged: api || deployed?.sha256 !== files.api.sha256 || isDraftKept,
      changes: [],
      promises: [],
      drift: [],
      isDriftNew: durable,
      hash: await hashPlan(client, files, options),
    };
    try {
      const pending = await findPendingMigrations(client, files.migrations, options);
      plan.migrations = pending.map(({ id, sql }) => ({ name: id, sql }));
      plan.uncertain = pending.flatMap(findUncertain);
      const build = async (onlyMigrations?: string[]) => {
        await deployDatabase(scratchUrl, {}, { directory, ...(onlyMigrations && { onlyMigrations }) });
        return await readCatalog(scratch);
      };
      await compare(plan, client, scratch, { files, pending, build, options });
      return plan;
    } catch (error) {
      if (!(error instanceof DeploymentRefused || error instanceof SqlFileError)) throw error;
      return { ...plan, refusal: error.message };
    }
  } finally {
    await client.end();
    await scratch.end();
  }
}

/**
 * Identifies the plan for this state of the database and of the files.
 *
 * @param client inside a transaction, or while no other deployment can run
 */
export async function hashPlan(
  client: Client,
  files: DatabaseFiles,
  { promises = false, rollsBack = false }: DeploymentOptions,
): Promise<string> {
  const { fingerprint, ...deployed } = (await readDeployed(client)) ?? {};
  const state = [await readApplied(client), deployed, await readFingerprint(client)];
  const wanted = [files.migrations.map(({ sha256 }) => sha256), files.api.sha256, files.definitions];
  const text = JSON.stringify([state, wanted, promises, rollsBack]);
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

interface Comparison {
  files: DatabaseFiles;
  pending: Migration[];
  /** Builds the files on the scratch server, or some migrations alone, and reads the result. */
  build: (onlyMigrations?: string[]) => Promise<CatalogRow[]>;
  options: DeploymentOptions;
}

/** Builds on the scratch server what the database should be, then what it would become, and completes the plan. */
async function compare(
  plan: Plan,
  client: Client,
  scratch: Client,
  { files, pending, build, options }: Comparison,
): Promise<void> {
  const applied = await readApplied(client);
  const isAhead = applied.some(({ name }) => !files.migrations.some(({ id }) => id === name));
  const now = await readCatalog(client);
  let was = now;
  if (applied.length > 0 && !isAhead) {
    was = await build(applied.map(({ name }) => name));
    const isComparable = ({ scope }: CatalogRow) =>
      scope === "durable" || (scope === "data_set" && plan.definitions.length === 0);
    plan.drift = compareCatalogs(was.filter(isComparable), now.filter(isComparable));
  }
  const schemas = files.api.versions.map(({ schema }) => schema);
  if (applied.length > 0) await refuseHandMade(client, schemas);
  if (pending.length === 0 && !plan.apiSchemasChanged) return;
  const will = await build();
  refuseCollisions(pending, was, now, will);
  const of = (rows: CatalogRow[], scope: string) => rows.filter((row) => row.scope === scope);
  plan.changes = [
    ...(isAhead ? [] : compareCatalogs(of(was, "durable"), of(will, "durable"))),
    ...compareCatalogs(of(now, "api"), of(will, "api")),
  ];
  plan.promises = await refuseBrokenPromises(client, await readServedContracts(scratch), options);
  refuseMissingColumns(now, will);
}

/** Refuses migrations that create what somebody has created by hand. */
function refuseCollisions(
  pending: Migration[],
  was: CatalogRow[],
  now: CatalogRow[],
  will: CatalogRow[],
): void {
  const namesIn = (rows: CatalogRow[]) =>
    rows.flatMap(({ object, scope, statement }) => {
      const [part] = /^.*?\b(index|constraint|trigger|policy|column) [^ :]+/i.exec(statement) ?? [];
      return scope === "durable" ? [part === undefined ? object : `${object}: ${part}`] : [];
    });
  const [before, there] = [new Set(namesIn(was)), new Set(namesIn(now))];
  const isTolerated = (name: string) =>
    pending.some(({ sql }) =>
      new RegExp(`if not exists [\\w.]*${name.split(/[ .]/).at(-1)}\\b`, "i").test(sql),
    );
  const names = [...new Set(namesIn(will))].filter(
    (name) => !before.has(name) && there.has(name) && !isTolerated(name),
  );
  if (names.length === 0) return;
  throw new DeploymentRefused(
    [
      "The migrations would fail, because somebody has created by hand what they create:",
      ...names.map((name) => `  ${name}`),
      "Drop it, and deploy again.",
    ].join("\n"),
  );
}

const dependsOnRows: [pattern: RegExp, what: string][] = [
  [/^create unique index/i, "fails if rows have equal values"],
  [/^alter table[\s\S]*\b(unique|primary key|exclude)\b/i, "fails if rows have equal values"],
  [/^alter table[\s\S]*\b(check|foreign key|references|set not null)\b/i, "fails if rows break it"],
  [/^alter table[\s\S]*\btype\b/i, "fails if a value does not fit the new type"],
  [/^do\b/i, "may look at rows"],
  [/^(insert|update|delete|merge|with|select)\b/i, "depends on the rows that it finds"],
];

/** The statements of a migration whose outcome depends on rows: a scratch server has none. */
function findUncertain(migration: Migration): string[] {
  return splitStatements(migration).flatMap(({ text, offset }) => {
    const what = dependsOnRows.find(([pattern]) => pattern.test(text))?.[1];
    if (what === undefined) return [];
    const line = migration.sql.slice(0, offset).split("\n").length;
    return [`${migration.name}:${line}: this statement ${what}.`];
  });
}

/** Refuses an API that reads columns which the published data set does not have. */
function refuseMissingColumns(now: CatalogRow[], will: CatalogRow[]): void {
  const published = new Set(now.map(({ object, statement }) => `${object} ${statement}`));
  // A first deployment publishes an empty data set.
  if (!now.some(({ object }) => object === "view dissemination.data_set")) return;
  const lines = will.flatMap(({ object, statement }) => {
    const [, name] = (object.startsWith("view dissemination.") && /^column ([^:]+):/.exec(statement)) || [];
    if (name === undefined || published.has(`${object} ${statement}`)) return [];
    const table = object.slice("view ".length);
    const reads = new RegExp(`\\b${name}\\b[\\s\\S]*FROM ${table};`);
    return will.flatMap((row) =>
      row.scope === "api" && reads.test(row.statement)
        ? [`  ${row.object} reads ${table}.${statement.slice("column ".length)}`]
        : [],
    );
  });
  if (lines.length === 0) return;
  throw new DeploymentRefused(
    [
      "The published data set does not have columns that these views read:",
      ...lines,
      "Publish a data set that has them (npm run refresh), then deploy.",
    ].join("\n"),
  );
}

async function refuseSameServer(client: Client, scratch: Client): Promise<void> {
  const identify = "select system_identifier::text as server from pg_control_system()";
  const [one, other] = await Promise.all(
    [client, scratch].map(async (each) => (await each.query<{ server: string }>(identify)).rows[0]?.server),
  );
  if (one === other) {
    throw new Error(
      "SCRATCH_URL names the server that the plan is for. Roles belong to a whole server, so a plan could change them. Name another server, or none.",
    );
  }
}
