import { spawn } from "node:child_process";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runDeploy } from "../../../scripts/deploy/deploy-program.ts";
import type { Surroundings } from "../../../service/surroundings.ts";
import { programArguments } from "../../support/compile-programs.ts";
import { collect } from "../../support/run-here.ts";
import { useDeployedDatabase } from "../../support/scratch-database.ts";
import { type Copy, copyRepository } from "./support.ts";

// A deployment that is killed does not keep the others waiting.

const project = path.resolve(import.meta.dirname, "../../..");
const database = useDeployedDatabase();
let copy: Copy;
beforeAll(async () => {
  copy = await copyRepository();
});
afterAll(() => copy.dispose());

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
