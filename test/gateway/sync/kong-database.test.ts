import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { prepareKongDatabase } from "../../../scripts/stack/kong-database.ts";
import { connect } from "../../../service/connect.ts";
import { runScript } from "../../support/run-stack.ts";
import { findServerUrl } from "../../support/scratch-database.ts";
import { createDatabase } from "./support.ts";

let database: Awaited<ReturnType<typeof createDatabase>>;
const asSuperuser = async (sql: string) => {
  const client = await connect(findServerUrl(), "test");
  await client.query(sql).finally(() => client.end());
};

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(async () => {
  await asSuperuser("drop database if exists kong with (force)");
  await asSuperuser("drop role if exists kong");
  await database.drop();
});

const tryOut = async (url: string, sql: string) => {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
};

test("Kong's role owns a database of its own, and can reach no other of this service", async () => {
  const url = await prepareKongDatabase(findServerUrl(), "a password");
  await tryOut(url, "create table kept (number int)");
  const other = new URL(url);
  other.pathname = new URL(database.syncUrl).pathname;
  await expect(tryOut(other.href, "select 1")).rejects.toThrow("permission denied for database");
});

test("the command of the compose file does the same again, with a new password, and keeps what is there", async () => {
  const server = new URL(findServerUrl());
  const script = runScript("kong-database.ts", [], {
    PGHOST: server.hostname,
    PGPORT: server.port,
    PGUSER: server.username,
    PGPASSWORD: decodeURIComponent(server.password),
    PGDATABASE: server.pathname.slice(1),
    KONG_PG_PASSWORD: "another password",
  });
  expect(await script.exited, script.output()).toBe(0);
  const kong = new URL(`postgres://kong:another%20password@${server.host}/kong`);
  await tryOut(kong.href, "select from kept");
  kong.password = "a%20password";
  await expect(tryOut(kong.href, "select 1")).rejects.toThrow("password authentication failed");
});
