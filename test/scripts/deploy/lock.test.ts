import { spawn } from "node:child_process";
import path from "node:path";
import type { Client } from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runDeploy } from "../../../scripts/deploy/deploy-program.ts";
import { connect } from "../../../service/connect.ts";
import type { Surroundings } from "../../../service/surroundings.ts";
import { programArguments } from "../../support/compile-programs.ts";
import { collect, runHere } from "../../support/run-here.ts";
import { useDeployedDatabase } from "../../support/scratch-database.ts";
import { type Copy, copyRepository } from "./support.ts";

// One deployment at a time, and none that waits for ever for one that is gone.

const project = path.resolve(import.meta.dirname, "../../..");
const database = useDeployedDatabase();
let copy: Copy;
beforeAll(async () => {
  copy = await copyRepository();
});
afterAll(() => copy.dispose());

const holdLock = "select pg_advisory_lock(hashtext('db-deploy')), pg_backend_pid() as pid";
const readPid = async (client: Client, sql = "select pg_backend_pid() as pid") =>
  (await client.query<{ pid: number }>(sql)).rows[0]?.pid ?? 0;

it("says for whom it waits and how to end that, and no longer than --wait", async () => {
  const holder = await connect(database.url, "db-deploy");
  const pid = await readPid(holder, holdLock);
  const start = Date.now();
  const { code, stdout, stderr } = await runHere(runDeploy, ["--wait", "1s", "--json"], {
    env: { DATABASE_URL: database.url },
  });
  expect([code, Math.round((Date.now() - start) / 1000)]).toEqual([1, 1]);
  const who = `process ${pid} \\(db-deploy, as postgres, from 127\\.0\\.0\\.1, since \\S+ \\S+ UTC\\)`;
  const ending = `To end it: select pg_terminate_backend\\(${pid}\\)`;
  expect(stderr).toMatch(
    new RegExp(`^Another deployment is running: ${who}\\. ${ending}\nWaiting up to 1 s`),
  );
  expect(JSON.parse(stdout).error).toEqual({
    kind: "failed",
    message: expect.stringMatching(
      `^Nothing was deployed: another deployment was still running after 1 s .*${who}`,
    ),
  });
  await holder.end();
});

/** A deployment that waits, with what it has said. */
function startDeploy(...args: string[]) {
  const { stream, text } = collect();
  const around: Surroundings = {
    argv: ["node", "db:deploy", ...args],
    env: { DATABASE_URL: database.url },
    stdin: process.stdin,
    stdout: stream,
    stderr: stream,
  };
  return { text, done: runDeploy(around).then(() => around.exitCode ?? 0) };
}

it("goes on once the other one is ended as it was told", async () => {
  const holder = await connect(database.url, "db-deploy");
  const pid = await readPid(holder, holdLock);
  const { done, text } = startDeploy();
  await expect.poll(text).toContain(`select pg_terminate_backend(${pid})`);
  expect(text()).toContain("Waiting until it ends");
  await database.client.query("select pg_terminate_backend($1)", [pid]);
  await done;
  expect(text()).toContain("Nothing to do.");
  await holder.end();
});

it("is let go within seconds by a deployment that is killed in the middle of a long statement", async () => {
  await copy.write("migrations/20991231000000000_sleep.sql", "-- Lock level: none.\nselect pg_sleep(600);\n");
  const child = spawn(
    process.execPath,
    [...programArguments("scripts/db-deploy.ts"), "--directory", copy.directory],
    { cwd: project, env: { PATH: process.env.PATH, DATABASE_URL: database.url }, stdio: "ignore" },
  );
  const isAsleep = async () =>
    (
      await database.client.query(
        "select from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()",
      )
    ).rowCount;
  await expect.poll(isAsleep).toBe(1);
  const { done, text } = startDeploy("--wait", "10s");
  await expect.poll(text).toContain("Another deployment is running");
  child.kill("SIGKILL");
  expect([await done, text()]).toEqual([0, expect.stringContaining("Nothing to do.")]);
});
