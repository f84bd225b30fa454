import { type Client, escapeIdentifier, escapeLiteral } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { deployDatabase } from "../../scripts/deploy/deploy-database.ts";
import { withPublisher } from "../../scripts/refresh/connect-publisher.ts";
import { beginLedger } from "../../scripts/refresh/ledger.ts";
import {
  createScratchDatabase as createDatabase,
  type ScratchDatabase,
  type ScratchServer,
  startScratchServer,
} from "../../scripts/servers/scratch-database.ts";
import { connect } from "../../shared/connect.ts";
import { makeDirectory } from "./make-directory.ts";
import { queryOn } from "./query-on.ts";
import { target } from "./target.ts";
import { findWorkerNumber, ofWorker } from "./workers.ts";

/** A server to create databases on, as its superuser: this worker's own, or else the server under test. */
export const findServerUrl = () => findOwnServer() ?? target.databaseUrl;
/** This worker's own server, in a project whose workers have one. */
export const findOwnServer = () => process.env[ofWorker("SCRATCH_URL", findWorkerNumber())];

export type { ScratchDatabase };

/** Creates an empty database. Its URL logs in as the superuser. */
export const createScratchDatabase = (template?: string) => createDatabase(findServerUrl(), template);

/** The name of a deployed database on this worker's own server. Nothing connects to it, so that it can be copied. */
let deployedTemplate: Promise<string> | undefined;

/** Creates a database with `db/` deployed. On this worker's own server it copies a template, which is faster. */
export async function createDeployedDatabase(): Promise<ScratchDatabase> {
  if (findOwnServer() === undefined) {
    const scratch = await createScratchDatabase();
    await deployDatabase(scratch.url);
    await beginOwnLedger(scratch.url);
    return scratch;
  }
  deployedTemplate ??= createScratchDatabase().then(async ({ url }) => {
    await deployDatabase(url);
    return readName(url);
  });
  return await copyDatabase(await deployedTemplate);
}

const readName = (databaseUrl: string) => new URL(databaseUrl).pathname.slice(1);

/** Copies a database to which nothing connects. */
async function copyDatabase(name: string): Promise<ScratchDatabase> {
  const copy = await createScratchDatabase(name);
  await copyDatabaseRights(name, readName(copy.url));
  await beginOwnLedger(copy.url);
  return copy;
}

/** Begins a ledger, without which the service is off. A copy needs its own. */
export async function beginOwnLedger(databaseUrl: string): Promise<void> {
  const place = await makeDirectory();
  await withPublisher({ connectionString: databaseUrl }, (client) => beginLedger(client, place));
}

/** Copies the rights on the database itself, which `create database … template` leaves out. */
async function copyDatabaseRights(from: string, to: string): Promise<void> {
  const rows = await queryOn(
    findServerUrl(),
    `select format('grant %s on database %I to %s', privilege_type, ${escapeLiteral(to)}, nullif(grantee, 0)::regrole)
              as statement
     from pg_database, aclexplode(datacl)
     where datname = ${escapeLiteral(from)} and grantee <> 0 and grantee <> datdba`,
  );
  const statements = rows.map(({ statement }) => statement);
  const revoke = `revoke all on database ${escapeIdentifier(to)} from public`;
  await queryOn(findServerUrl(), [revoke, ...statements].join(";"));
}

/** Starts a second server for the tests that follow; deployment plans need one. `url` is set before the first test. */
export function useOtherServer(): { url: string } {
  const found = { url: "" };
  let server: ScratchServer;
  beforeAll(async () => {
    server = await startScratchServer();
    found.url = await server.create();
  });
  afterAll(() => server.close());
  return found;
}

/** A database with `db/` deployed, and a connection as its superuser. */
export interface DeployedDatabase {
  url: string;
  client: Client;
}

/** Deploys a database for the tests that follow. It is set before the first test and dropped after the last one. */
export function useDeployedDatabase(): DeployedDatabase {
  const database = {} as DeployedDatabase;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const scratch = await createDeployedDatabase();
    ({ drop } = scratch);
    Object.assign(database, { url: scratch.url, client: await connect(scratch.url, "test") });
  });
  afterAll(async () => {
    await database.client.end();
    await drop();
  });
  return database;
}

/** Gives each test that follows a copy of a database, as `prepare` leaves it. */
export function useCopies(database: DeployedDatabase, prepare: () => Promise<unknown>): void {
  let original: string;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    await prepare();
    original = database.url;
    await database.client.end();
  });
  beforeEach(async () => {
    const copy = await copyDatabase(readName(original));
    drop = copy.drop;
    Object.assign(database, { url: copy.url, client: await connect(copy.url, "test") });
  });
  afterEach(async () => {
    await database.client.end();
    await drop();
  });
  afterAll(async () => {
    Object.assign(database, { url: original, client: await connect(original, "test") });
  });
}

/** Like `useDeployedDatabase`, but with a data set, which has no rows. */
export function usePublishedDatabase(): DeployedDatabase {
  const database = useDeployedDatabase();
  beforeAll(() => database.client.query(recordDataSet));
  return database;
}

/** SQL that makes the empty tables of a deployed database count as a published data set. */
export const recordDataSet = `
  insert into publication.data_sets (id, source, row_counts, state)
  select id, 'test', '{"general": {"disclosed": 0, "suppressed": 0}}', 'live' from disclosed.data_set;
  update disclosed.data_set set published_at = now()`;
