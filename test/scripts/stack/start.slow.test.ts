import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { StackFacts } from "../../../scripts/stack/start-stack.ts";
import { connect } from "../../../shared/connect.ts";
import { listChildren, listProcesses } from "../../support/list-processes.ts";
import { makeDirectory } from "../../support/make-directory.ts";
import { queryOn } from "../../support/query-on.ts";
import { freePorts, type RunningStack, runScript, runStack } from "../../support/run-stack.ts";
import { createScratchDatabase } from "../../support/scratch-database.ts";
import { makeSmallSample } from "../../support/small-sample.ts";
import { send } from "../../support/target.ts";

// Covers npm start under unusual conditions.

/** Lists the processes of a stack: their commands contain its directory. */
const listParts = (own: string) => listProcesses().filter(({ command }) => command.includes(own));
/** The process ID of a stack's PostgreSQL. Signals to process 0 would reach the tests themselves. */
function findPostgres({ pid }: RunningStack): number {
  const found = listChildren(pid).find(({ command }) => command.includes("/postgres "));
  if (found === undefined) throw new Error("PostgreSQL does not run.");
  return found.pid;
}
let directory: string;
let sample: string;
let stack: RunningStack;

beforeAll(async () => {
  directory = await makeDirectory("closed to others");
  sample = await makeSmallSample();
});
afterAll(() => stack?.dispose());

it("stops what it has started if it is interrupted before it is ready", { timeout: 400_000 }, async () => {
  const own = path.join(directory, "stack");
  const isMakingData = () => existsSync(path.join(own, "postgres.part"));
  const hasPrinted = (line: string) => (output: string) => output.includes(line);
  for (const isThere of [isMakingData, ...["PostgreSQL is ready", "Loading the data"].map(hasPrinted)]) {
    const env = { ...freePorts, STACK_DIRECTORY: own };
    const start = runScript("start.ts", ["--fresh", "--data", sample], env);
    await expect.poll(() => isThere(start.output()), { interval: 5, timeout: 120_000 }).toBe(true);
    start.child.kill("SIGINT");
    expect(await start.exited).toBe(0);
    await expect.poll(() => listParts(own)).toEqual([]);
  }
});

describe("in a private directory with a space in its name,", () => {
  const run = async () => {
    // Kong cannot run in a path with spaces.
    const env = { GATEWAY: "embedded" };
    const args = ["--data", sample];
    stack = await runStack({ directory: path.join(directory, "stack"), args, env });
    expect((await send(stack.facts.base_url, "/general?limit=1")).status).toBe(401);
  };

  it("runs, and stops everything if one process dies, with its last lines of output", async () => {
    await run();
    process.kill(findPostgres(stack), "SIGKILL");
    expect(await stack.exited).toBe(1);
    expect(stack.output()).toContain("\nPostgreSQL ended with SIGKILL.\n  ");
    expect(stack.output()).toMatch(/\nEverything was stopped.*\n$/);
    await expect.poll(() => listParts(stack.directory)).toEqual([]);
  });

  it("starts again after a crash that PostgreSQL recovers from in its second attempt", async () => {
    await run();
    const client = await connect(stack.facts.database_url, "test");
    // As in a crash while a refresh removes its tables: the file that marks the table as unlogged is gone.
    await client.query("begin; create unlogged table public.lost ()");
    await client.query("select pg_logical_emit_message(false, 'test', '', true)");
    const { rows } = await client.query("select pg_relation_filepath('public.lost') as file");
    process.kill(findPostgres(stack), "SIGKILL");
    expect(await stack.exited).toBe(1);
    await rm(path.join(stack.directory, "postgres", `${rows[0].file}_init`), { force: true });
    await run();
    expect(stack.output()).toContain("Starting it again");
    stack.kill("SIGINT");
    expect(await stack.exited).toBe(0);
  });

  it("starts again, leaves no process behind if it is killed itself, and then starts once more", async () => {
    await run();
    stack.kill("SIGKILL");
    await expect.poll(() => listParts(stack.directory)).toEqual([]);
    await writeFile(path.join(stack.directory, "stack.lock"), "{");
    await run();
  });

  it("waits for the PostgreSQL of a killed run, which may still be writing its data", async () => {
    const server = findPostgres(stack);
    process.kill(server, "SIGSTOP");
    stack.kill("SIGKILL");
    await stack.exited;
    const env = { ...freePorts, STACK_DIRECTORY: stack.directory, GATEWAY: "embedded" };
    const start = runScript("start.ts", [], env);
    const waits = `Waiting for an earlier PostgreSQL, process ${server}, to stop`;
    await expect
      .poll(start.output)
      .toContain(waits)
      .finally(() => process.kill(server, "SIGCONT"));
    await expect.poll(start.output).toContain("The service is ready.");
    start.child.kill("SIGINT");
    expect(await start.exited).toBe(0);
  });
});

it("says what to do if older data is put back, which had a report that is suppressed now", async () => {
  const own = await runStack({ args: ["--data", sample], directory: await makeDirectory() });
  const data = path.join(own.directory, "postgres");
  const copy = `${data}.copy`;
  const { public_report_id: report } = own.facts.sample;
  const stop = async ({ kill, exited }: RunningStack) => {
    kill("SIGINT");
    await exited;
  };
  await stop(own);
  // Keeps the owner of each file.
  execFileSync("cp", ["-a", data, copy]);
  const today = await runStack({ directory: own.directory });
  const suppress = `insert into publication.suppressed_reports (report_id) values ('${report}')`;
  await queryOn(today.facts.database_url, suppress);
  const waiting = "select from ledger.entries where object_number is null";
  await expect.poll(() => queryOn(today.facts.database_url, waiting)).toEqual([]);
  await stop(today);
  await rm(data, { recursive: true });
  await rename(copy, data);

  const env = { ...freePorts, STACK_DIRECTORY: own.directory, GATEWAY: "embedded" };
  const start = runScript("start.ts", [], env);
  onTestFinished(async () => {
    start.child.kill("SIGINT");
    await start.exited;
    await own.dispose();
  });
  await expect.poll(start.output).toContain("it was withdrawn. To publish its files again");
  const facts: StackFacts = JSON.parse(await readFile(path.join(own.directory, "stack.json"), "utf8"));
  const key = { value: facts.keys.individual };
  const ask = () => send(facts.base_url, `/general?report_id=eq.${report}&select=is_public`, { key });
  expect((await ask()).status).toBe(503);
  const [, advice = ""] = /run npm run refresh -- (.+)$/m.exec(start.output()) ?? [];
  const refresh = runScript("refresh.ts", advice.split(" "), { STACK_DIRECTORY: own.directory });
  expect(await refresh.exited, refresh.output()).toBe(0);
  expect((await ask()).json).toEqual([{ is_public: false }]);
});

it("uses the database of DATABASE_URL if it is set", async () => {
  const { url, drop } = await createScratchDatabase();
  const other = await runStack({ args: ["--data", sample], env: { DATABASE_URL: url } });
  try {
    expect(other.facts.database_url).toBe(url);
    expect(listParts(other.directory).filter(({ command }) => command.includes("postgres"))).toEqual([]);
    const key = { value: other.facts.keys.individual };
    expect((await send(other.facts.base_url, "/general?limit=1", { key })).json).toHaveLength(1);
  } finally {
    await other.dispose();
    await drop();
  }
});
