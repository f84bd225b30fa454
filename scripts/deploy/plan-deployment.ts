import { createHash } from "node:crypto";
import type { Client } from "pg";
import { connect } from "../../service/connect.ts";
import { SqlFileError } from "../sql/describe-sql-error.ts";
import { splitStatements } from "../sql/split-statements.ts";
import { refuseForeignSchemas } from "./apply-api.ts";
import {
  type CatalogPart,
  compareCatalogs,
  type ObjectChange,
  readCatalog,
  readFingerprint,
} from "./catalog.ts";
import { findPendingMigrations, readApplied } from "./check-migrations.ts";
import { refuseOldServer } from "./check-server.ts";
import { type ContractChange, readServedContracts } from "./contract.ts";
import {
  type DeploymentOptions,
  deployDatabase,
  listChanged,
  repositoryDirectory,
} from "./deploy-database.ts";
import { findDrift, readDeployed } from "./deployed.ts";
import { DeploymentRefused } from "./deployment-refused.ts";
import { findMissingColumns } from "./find-missing-columns.ts";
import { refuseBrokenPromises } from "./promises.ts";
import { type DatabaseFiles, type Migration, readFiles } from "./read-files.ts";

/** What a deployment would do. */
export interface Plan {
  /** Migrations that would run, with their SQL. */
  migrations: { name: string; sql: string }[];
  /** What only the deployment can tell, since it depends on rows. */
  uncertain: string[];
  /** Files of `db/data_set` that have changed since the last deployment: in effect with the next data set. */
  definitions: string[];
  /** Whether the API schemas would be rebuilt: a file differs, if only in a space, or somebody has changed them by hand. */
  apiSchemasChanged: boolean;
  /** Objects that would differ. */
  changes: ObjectChange[];
  /** What clients would gain and lose, against what they were promised. */
  promises: ContractChange[];
  /** What somebody has changed by hand: the difference between the database and a scratch build of the same files. */
  drift: ObjectChange[];
  /** Whether the deployment is refused without --accept-drift. */
  isDriftNew: boolean;
  /** Why the deployment would be refused or fail. */
  refusal?: string;
  /** Names this plan: that of another state of the database or of the files is another. */
  hash: string;
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
    const plan: Plan = {
      migrations: [],
      uncertain: [],
      definitions: listChanged(files.definitions, deployed?.definitions),
      apiSchemasChanged:
        api || deployed?.sha256 !== files.api.sha256 || (options.promises === true && !deployed.is_promise),
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
      await compare(plan, client, scratch, { ...options, directory }, { files, pending, scratchUrl });
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
 * The name of the plan for this state of the database and of the files.
 *
 * @param client inside a transaction, or with nobody else deploying
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

interface Known {
  files: DatabaseFiles;
  pending: Migration[];
  scratchUrl: string;
}

/** Builds on the scratch server what the database should be, then what it would be, and completes the plan. */
async function compare(
  plan: Plan,
  client: Client,
  scratch: Client,
  options: DeploymentOptions & { directory: string },
  { files, pending, scratchUrl }: Known,
): Promise<void> {
  const { directory } = options;
  const applied = await readApplied(client);
  const isAhead = applied.some(({ name }) => !files.migrations.some(({ id }) => id === name));
  const now = await readCatalog(client);
  let was = now;
  if (applied.length > 0 && !isAhead) {
    await deployDatabase(scratchUrl, {}, { directory, onlyMigrations: applied.map(({ name }) => name) });
    was = await readCatalog(scratch);
    const isSame = (part: CatalogPart) =>
      part.scope === "durable" || (part.scope === "data_set" && plan.definitions.length === 0);
    plan.drift = compareCatalogs(was.filter(isSame), now.filter(isSame));
  }
  await refuseForeignSchemas(
    client,
    files.api.versions.map(({ schema }) => schema),
  );
  if (pending.length === 0 && !plan.apiSchemasChanged) return;
  await deployDatabase(scratchUrl, {}, { directory });
  const will = await readCatalog(scratch);
  refuseCollisions(pending, was, now, will);
  const of = (parts: CatalogPart[], scope: string) => parts.filter((part) => part.scope === scope);
  plan.changes = [
    ...(isAhead ? [] : compareCatalogs(of(was, "durable"), of(will, "durable"))),
    ...compareCatalogs(of(now, "api"), of(will, "api")),
  ];
  plan.promises = await refuseBrokenPromises(client, await readServedContracts(scratch), options);
  const missing = await findMissingColumns(client, scratch);
  if (missing !== undefined) throw new DeploymentRefused(missing);
}

/** What a migration makes, and somebody has made by hand already. */
function refuseCollisions(
  pending: Migration[],
  was: CatalogPart[],
  now: CatalogPart[],
  will: CatalogPart[],
): void {
  const names = (parts: CatalogPart[]) =>
    new Set(
      parts
        .filter(
          ({ scope, part }) =>
            scope === "durable" && /^$|^(index|constraint|trigger|policy|column) /.test(part),
        )
        .map(({ object, part }) => `${object} ${part}`.trim()),
    );
  const [before, made, there] = [names(was), names(will), names(now)];
  const lines = [...made]
    .filter((name) => !before.has(name) && there.has(name))
    .flatMap((name) => {
      const short = name.replace(/\(.*/, "").split(/[ .]/).at(-1) ?? "";
      const migration = pending.find(({ sql }) => sql.includes(short));
      if (new RegExp(`if not exists [\\w.]*${short}\\b`, "i").test(migration?.sql ?? "")) return [];
      return [`  ${name}${migration === undefined ? "" : `, which ${migration.name} makes`}`];
    });
  if (lines.length === 0) return;
  throw new DeploymentRefused(
    [
      "Somebody has made by hand what the migrations make, so they would fail:",
      ...lines,
      "Drop it by hand, and deploy again.",
    ].join("\n"),
  );
}

const dependsOnRows: [pattern: RegExp, what: string][] = [
  [/^create unique index/i, "fails if rows have equal values"],
  [/^alter table[\s\S]*\b(unique|primary key|exclude)\b/i, "fails if rows have equal values"],
  [/^alter table[\s\S]*\b(check|foreign key|references|set not null)\b/i, "fails if rows break it"],
  [/^alter table[\s\S]*\btype\b/i, "fails if a value has no form in the new type"],
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
