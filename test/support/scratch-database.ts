import { randomUUID } from "node:crypto";
import { Client, escapeIdentifier } from "pg";
import { afterAll, beforeAll } from "vitest";
import { deployDatabase } from "../../scripts/deploy/deploy-database.ts";
import { type ScratchServer, startScratchServer } from "../../scripts/servers/scratch-database.ts";
import { connect } from "../../service/connect.ts";
import { ofWorker, target } from "./target.ts";

/** A server to make databases on, as its superuser: this worker's own, or else the one under test. */
export const findServerUrl = () =>
  process.env[ofWorker("SCRATCH_URL", process.env.VITEST_POOL_ID)] ?? target.databaseUrl;

/** A new, empty database, as its superuser. */
export interface ScratchDatabase {
  url: string;
  drop: () => Promise<void>;
}

export async function createScratchDatabase(): Promise<ScratchDatabase> {
  const name = `scratch_${randomUUID().replaceAll("-", "")}`;
  const run = async (sql: string) => {
    const client = new Client({ connectionString: findServerUrl() });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  await run(`create database ${escapeIdentifier(name)} template template0`);
  const url = new URL(findServerUrl());
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => run(`drop database ${escapeIdentifier(name)} with (force)`) };
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
    const scratch = await createScratchDatabase();
    ({ drop } = scratch);
    await deployDatabase(scratch.url);
    Object.assign(database, { url: scratch.url, client: await connect(scratch.url, "test") });
  });
  afterAll(async () => {
    await database.client.end();
    await drop();
  });
  return database;
}
