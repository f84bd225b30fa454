import { type Client, escapeIdentifier, escapeLiteral } from "pg";
import { afterAll, beforeAll } from "vitest";
import { deployDatabase } from "../../scripts/deploy/deploy-database.ts";
import {
  createScratchDatabase as createDatabase,
  type ScratchDatabase,
  type ScratchServer,
  startScratchServer,
} from "../../scripts/servers/scratch-database.ts";
import { connect } from "../../service/connect.ts";
import { queryOn } from "./query-on.ts";
import { target } from "./target.ts";
import { findWorkerNumber, ofWorker } from "./workers.ts";

/** A server to make databases on, as its superuser: this worker's own, or else the one under test. */
export const findServerUrl = () => findOwnServer() ?? target.databaseUrl;
/** This worker's own server, in a project whose workers have one. */
export const findOwnServer = () => process.env[ofWorker("SCRATCH_URL", findWorkerNumber())];

export type { ScratchDatabase };

/** Creates an empty database. Its address is that of its superuser. */
export const createScratchDatabase = (template?: string) => createDatabase(findServerUrl(), template);

/** The name of a deployed database on this worker's own server, that nobody is connected to. */
let deployedTemplate: Promise<string> | undefined;

/** A new database in the state of `db/`, as its superuser: a copy of one that was deployed, or deployed itself. */
export async function createDeployedDatabase(): Promise<ScratchDatabase> {
  if (findOwnServer() === undefined) {
    const scratch = await createScratchDatabase();
    await deployDatabase(scratch.url);
    return scratch;
  }
  deployedTemplate ??= createScratchDatabase().then(async ({ url }) => {
    await deployDatabase(url);
    return new URL(url).pathname.slice(1);
  });
  const template = await deployedTemplate;
  const copy = await createScratchDatabase(template);
  await copyDatabaseRights(template, new URL(copy.url).pathname.slice(1));
  return copy;
}

/** What a copy of a database does not have: the rights on the database itself. */
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

/** Another server for the tests that follow, as plans need one; filled in before the first of them. */
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

/** A database in the state of `db/`, with a connection as its superuser. */
export interface DeployedDatabase {
  url: string;
  client: Client;
}

/** A deployed database for the tests that follow: filled in before the first of them, dropped after the last. */
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
