import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readStackConfig } from "../../../scripts/stack/config.ts";
import { startStack } from "../../../scripts/stack/start-stack.ts";
import { freePorts, type RunningStack, runScript, runStack } from "../../support/run-stack.ts";
import { makeSmallSample } from "../../support/small-sample.ts";
import { send } from "../../support/target.ts";

import { listProcesses } from "./processes.ts";

// npm start, as a person and as a supervisor sees it. These stacks are beside the one of the other suites.

let directory: string;
let sample: Awaited<ReturnType<typeof makeSmallSample>>;
let stack: RunningStack;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "single-audit-stack-"));
  sample = await makeSmallSample();
});
afterAll(async () => {
  await sample.remove();
  stack?.kill("SIGINT");
  await stack?.exited;
  await rm(directory, { recursive: true, force: true });
});

describe("npm start", () => {
  it("names a taken port and the variable that moves it", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const address = server.address();
    const port = typeof address === "object" ? String(address?.port) : "";
    const other = await mkdtemp(path.join(tmpdir(), "single-audit-stack-"));
    try {
      const own = (variable: string) => ({
        ...freePorts,
        [variable]: port,
        STACK_DIRECTORY: path.join(other, variable),
      });
      const say = (variable: string) =>
        `Port ${port} is taken. Set ${variable} to another port, or to 0 for any free one.`;
      const [first = "", ...variables] = Object.keys(freePorts);
      const start = runScript("start.ts", [], own(first));
      expect(await start.exited).toBe(1);
      expect(start.output()).toBe(`${say(first)}\n`);
      for (const variable of variables) {
        const stack = startStack({ config: readStackConfig(own(variable)), report: () => {} });
        await expect(stack.ready).rejects.toMatchObject({ message: say(variable) });
        await stack.stop();
      }
    } finally {
      server.close();
      await rm(other, { recursive: true });
    }
  });

  it.each([
    ["GATEWAY_PORT", "eighty", /^GATEWAY_PORT=eighty should be a port number/],
    ["APP_PORT", "70000", /^APP_PORT=70000 should be a port number/],
    ["DATABASE_URL", "not an address", /^DATABASE_URL.*should be an address such as postgres:/],
  ])("names a malformed variable: %s", async (name, value, message) => {
    const start = runScript("start.ts", [], { ...freePorts, [name]: value });
    expect(await start.exited).toBe(1);
    expect(start.output()).toMatch(message);
  });

  it("says that POSTGREST_BIN is no program, and stops what it has started", async () => {
    const start = runScript("start.ts", ["--data", sample.directory], {
      ...freePorts,
      STACK_DIRECTORY: directory,
      POSTGREST_BIN: "/nowhere/postgrest",
    });
    expect(await start.exited).toBe(1);
    expect(start.output()).toContain("POSTGREST_BIN=/nowhere/postgrest is not a program that can be run.\n");
    expect(listProcesses(directory)).toEqual([]);
  });

  it("stops what it has started when it is interrupted before it is ready", {
    timeout: 400_000,
  }, async () => {
    const isMakingData = () => existsSync(path.join(directory, "postgres.part"));
    const hasPrinted = (line: string) => (output: string) => output.includes(line);
    for (const isThere of [isMakingData, ...["PostgreSQL is ready", "Loading the data"].map(hasPrinted)]) {
      const start = runScript("start.ts", ["--fresh", "--data", sample.directory], {
        ...freePorts,
        STACK_DIRECTORY: directory,
      });
      await expect.poll(() => isThere(start.output()), { interval: 5, timeout: 120_000 }).toBe(true);
      start.child.kill("SIGINT");
      expect(await start.exited).toBe(0);
      await expect.poll(() => listProcesses(directory), { timeout: 5000 }).toEqual([]);
    }
    stack = await runStack({
      directory,
      args: ["--data", sample.directory],
      env: { DATABASE_MEMORY: "2048" },
    });
    expect((await send(stack.facts.base_url, "/general?limit=1")).status).toBe(401);
  });

  it("uses the server of DATABASE_URL when that is set", async () => {
    const client = new Client({ connectionString: stack.facts.database_url });
    await client.connect();
    await client.query("create database elsewhere");
    await client.end();
    const url = new URL(stack.facts.database_url);
    url.pathname = "/elsewhere";
    const other = await runStack({ args: ["--data", sample.directory], env: { DATABASE_URL: url.href } });
    try {
      expect(other.facts.database_url).toBe(url.href);
      expect(listProcesses(other.directory).filter((command) => command.includes("postgres"))).toEqual([]);
      const answer = await send(other.facts.base_url, "/general?limit=1", {
        headers: { "x-api-key": other.facts.keys.individual },
      });
      expect(answer.json).toHaveLength(1);
    } finally {
      await other.dispose();
    }
  });

  it.each([
    ["postgres://postgres:x@127.0.0.1:1/x", /^The database of DATABASE_URL cannot be used: .*ECONNREFUSED/],
    ["mysql://root@127.0.0.1/x", /^DATABASE_URL should be an address such as postgres:/],
  ])("says so when the database of DATABASE_URL cannot be used: %s", async (url, message) => {
    const other = await mkdtemp(path.join(tmpdir(), "single-audit-stack-"));
    const start = runScript("start.ts", [], { ...freePorts, STACK_DIRECTORY: other, DATABASE_URL: url });
    expect(await start.exited).toBe(1);
    expect(start.output()).toMatch(message);
    await rm(other, { recursive: true });
  });

  it("names a directory of --data that cannot be read, before anything is started", async () => {
    const start = runScript("start.ts", ["--data", "/nowhere"], {
      ...freePorts,
      STACK_DIRECTORY: path.join(sample.directory, "none"),
    });
    expect(await start.exited).toBe(1);
    expect(start.output()).toMatch(/^\/nowhere cannot be read: ENOENT/);
  });

  it("runs below a directory that is closed to others, with a space in its name", async () => {
    const closed = await mkdtemp(path.join(tmpdir(), "closed to others "));
    const other = await runStack({
      directory: path.join(closed, "stack"),
      args: ["--data", sample.directory],
      // Kong cannot run in such a path.
      env: { GATEWAY: "embedded" },
    });
    try {
      expect((await send(other.facts.base_url, "/general?limit=1")).status).toBe(401);
    } finally {
      await other.dispose();
      await rm(closed, { recursive: true });
    }
  });

  it("is not kept from starting by what a killed stack has left", async () => {
    const other = await mkdtemp(path.join(tmpdir(), "single-audit-stack-"));
    for (const left of ['{"pid": 1, "started": "0"}', "{"]) {
      await writeFile(path.join(other, "stack.lock"), left);
      const start = runScript("start.ts", ["--data", "/nowhere"], { ...freePorts, STACK_DIRECTORY: other });
      await start.exited;
      expect(start.output()).toMatch(/^\/nowhere/);
    }
    await rm(other, { recursive: true });
  });

  it("tells how to use it", async () => {
    const help = runScript("start.ts", ["--help"], {});
    expect(await help.exited).toBe(0);
    for (const variable of [...Object.keys(freePorts), "DATABASE_URL", "POSTGREST_BIN", "--fresh"]) {
      expect(help.output()).toContain(variable);
    }
    const wrong = runScript("start.ts", ["--nonsense"], {});
    expect(await wrong.exited).toBe(1);
  });
});
