import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listChildren } from "../../support/list-children.ts";
import { freePorts, type RunningStack, runScript, runStack } from "../../support/run-stack.ts";
import { makeSmallSample } from "../../support/small-sample.ts";
import { send } from "../../support/target.ts";
import { isRunning, listProcesses } from "./processes.ts";

// A stack that npm start runs, from its first start to its last, beside the one of the other suites.

let directory: string;
let sample: Awaited<ReturnType<typeof makeSmallSample>>;
let stack: RunningStack;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "single-audit-stack-"));
  sample = await makeSmallSample();
  stack = await runStack({
    directory,
    // As npm start does; the others are compiled.
    program: ["--import", "tsx", "scripts/start.ts"],
    args: ["--data", sample.directory],
    env: { DATABASE_MEMORY: "2048" },
  });
});
afterAll(async () => {
  await sample.remove();
  stack.kill("SIGINT");
  await stack.exited;
  await rm(directory, { recursive: true, force: true });
});

describe("a started stack", () => {
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
        { name: "maintenance_work_mem", value: "136MB" },
        { name: "shared_buffers", value: "819MB" },
        { name: "work_mem", value: "136MB" },
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
    await expect.poll(() => children.filter(({ pid }) => isRunning(pid)), { timeout: 1000 }).toEqual([]);
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

  it("gives up a part that ends again and again, and says so", async () => {
    const find = () => listChildren(stack.pid).find(({ command }) => command.endsWith("/postgrest"))?.pid;
    let isUp = true;
    void stack.exited.then(() => {
      isUp = false;
    });
    while (isUp) {
      const pid = find();
      if (pid !== undefined) process.kill(pid, "SIGKILL");
      await sleep(20);
    }
    expect(await stack.exited).toBe(1);
    expect(stack.output()).toContain(
      "PostgREST has ended 6 times in a row. The last time:\nPostgREST ended with SIGKILL.",
    );
    expect(listProcesses(directory)).toEqual([]);
    stack = await runStack({ directory });
  });

  it("leaves no process behind when it is killed itself, and starts again without a wrong answer", async () => {
    const { base_url, postgrest_url, keys } = stack.facts;
    const children = listChildren(stack.pid);
    stack.kill("SIGKILL");
    await stack.exited;
    for (const { pid, command } of children) {
      await expect.poll(() => isRunning(pid), { timeout: 5000, message: command }).toBe(false);
    }
    let isUp = false;
    const env = { GATEWAY_PORT: new URL(base_url).port, POSTGREST_PORT: new URL(postgrest_url).port };
    const starting = runStack({ directory, env }).finally(() => {
      isUp = true;
    });
    const seen = new Set<number>();
    const read = () => send(base_url, "/general?limit=1", { key: { value: keys.individual } });
    for (; !isUp; await sleep(5)) {
      seen.add(
        await read().then(
          ({ status }) => status,
          () => 0,
        ),
      );
    }
    stack = await starting;
    expect((await read()).status).toBe(200);
    expect([...seen].filter((status) => ![0, 200, 502, 503].includes(status))).toEqual([]);
  });

  it("starts over with --fresh", async () => {
    const before = stack.facts.keys.individual;
    stack.kill("SIGTERM");
    expect(await stack.exited).toBe(0);
    stack = await runStack({ directory, args: ["--fresh", "--data", sample.directory] });
    expect(stack.facts.keys.individual).not.toBe(before);
  });
});
