import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { lockDirectory } from "../../../scripts/stack/lock-directory.ts";
import { describeRateLimit, readRateLimits } from "../../../service/read-rate-limits.ts";
import { target } from "../../support/target.ts";
import { agreements, expectOneLine, keys, shellAgreements, shellKeys } from "./support.ts";

describe("the help", () => {
  it.each([
    ["keys", keys, ["", "issue", "list", "show", "revoke", "rotate", "verify"]],
    ["agreements", agreements, ["", "request", "approve", "deny", "revoke", "list"]],
  ])("of %s and each of its commands says how it exits", async (_script, run, commands) => {
    for (const command of commands) {
      const { code, stdout, stderr } = await run(`${command} --help`, { env: {} });
      expect({ code, stderr }, command).toEqual({ code: 0, stderr: "" });
      expect(stdout).toMatch(/^Usage: /);
      expect(stdout).toContain("Exit status: 0 done");
    }
  });

  it("of keys shows the rate limits of gateway/kong.yml", async () => {
    const limits = readRateLimits();
    const { stdout } = await keys("--help", { env: {} });
    for (const tier of ["demo", "individual"]) expect(stdout).toContain(describeRateLimit(limits, tier));
  });

  it.each([
    ["keys", shellKeys],
    ["agreements", shellAgreements],
  ])("is shown on standard error where %s is given no command", async (_script, run) => {
    const { code, stdout, stderr } = await run("");
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^Usage: /);
  });
});

describe("the database", () => {
  it.each([
    [
      "is down",
      keys,
      agreements,
      { DATABASE_URL: "postgres://user:secret@127.0.0.1:1/x" },
      /127\.0\.0\.1:1 cannot be reached: .*ECONNREFUSED/,
    ],
    [
      "is down, by libpq's variables",
      shellKeys,
      shellAgreements,
      { PGHOST: "127.0.0.1", PGPORT: "1" },
      /127\.0\.0\.1:1 cannot be reached/,
    ],
    ["is not named", keys, agreements, { STACK_DIRECTORY: "/nonexistent" }, /set DATABASE_URL, or PGHOST/],
    [
      "has a malformed address",
      keys,
      agreements,
      { DATABASE_URL: "localhost" },
      /DATABASE_URL should be an address such as/,
    ],
  ])("%s: one line, and 1", async (_what, runOne, runOther, env, message) => {
    for (const run of [await runOne("list", { env }), await runOther("list", { env })]) {
      expect(run.code).toBe(1);
      expectOneLine(run, message);
      expect(run.stderr).not.toContain("secret");
    }
  });

  it("refuses the password: one line, and 1", async () => {
    const url = new URL(target.databaseUrl);
    url.password = "wrong-secret";
    const run = await keys("list", { env: { DATABASE_URL: url.href } });
    expect(run.code).toBe(1);
    expectOneLine(run, /password authentication failed/);
    expect(run.stderr).not.toContain("wrong-secret");
  });

  it("is not this service's: one line, and 1", async () => {
    const url = new URL(target.databaseUrl);
    url.pathname = "/postgres";
    const run = await keys("list", { env: { DATABASE_URL: url.href } });
    expect(run.code).toBe(1);
    expectOneLine(run, /npm run db:deploy/);
  });

  it("is found by libpq's variables", async () => {
    const url = new URL(target.databaseUrl);
    const run = await shellKeys("list --json --tier demo", {
      env: {
        PGHOST: url.hostname,
        PGPORT: url.port,
        PGUSER: url.username,
        PGPASSWORD: decodeURIComponent(url.password),
        PGDATABASE: url.pathname.slice(1),
      },
    });
    expect(run).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(run.stdout).length).toBeGreaterThan(0);
  });

  it("takes the password from a file, and says at once that one is missing", async () => {
    const url = new URL(target.databaseUrl);
    const directory = await mkdtemp(path.join(tmpdir(), "single-audit-keys-"));
    const PGPASSWORD_FILE = path.join(directory, "password");
    await writeFile(PGPASSWORD_FILE, decodeURIComponent(url.password));
    const env = {
      PGHOST: url.hostname,
      PGPORT: url.port,
      PGUSER: url.username,
      PGDATABASE: url.pathname.slice(1),
    };
    const run = await shellKeys("list --json --tier demo", { env: { ...env, PGPASSWORD_FILE } });
    expect(run).toMatchObject({ code: 0, stderr: "" });
    const start = performance.now();
    const without = await shellKeys("list", { env });
    // A server waits a minute for the password.
    expect(performance.now() - start).toBeLessThan(20_000);
    expect(without.code).toBe(1);
    expectOneLine(without, /requires a password. Set PGPASSWORD or PGPASSWORD_FILE/);
    await rm(directory, { recursive: true });
  });

  it("is the running stack's where nothing else names one, and it is said so", async () => {
    const STACK_DIRECTORY = await mkdtemp(path.join(tmpdir(), "single-audit-stack-"));
    await writeFile(
      path.join(STACK_DIRECTORY, "stack.json"),
      JSON.stringify({ database_url: target.databaseUrl }),
    );
    // As if this test were a stack that runs.
    const unlock = await lockDirectory(STACK_DIRECTORY);
    const run = await keys("list --json --tier demo", { env: { STACK_DIRECTORY } });
    expect(run.code).toBe(0);
    expect(run.stderr).toBe(`Using the database of the stack that runs on ${STACK_DIRECTORY}.\n`);
    expect(JSON.parse(run.stdout).length).toBeGreaterThan(0);
    await unlock();
    // A process that had this number before.
    const left = JSON.stringify({ pid: process.pid, started: "1" });
    await writeFile(path.join(STACK_DIRECTORY, "stack.lock"), left);
    const stopped = await keys("list", { env: { STACK_DIRECTORY } });
    expect(stopped.code).toBe(1);
    expectOneLine(stopped, /No database is named/);
    await rm(STACK_DIRECTORY, { recursive: true });
  });

  it("may be left when the output cannot be written, which is said", async () => {
    const { code, stderr } = await shellKeys("list > /dev/full");
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: the output could not be written: .*\n$/);
  });
});
