import { createHash } from "node:crypto";
import type { Client } from "pg";
import { connect } from "../../service/connect.ts";
import { SqlFileError } from "../sql/describe-sql-error.ts";
import { refuseHandMadeObjects } from "./apply-api.ts";
import { type CatalogRow, compareCatalogs, type ObjectChange, readCatalog } from "./catalog.ts";
import { refuseOldServer } from "./check-server.ts";
import { type ContractChange, readServedContracts, refuseBrokenPromises } from "./contract.ts";
import { type DeploymentOptions, deployDatabase, findWork, repositoryDirectory } from "./deploy-database.ts";
import { DeploymentRefused } from "./deployment-refused.ts";
import { readAppliedMigrations } from "./migrations.ts";
import { type DatabaseFiles, type Migration, readFiles } from "./read-files.ts";

/** What a deployment would do. */
export interface Plan {
  /** Migrations that would run, with their SQL. */
  migrations: { name: string; sql: string }[];
  /** What only the deployment can show, because it depends on rows. */
  uncertain: string[];
  /** Files of `db/data_set` that have changed since the last deployment. */
  definitions: string[];
  /** Whether the API schemas would be rebuilt. A deployment that changes anything rebuilds them. */
  apiSchemasChanged: boolean;
  /** Objects that would differ. */
  changes: ObjectChange[];
  /** What clients would gain and lose, compared with what they were promised. */
  promises: ContractChange[];
  /** Changes made by hand: the difference between the database and a scratch build of the same files. */
  drift: ObjectChange[];
  /** Whether the deployment is refused without --accept-drift. */
  isDriftNew: boolean;
  /** Why the deployment would be refused or fail. */
  refusal?: string;
  /** Identifies this plan: a hash of the other fields, the files and the options. */
  hash: string;
}

/**
 * Finds out what a deployment would do, without changing the database: reads the database in a read-only transaction, and
 * compares it with a scratch server that is built from `db`.
 *
 * @param scratchUrl an empty database on another server
 * @throws Error if the scratch server is the database's own, whose roles the files would change
 */
export async function planDeployment(
  databaseUrl: string,
  scratchUrl: string,
  options: DeploymentOptions = {},
): Promise<Plan> {
  const { directory = repositoryDirectory, rollsBack, promises } = options;
  const files = await readFiles(directory);
  const client = await connect(databaseUrl, "db-deploy");
  const scratch = await connect(scratchUrl, "db-deploy");
  const build = async (onlyMigrations?: string[]) => {
    await deployDatabase(scratchUrl, {}, { directory, onlyMigrations });
    return await readCatalog(scratch);
  };
  const plan: Plan = {
    migrations: [],
    uncertain: [],
    definitions: [],
    apiSchemasChanged: false,
    changes: [],
    promises: [],
    drift: [],
    isDriftNew: false,
    hash: "",
  };
  try {
    await refuseOldServer(client);
    await refuseSameServer(client, scratch);
    await client.query("begin isolation level repeatable read read only");
    await tryDeployment(plan, client, scratch, { files, options, build });
  } catch (error) {
    if (!(error instanceof DeploymentRefused || error instanceof SqlFileError)) throw error;
    plan.refusal = error.message;
  } finally {
    await client.end();
    await scratch.end();
  }
  const subject = [plan, files.api.sha256, files.definitions, rollsBack, promises];
  plan.hash = createHash("sha256").update(JSON.stringify(subject)).digest("hex").slice(0, 16);
  return plan;
}

interface Trial {
  files: DatabaseFiles;
  options: DeploymentOptions;
  /** Deploys on the scratch server. */
  build: (onlyMigrations?: string[]) => Promise<CatalogRow[]>;
}

/** Deploys first the database's current state on the scratch server, then the files, and completes the plan. */
async function tryDeployment(
  plan: Plan,
  client: Client,
  scratch: Client,
  { files, options, build }: Trial,
): Promise<void> {
  const { pending, deployed, definitions, drift, isOutdated } = await findWork(client, files, options);
  plan.migrations = pending.map(({ id, sql }) => ({ name: id, sql }));
  plan.uncertain = pending.flatMap(findUncertain);
  plan.definitions = definitions;
  plan.apiSchemasChanged = isOutdated;
  plan.isDriftNew = drift.durable;
  const applied = (await readAppliedMigrations(client)).map(({ name }) => name);
  const isAhead = applied.some((name) => !files.migrations.some(({ id }) => id === name));
  const now = await readCatalog(client);
  let was = now;
  if (applied.length > 0) {
    was = await build(applied);
    const isComparable = ({ scope }: CatalogRow) =>
      scope === "durable" || (scope === "data_set" && definitions.length === 0);
    if (!isAhead) plan.drift = compareCatalogs(was.filter(isComparable), now.filter(isComparable));
    await refuseHandMadeObjects(client, files.api);
  }
  if (!isOutdated) return;
  if (applied.length > 0) {
    const differences = [...(isAhead ? [] : describeDurable(was, now)), ...describeColumns(was, now)];
    for (const statement of differences) {
      await scratch.query(statement).catch((error: Error) => {
        plan.uncertain.push(
          `The plan may be incomplete, because this part of the database could not be copied to the scratch server: ${statement} (${error.message})`,
        );
      });
    }
    was = await readCatalog(scratch);
  }
  const will = await build();
  const of = (rows: CatalogRow[], scope: string) => rows.filter((row) => row.scope === scope);
  plan.changes = [
    ...compareCatalogs(of(was, "durable"), of(will, "durable")),
    ...compareCatalogs(of(now, "api"), of(will, "api")),
  ];
  if (deployed)
    plan.promises = await refuseBrokenPromises(client, await readServedContracts(scratch), options);
}

/** Changes made by hand, to repeat on the scratch server. Without roles, which belong to the whole server. */
function describeDurable(was: CatalogRow[], now: CatalogRow[]): string[] {
  const changes = compareCatalogs(now, was).filter(({ scope }) => scope === "durable");
  return changes.flatMap(({ object, undo }) => (object.startsWith("role ") ? [] : undo));
}

/** Hides the columns that the published data set lacks, so that API files see the same columns as in the database. */
function describeColumns(was: CatalogRow[], now: CatalogRow[]): string[] {
  const columnsOf = (rows: CatalogRow[]) =>
    rows.flatMap(({ object, statement }) => {
      const [, column] = /^column ([^:]+):/.exec(statement) ?? [];
      return object.startsWith("view dissemination.") && column ? [`${object} rename column ${column}`] : [];
    });
  const published = new Set(columnsOf(now));
  const lacking = columnsOf(was).filter((column) => !published.has(column));
  return lacking.map((column, index) => `alter ${column} to not_published_${index}`);
}

const dependsOnRows: [pattern: RegExp, what: string][] = [
  [/^create unique index/gim, "fails if rows have duplicate values"],
  [/^alter table[^;]*\b(unique|primary key|exclude)\b/gim, "fails if rows have duplicate values"],
  [/^alter table[^;]*\b(check|foreign key|references|set not null)\b/gim, "fails if rows break its rule"],
  [/^alter table[^;]*\btype\b/gim, "fails if a value does not fit the new type"],
  [/^do\b/gim, "may depend on rows"],
  [/^(insert|update|delete|merge|with \w|select)\b/gim, "depends on the rows that it finds"],
];

/** The statements of a migration whose outcome depends on rows, which a scratch server does not have. */
function findUncertain({ name, sql }: Migration): string[] {
  return dependsOnRows.flatMap(([pattern, what]) =>
    [...sql.matchAll(pattern)].map(
      ({ index }) => `${name}:${sql.slice(0, index).split("\n").length}: this statement ${what}.`,
    ),
  );
}

async function refuseSameServer(client: Client, scratch: Client): Promise<void> {
  const sql = "select system_identifier::text as server from pg_control_system()";
  const [one, other] = [await client.query(sql), await scratch.query(sql)];
  if (one.rows[0].server === other.rows[0].server) {
    throw new Error(
      "SCRATCH_URL points to the server that the plan is for. All databases of a server share its roles, so planning there could change them. Set SCRATCH_URL to another server, or unset it.",
    );
  }
}
