import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { scanForLeaks } from "../../../bench/torture/scan-leaks.ts";
import { openTarget } from "../../../bench/torture/target.ts";
import type { RunningStack } from "../../support/run-stack.ts";
import { runSeparateStack } from "../../support/separate-stack.ts";
import { send } from "../../support/target.ts";

// What is said when something is wrong: in logs, where keys of clients may not be, and to clients while the database is
// away, who need not know where it is. A stack of its own, of which parts are ended.

let stack: RunningStack;
let client: Client;

beforeAll(async () => {
  stack = await runSeparateStack();
  client = new Client({ connectionString: stack.facts.database_url });
  // The server ends it as well.
  client.on("error", () => {});
  await client.connect();
});
afterAll(async () => {
  await client?.end().catch(() => {});
  await stack?.dispose();
});

const ask = (target: string, headers: Record<string, string> = {}, method = "GET", body?: string) =>
  send(stack.facts.base_url, target, {
    method,
    headers: { "x-api-key": stack.facts.keys.individual, ...headers },
    ...(body === undefined ? {} : { body }),
  });

/** The logs of all parts of the stack. */
async function readLogs(): Promise<string> {
  const logs = path.join(stack.directory, "kong", "logs");
  const ofKong = await readdir(logs).catch(() => []);
  const files = [path.join(stack.directory, "stack.log"), ...ofKong.map((name) => path.join(logs, name))];
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8").catch(() => "")));
  return texts.join("\n");
}

/** Waits until the last line is there, so those before are. */
async function expectNoSecrets(...secrets: string[]): Promise<void> {
  const last = `the-last-one-${secrets.length}`;
  await ask("/general?limit=1", { "x-request-id": last });
  await vi.waitUntil(async () => (await readLogs()).includes(last), { timeout: 10_000 });
  const logs = await readLogs();
  const lines = logs.split("\n").filter((line) => secrets.some((secret) => line.includes(secret)));
  expect(lines).toEqual([]);
}

it("keys, tokens, passwords and suppressed values are in no log, wherever clients put them", async () => {
  const { base_url: baseUrl, app_url: appUrl, database_url: databaseUrl, keys } = stack.facts;
  const { directory } = stack;
  const opened = await openTarget({ baseUrl, appUrl, databaseUrl, directory }, { individual: 1, tribal: 1 });
  // PostgREST writes a line of its own for a 5xx.
  await client.query("update access.tiers set statement_timeout = '1 ms'");
  const slow = `/federal_awards?select=*,general(*)&order=cluster_name&api_key=${keys.individual}`;
  expect((await ask(slow, { referer: `http://a/?api_key=${keys.individual}` })).status).toBe(500);
  await client.query("update access.tiers set statement_timeout = '10 s'");
  const { faults, figures } = await scanForLeaks(opened);
  expect(faults, figures).toEqual([]);
});

describe("while the database is away", () => {
  it("clients are told so, and when to come back, and not where it is", async () => {
    const database = new URL(stack.facts.database_url);
    const seen = new Map<string, unknown>();
    const deadline = Date.now() + 60_000;
    const isBack = () => [...seen.keys()].some((line) => line.startsWith("503")) && seen.get("last") === 200;
    // As after a crash: the server ends all connections, and takes none for a moment.
    const [{ pid } = { pid: 0 }] = (
      await client.query<{ pid: number }>(
        "select pid from pg_stat_activity where backend_type = 'checkpointer'",
      )
    ).rows;
    process.kill(pid, "SIGKILL");
    while (!isBack() && Date.now() < deadline) {
      const answer = await ask(`/federal_awards?limit=1&api_key=${stack.facts.keys.tribal}`);
      seen.set("last", answer.status);
      if (answer.status === 200) continue;
      seen.set(`${answer.status} ${answer.json?.code} ${answer.headers["retry-after"]}`, answer.json);
      expect(answer.text).not.toContain(database.port);
      expect(answer.text).not.toContain(database.hostname);
    }
    seen.delete("last");
    const away = {
      code: "database_away",
      details: null,
      hint: "Send the request again in half a minute.",
      message: "The database cannot be reached.",
    };
    // Who was being answered when the server went gets 400 from PostgREST, and the gateway sees the body after the status.
    for (const [line, body] of seen) {
      expect(line).toMatch(/^(503 database_away [1-9]\d*|400 database_away undefined)$/);
      expect(body).toMatchObject(away);
    }
    await expectNoSecrets(stack.facts.keys.tribal);
  });
});
