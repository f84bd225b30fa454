import { randomUUID } from "node:crypto";
import { Client, escapeIdentifier } from "pg";
import { deployDatabase } from "../../scripts/deploy/deploy-database.ts";
import { connect } from "../../service/connect.ts";
import { target } from "./target.ts";

/** A server to make databases on, as its superuser: this worker's own, or else the one under test. */
export const findServerUrl = () =>
  process.env[`SCRATCH_URL_${process.env.VITEST_POOL_ID}`] ?? target.databaseUrl;

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

/** A new database in the state of `db/`, with a connection as its superuser. */
export interface DeployedDatabase extends ScratchDatabase {
  client: Client;
}

export async function createDeployedDatabase(): Promise<DeployedDatabase> {
  const { url, drop } = await createScratchDatabase();
  await deployDatabase(url);
  const client = await connect(url, "test");
  return { url, client, drop: () => client.end().then(drop) };
}
