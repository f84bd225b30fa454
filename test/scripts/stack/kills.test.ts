import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Readers, startReaders } from "../../../bench/torture/readers.ts";
import { issueKeys } from "../../../bench/torture/target.ts";
import { writeHighLimits } from "../../../bench/write-high-limits.ts";
import { connect } from "../../../service/connect.ts";
import { listChildren } from "../../support/list-children.ts";
import type { RunningStack } from "../../support/run-stack.ts";
import { runSeparateStack } from "../../support/separate-stack.ts";
import { send } from "../../support/target.ts";
import { isRunning, listProcesses } from "./processes.ts";

// SIGKILL of each part of a stack that npm start runs, under readers that check every answer.

const longestRecovery = 10_000;
/** So often must each reader be answered rightly in a row, and so long may that take. */
const rowLength = 3;
const patience = 20_000;
const parts: [name: string, command: RegExp][] = [
  ["PostgreSQL", /\/postgres /],
  ["PostgREST", /\/postgrest$/],
  ["The gateway", /gateway-embedded\./],
  ["The report service", /report-service\./],
  ["The local storage", /local-storage\./],
];

let directory: string;
let stack: RunningStack;
let readers: Readers;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "single-audit-limits-"));
  stack = await runSeparateStack({ GATEWAY_CONFIG: await writeHighLimits(directory) });
  const { base_url, app_url, database_url } = stack.facts;
  const client = await connect(database_url, "test");
  const nextKey = await issueKeys(client, { individual: 2, tribal: 1 }).finally(() => client.end());
  readers = await startReaders({ baseUrl: base_url, appUrl: app_url, databaseUrl: database_url, nextKey });
});
afterAll(async () => {
  await readers?.stop();
  await stack?.dispose();
  await rm(directory, { recursive: true, force: true });
});

const read = (key: string) =>
  send(stack.facts.base_url, "/general?limit=1", { headers: { "x-api-key": key } });

async function query(sql: string, values: unknown[] = []): Promise<Record<string, string>[]> {
  const client = new Client({ connectionString: stack.facts.database_url });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(sql, values)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

function findPart(command: RegExp): number {
  const found = listChildren(stack.pid).find((child) => command.test(child.command));
  if (found === undefined) throw new Error(`There is no process ${command}.`);
  return found.pid;
}

it.each(parts)(
  "%s is started again, and for ten seconds at most somebody is told that something is away",
  async (name, command) => {
    await readers.recovered(performance.now(), rowLength, patience);
    const pid = findPart(command);
    const isDatabase = name === "PostgreSQL";
    // Works on without noticing that its server is gone.
    const busy = isDatabase ? query("do $$ begin loop null; end loop; end $$").catch(() => {}) : undefined;
    if (isDatabase) await sleep(300);
    const killedAt = performance.now();
    process.kill(pid, "SIGKILL");
    const milliseconds = await readers.recovered(killedAt, rowLength, patience);
    expect(milliseconds).toBeLessThan(longestRecovery);
    const [{ api_key: key = "" } = {}] = await query(
      `select api_key from set_config('access.operator', 'a test', false),
         access.issue_key('individual', 'operator@example.gov', 'a test')`,
    );
    await expect.poll(async () => (await read(key)).status, { interval: 20 }).toBe(200);
    expect(performance.now() - killedAt).toBeLessThan(longestRecovery);
    await busy;
    expect(findPart(command)).not.toBe(pid);
    expect(stack.output()).toContain(`${name} ended with SIGKILL. It is started again.\n`);
    expect(readers.wrong).toEqual([]);
  },
);

it("Ctrl-C stops everything, also while parts are being started again", async () => {
  await readers.stop();
  for (const [, command] of parts) process.kill(findPart(command), "SIGKILL");
  await sleep(200);
  const children = listChildren(stack.pid);
  const start = performance.now();
  stack.kill("SIGINT");
  expect(await stack.exited).toBe(0);
  expect(performance.now() - start).toBeLessThan(5000);
  await expect.poll(() => children.filter(({ pid }) => isRunning(pid)), { timeout: 1000 }).toEqual([]);
  expect(listProcesses(stack.directory)).toEqual([]);
});
