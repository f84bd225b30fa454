import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePorts, type RunningStack, runScript, runStack } from "../../support/run-stack.ts";
import { makeSmallSample } from "../../support/small-sample.ts";
import { send } from "../../support/target.ts";

// npm start, as a person and as a supervisor sees it. These stacks are beside the one of the other suites.

let directory: string;
let sample: Awaited<ReturnType<typeof makeSmallSample>>;
let stack: RunningStack;

const isRunning = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

interface ListedProcess {
  pid: number;
  command: string;
}

/** Command lines of this machine that name a stack's directory. */
const listProcesses = (directory: string): string[] =>
  execFileSync("ps", ["-e", "-o", "args="], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.includes(directory));

/** The processes that a process has started. */
function listChildren(parent: number): ListedProcess[] {
  return execFileSync("ps", ["-e", "-o", "pid=,ppid=,args="], { encoding: "utf8" })
    .split("\n")
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line))
    .filter((match) => match !== null && Number(match[2]) === parent)
    .map((match) => ({ pid: Number(match?.[1]), command: match?.[3] ?? "" }));
}

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "single-audit-stack-"));
  sample = await makeSmallSample();
  stack = await runStack({
    directory,
    args: ["--data", sample.directory],
    env: { DATABASE_MEMORY: "2048" },
  });
});
afterAll(async () => {
  await sample.remove();
  stack.kill("SIGKILL");
  await stack.exited;
  await rm(directory, { recursive: true, force: true });
});

describe("a started stack", { timeout: 60_000 }, () => {
  it("prints addresses, keys and commands that work as printed", async () => {
    const { keys, base_url, app_url, sample } = stack.facts;
    for (const fact of [base_url, app_url, keys.demo, keys.individual, keys.tribal]) {
      expect(stack.output()).toContain(fact);
    }
    const printed = stack.output().slice(stack.output().indexOf("A public submission:"));
    const commands = printed
      .split("\n")
      .filter((line) => /^ {2}/.test(line))
      .join("\n");
    const output = execFileSync("bash", ["-euc", commands], { cwd: directory, encoding: "utf8" });
    expect(output).toContain(`"report_id":"${sample.public_report_id}"`);
    expect(output).toContain(`"report_id":"${sample.suppressed_report_id}"`);
    expect(await readFile(path.join(directory, "report.pdf"), "latin1")).toMatch(/^%PDF-/);
  });

  it("gives PostgreSQL the memory that it is told to, and a refresh its part", async () => {
    const client = new Client({ connectionString: stack.facts.database_url });
    await client.connect();
    try {
      await client.query(await readFile("db/data_set/session.sql", "utf8"));
      const { rows } = await client.query(
        `select name, current_setting(name) as value from pg_settings
         where name in ('shared_buffers', 'effective_cache_size', 'maintenance_work_mem', 'work_mem') order by name`,
      );
      expect(rows).toEqual([
        { name: "effective_cache_size", value: "1536MB" },
        { name: "maintenance_work_mem", value: "128MB" },
        { name: "shared_buffers", value: "512MB" },
        { name: "work_mem", value: "128MB" },
      ]);
    } finally {
      await client.end();
    }
  });

  it("keeps its facts and secrets to its owner", async () => {
    for (const name of ["stack.json", "secrets.json", "stack.log"]) {
      expect((await stat(path.join(directory, name))).mode & 0o777, name).toBe(0o600);
    }
  });

  it("shows no secret to ps, nor in its log", async () => {
    const { superuserPassword, rolePasswords, jwtSecret, storageSigningSecret } = JSON.parse(
      await readFile(path.join(directory, "secrets.json"), "utf8"),
    );
    await send(stack.facts.base_url, `/general?limit=1&api_key=${stack.facts.keys.individual}`);
    const seen =
      execFileSync("ps", ["-e", "-o", "args="], { encoding: "utf8" }) +
      (await readFile(path.join(directory, "stack.log"), "utf8"));
    const { individual, tribal } = stack.facts.keys;
    const secrets = [
      superuserPassword,
      ...Object.values<string>(rolePasswords),
      jwtSecret,
      storageSigningSecret,
      individual,
      tribal,
    ];
    for (const secret of secrets) {
      expect(secret.length).toBeGreaterThan(30);
      expect(seen.includes(secret)).toBe(false);
    }
  });

  it("refuses a second one on the same directory, and says which runs", async () => {
    const second = runScript("start.ts", [], { ...freePorts, STACK_DIRECTORY: directory });
    expect(await second.exited).toBe(1);
    expect(second.output()).toContain(`as process ${stack.facts.pid}`);
    expect((await send(stack.facts.base_url, "/general?limit=1")).status).toBe(401);
  });

  it("stops within 5 s on Ctrl-C with exit code 0, and leaves no process", async () => {
    const children = listChildren(stack.pid);
    expect(children.map(({ command }) => command).join()).toMatch(/postgres.*postgrest/);
    const start = Date.now();
    stack.kill("SIGINT");
    expect(await stack.exited).toBe(0);
    expect(Date.now() - start).toBeLessThan(5000);
    for (const { pid, command } of children) expect(isRunning(pid), command).toBe(false);
  });

  it("starts again on its data, with the same keys", async () => {
    const before = stack.facts;
    stack = await runStack({ directory });
    expect(stack.facts.keys).toEqual(before.keys);
    expect(stack.output()).not.toMatch(/Generating|Loading/);
    const answer = await send(
      stack.facts.base_url,
      `/general?report_id=eq.${before.sample.public_report_id}`,
      {
        headers: { "x-api-key": before.keys.individual },
      },
    );
    expect(answer.json).toHaveLength(1);
  });

  it.each(["postgrest", "postgres"])("ends with the last lines of %s when that dies", async (name) => {
    const child = listChildren(stack.pid).find(({ command }) => new RegExp(`/${name}( |$)`).test(command));
    process.kill(child?.pid ?? 0, "SIGKILL");
    expect(await stack.exited).toBe(1);
    expect(stack.output()).toMatch(
      name === "postgres" ? /PostgreSQL ended with SIGKILL/ : /PostgREST ended with SIGKILL/,
    );
    stack = await runStack({ directory });
  });

  it("leaves no process behind when it is killed itself, and starts again", async () => {
    const children = listChildren(stack.pid);
    stack.kill("SIGKILL");
    await stack.exited;
    for (const { pid, command } of children) {
      await expect.poll(() => isRunning(pid), { timeout: 5000, message: command }).toBe(false);
    }
    stack = await runStack({ directory });
    expect((await send(stack.facts.base_url, "/general?limit=1")).status).toBe(401);
  });

  it("starts over with --fresh", async () => {
    const before = stack.facts.keys.individual;
    stack.kill("SIGTERM");
    expect(await stack.exited).toBe(0);
    stack = await runStack({ directory, args: ["--fresh", "--data", sample.directory] });
    expect(stack.facts.keys.individual).not.toBe(before);
  });
});

describe("npm start", { timeout: 60_000 }, () => {
  it("names a taken port and the variable that moves it", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const address = server.address();
    const port = typeof address === "object" ? String(address?.port) : "";
    const other = await mkdtemp(path.join(tmpdir(), "single-audit-stack-"));
    try {
      const variables = Object.keys(freePorts);
      const outputs = await Promise.all(
        variables.map(async (variable) => {
          const own = { [variable]: port, STACK_DIRECTORY: path.join(other, variable) };
          const start = runScript("start.ts", [], { ...freePorts, ...own });
          expect(await start.exited).toBe(1);
          return start.output();
        }),
      );
      expect(outputs).toEqual(
        variables.map(
          (variable) => `Port ${port} is taken. Set ${variable} to another port, or to 0 for any free one.\n`,
        ),
      );
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
    stack.kill("SIGINT");
    await stack.exited;
    const start = runScript("start.ts", [], {
      ...freePorts,
      STACK_DIRECTORY: directory,
      POSTGREST_BIN: "/nowhere/postgrest",
    });
    expect(await start.exited).toBe(1);
    expect(start.output()).toContain("POSTGREST_BIN=/nowhere/postgrest is not a program that can be run.\n");
    expect(listProcesses(directory)).toEqual([]);
  });

  it("stops what it has started when it is interrupted before it is ready", async () => {
    const isMakingData = () => existsSync(path.join(directory, "postgres.part"));
    const hasPrinted = (line: string) => (output: string) => output.includes(line);
    for (const isThere of [isMakingData, ...["PostgreSQL is ready", "Loading the data"].map(hasPrinted)]) {
      const start = runScript("start.ts", ["--fresh", "--data", sample.directory], {
        ...freePorts,
        STACK_DIRECTORY: directory,
      });
      await expect.poll(() => isThere(start.output()), { interval: 5, timeout: 20_000 }).toBe(true);
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
      expect(listProcesses(other.directory)).toEqual([]);
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
