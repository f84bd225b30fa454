import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listChildren, listProcesses } from "../../support/list-processes.ts";
import { makeDirectory } from "../../support/make-directory.ts";
import { freePorts, type RunningStack, runScript, runStack } from "../../support/run-stack.ts";
import { createScratchDatabase } from "../../support/scratch-database.ts";
import { makeSmallSample } from "../../support/small-sample.ts";
import { send } from "../../support/target.ts";

// Covers npm start under unusual conditions.

/** Lists the processes of a stack: their commands contain its directory. */
const listParts = (own: string) => listProcesses().filter(({ command }) => command.includes(own));
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
    const postgres = listChildren(stack.pid).find(({ command }) => command.includes("/postgres "));
    process.kill(postgres?.pid ?? 0, "SIGKILL");
    expect(await stack.exited).toBe(1);
    expect(stack.output()).toContain("\nPostgreSQL ended with SIGKILL.\n  ");
    expect(stack.output()).toMatch(/\nEverything was stopped.*\n$/);
    await expect.poll(() => listParts(stack.directory)).toEqual([]);
  });

  it("starts again, leaves no process behind if it is killed itself, and then starts once more", async () => {
    await run();
    stack.kill("SIGKILL");
    await expect.poll(() => listParts(stack.directory)).toEqual([]);
    await writeFile(path.join(stack.directory, "stack.lock"), "{");
    await run();
  });
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
