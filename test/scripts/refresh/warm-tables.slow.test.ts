import { randomUUID } from "node:crypto";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Client } from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { warmTables } from "../../../scripts/refresh/warm-tables.ts";
import { findFreePort } from "../../../scripts/servers/find-free-port.ts";
import { preparePostgres } from "../../../scripts/servers/postgres.ts";
import { type ChildProcess, startProgram } from "../../../scripts/servers/run-program.ts";
import { connect } from "../../../service/connect.ts";

// 40 % of it are shared_buffers: 12 MB.
const megabytes = 30;
let directory: string;
let server: ChildProcess | undefined;
let client: Client;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "single-audit-warm-"));
  // PostgreSQL's unprivileged user passes through.
  await chmod(directory, 0o711);
  const port = await findFreePort();
  const options = { directory, port, superuserPassword: randomUUID(), memory: megabytes };
  const { program, url } = await preparePostgres(options);
  server = startProgram(program);
  await server.ready;
  client = await connect(url, "test");
  await client.query("create schema disclosed; set max_parallel_workers_per_gather = 0");
});
afterAll(async () => {
  await client?.end();
  await server?.stop();
  await rm(directory, { recursive: true, force: true });
});

/** Makes a table of about so many megabytes. */
async function makeTable(name: string, size: number): Promise<void> {
  const rows = `generate_series(1, ${size * 1000})`;
  await client.query(`create table disclosed.${name} as select repeat('x', 1000) as text from ${rows}`);
  await client.query(`vacuum (freeze) disclosed.${name}`);
}
/** How much of a scan comes from outside of shared_buffers, in pages. */
async function countReads(name: string): Promise<number> {
  const { rows } = await client.query(
    `explain (analyze, buffers, format json) select text from disclosed.${name}`,
  );
  return rows[0]["QUERY PLAN"][0].Plan["Shared Read Blocks"];
}

it("keeps the largest table that fits in shared_buffers, which scans alone do not, and names what does not fit", async () => {
  await makeTable("awards", 8);
  await countReads("awards");
  expect(await countReads("awards")).toBeGreaterThan(500);
  const lines: string[] = [];
  const report = (line: string) => void lines.push(line);
  await warmTables(client, report);
  expect(lines).toEqual([]);
  expect(await countReads("awards")).toBe(0);

  await makeTable("findings", 20);
  await makeTable("passthrough", 5);
  await makeTable("general", 1);
  await warmTables(client, report);
  expect(lines).toEqual([
    expect.stringMatching(/^findings \(2\d MB\) does not fit into PostgreSQL's shared_buffers \(12 MB\)/),
    expect.stringMatching(/^passthrough \(\d MB\) does not fit/),
  ]);
  expect(await countReads("awards")).toBe(0);
});
