import { createHash } from "node:crypto";
import type { Client } from "pg";
import { connect } from "../../shared/connect.ts";
import { SqlFileError } from "../sql/describe-sql-error.ts";
import { refuseHandMadeObjects } from "./apply-api.ts";
import { type CatalogRow, compareCatalogs, type ObjectChange, readCatalog } from "./catalog.ts";
import { refuseOldServer, refuseOtherCollation } from "./check-server.ts";
import { type ContractChange, readServedContracts } from "./contract.ts";
import { type DeploymentOptions, deployDatabase, findWork, repositoryDirectory } from "./deploy-database.ts";
import { DeploymentRefused } from "./deployment-refused.ts";
import { readAppliedMigrations } from "./migrations.ts";
import { refuseBrokenPromises } from "./promises.ts";
import { type DatabaseFiles, type Migration, readFiles } from "./read-files.ts";

/** What a deployment would do. */
export interface Plan {
  /** Migrations that would run, with their SQL. */
  migrations: { name: string; sql: string }[];
  /** What only the deployment can show, because it depends on rows. */
  uncertain: string[];
  /** Files of `db/data_set` that await the next refresh: the live data set was not built from them. */
  definitions: string[];
  /** Whether the API schemas would be rebuilt. A deployment that changes anything rebuilds them. */
  apiSchemasChanged: boolean;
  /** Objects that would differ. */
  changes: ObjectChange[];
  /** API objects that the next refresh would change, because columns have other types. */
  refreshChanges: ObjectChange[];
  /** What clients would gain and lose, compared with what they were promised. */
  promises: ContractChange[];
  /** Whether clients would be promised nothing yet, because the next refresh changes types of served columns. */
  promiseAwaitsRefresh: boolean;
  /** Changes made by hand: the difference between the database and a scratch build of the same files. */
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
    refreshChanges: [],
    promises: [],
    promiseAwaitsRefresh: false,
    drift: [],
    isDriftNew: false,
    isDriftUnknown: false,
    hash: "",
  };
  try {
    await refuseOldServer(client);
    await refuseOtherCollation(client, options.report ?? (() => {}));
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
  /** Deploys on the scratch server, and reads its catalog. */
  build: (onlyMigrations?: string[]) => Promise<CatalogRow[]>;
}

/** Deploys first the database's current state on the scratch server, then the files, and completes the plan. */
async function tryDeployment(
  plan: Plan,
  client: Client,
  scratch: Client,
  { files, options, build }: Trial,
): Promise<void> {
  const { pending, deployed, definitions, drift, isOutdated, promiseAwaitsRefresh } = await findWork(
    client,
    files,
    options,
  );
  plan.migrations = pending.map(({ id, sql }) => ({ name: id, sql }));
  plan.uncertain = pending.flatMap(findUncertain);
  plan.definitions = definitions;
  plan.apiSchemasChanged = isOutdated;
  plan.promiseAwaitsRefresh = promiseAwaitsRefresh;
  plan.isDriftNew = drift.durable === "changed";
  plan.isDriftUnknown = drift.durable === "unknown";
  const repeat = (statements: string[]) => repeatOnScratch(plan, scratch, statements);
  const current = await readCatalog(client);
  const applied = (await readAppliedMigrations(client)).map(({ name }) => name);
  let durable = select(current, "durable");
  if (applied.length > 0) {
    const expected = await build(applied);
    const isAhead = applied.some((name) => !files.migrations.some(({ id }) => id === name));
    const isComparable = ({ scope }: CatalogRow) =>
      scope === "durable" || (scope === "data_set" && definitions.length === 0);
    if (!isAhead) plan.drift = compareCatalogs(expected.filter(isComparable), current.filter(isComparable));
    await refuseHandMadeObjects(client, files.api);
    if (!isOutdated) return;
    if (!isAhead) await repeat(repeatDurableDrift(expected, current));
    await repeat(hideColumns(expected, current));
    durable = select(await readCatalog(scratch), "durable");
  }
  const refreshed = await build();
  const contracts = await readServedContracts(scratch);
  const keep = keepTypes(refreshed, current);
  await repeat(keep);
  const deployedNow = keep.length > 0 ? await build() : refreshed;
  plan.changes = [
    ...compareCatalogs(durable, select(deployedNow, "durable")),
    ...compareCatalogs(select(current, "api"), select(deployedNow, "api")),
  ];
  plan.refreshChanges = compareCatalogs(select(deployedNow, "api"), select(refreshed, "api"));
  plan.promiseAwaitsRefresh =
    options.promises === true && !options.rollsBack && plan.refreshChanges.length > 0;
  if (deployed) plan.promises = await refuseBrokenPromises(client, contracts, options);
}

const select = (rows: CatalogRow[], scope: CatalogRow["scope"]) => rows.filter((row) => row.scope === scope);

/** Runs statements on the scratch server. If one fails, the plan says so. */
async function repeatOnScratch(plan: Plan, scratch: Client, statements: string[]): Promise<void> {
  for (const statement of statements) {
    await scratch.query(statement).catch((error: Error) => {
      plan.uncertain.push(
        `The plan may be incomplete, because this part of the database could not be copied to the scratch server: ${statement} (${error.message})`,
      );
    });
  }
}

/** The statements that repeat changes made by hand. Without roles, which belong to the whole server. */
function repeatDurableDrift(expected: CatalogRow[], current: CatalogRow[]): string[] {
  const changes = compareCatalogs(select(current, "durable"), select(expected, "durable"));
  return changes.flatMap(({ object, undo }) => (object.startsWith("role ") ? [] : undo));
}

interface ViewColumn {
  /** Such as `view dissemination.general`. */
  view: string;
  column: string;
  type: string;
}

const nameOf = ({ view, column }: ViewColumn) => `${view}.${column}`;

/** Lists the columns of the views that API files read. */
function listColumns(rows: CatalogRow[]): ViewColumn[] {
  return rows.flatMap(({ object, statement }) => {
    const [, column = "", type = ""] = /^column ([^:]+): (.*)/.exec(statement) ?? [];
    return object.startsWith("view dissemination.") && column ? [{ view: object, column, type }] : [];
  });
}

/** Hides the columns that the published data set lacks, so that API files see the same columns as in the database. */
function hideColumns(expected: CatalogRow[], current: CatalogRow[]): string[] {
  const published = new Set(listColumns(current).map(nameOf));
  const lacking = listColumns(expected).filter((column) => !published.has(nameOf(column)));
  return lacking.map(
    ({ view, column }, index) => `alter ${view} rename column ${column} to not_published_${index}`,
  );
}

/** Gives columns the types that they have in the published data set, which a refresh changes later. Drops the API. */
function keepTypes(refreshed: CatalogRow[], current: CatalogRow[]): string[] {
  const published = new Map(listColumns(current).map((column) => [nameOf(column), column.type]));
  const columns = listColumns(refreshed).map((column) => ({
    ...column,
    kept: published.get(nameOf(column)) ?? column.type,
  }));
  const views = new Set(columns.flatMap(({ view, type, kept }) => (kept === type ? [] : [view])));
  const statements = [...views].flatMap((view) => {
    const creates = `create or replace ${view} as\n`;
    const definition = refreshed.find(({ statement }) => statement.startsWith(creates))?.statement ?? "";
    const source = definition.slice(creates.length).replace(/;\s*$/, "");
    const list = columns
      .filter((one) => one.view === view)
      .map(({ column, kept }) => `${column}::${kept} as ${column}`);
    return [
      `drop ${view}`,
      `create ${view} with (security_invoker = true) as select ${list.join(", ")} from (${source}) as source`,
      `alter ${view} owner to publisher`,
      `grant select on ${view.replace("view ", "")} to api_public, api_tribal, api_owner`,
    ];
  });
  return statements.length === 0 ? [] : ["select deployment.drop_versions()", ...statements];
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
