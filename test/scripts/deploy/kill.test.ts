import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { deployDatabase } from "../../../scripts/deploy/deploy-database.ts";
import { useDeployedDatabase } from "../../support/scratch-database.ts";
import {
  addedColumn,
  type Copy,
  copyRepository,
  describeView,
  forgetDeployments,
  readApiCatalogue,
  viewColumns,
  viewFile,
} from "./support.ts";

const rounds = 20;
const project = path.resolve(import.meta.dirname, "../../..");
const database = useDeployedDatabase();
let copy: Copy;

beforeAll(async () => {
  copy = await copyRepository();
});
afterAll(async () => {
  await copy.dispose();
});

/** Deploys the copy, and kills the deployment at some moment after it has reached the database. */
async function deployAndKill(): Promise<"killed" | "ended"> {
  const child = spawn(
    process.execPath,
    ["--import", "tsx", "scripts/db-deploy.ts", "--directory", copy.directory],
    { cwd: project, env: { PATH: process.env.PATH, DATABASE_URL: database.url }, stdio: "ignore" },
  );
  const ended = new Promise<NodeJS.Signals | null>((resolve) =>
    child.once("exit", (_code, signal) => resolve(signal)),
  );
  const isThere = async () =>
    (
      await database.client.query(
        "select from pg_stat_activity where application_name = 'db-deploy' and datname = current_database()",
      )
    ).rowCount !== 0;
  while (child.exitCode === null && !(await isThere())) await sleep(2);
  await sleep(randomInt(0, 160));
  child.kill("SIGKILL");
  return (await ended) === "SIGKILL" ? "killed" : "ended";
}

async function waitUntilGone(): Promise<void> {
  await expect
    .poll(
      async () =>
        (
          await database.client.query(
            "select from pg_stat_activity where application_name = 'db-deploy' and datname = current_database()",
          )
        ).rowCount,
      { timeout: 10_000 },
    )
    .toBe(0);
}

it(`leaves the old state or the new one when it is killed, ${rounds} times, and the next deployment completes`, {
  timeout: 120_000,
}, async () => {
  const plain = await readApiCatalogue(database.url);
  await copy.write(viewFile, describeView([...viewColumns, addedColumn]));
  await deployDatabase(database.url, {}, { directory: copy.directory });
  const extended = await readApiCatalogue(database.url);
  const views = { plain: describeView(viewColumns), extended: describeView([...viewColumns, addedColumn]) };
  const shortened = plain === extended ? plain : undefined;
  expect(shortened).toBeUndefined();
  await copy.write(viewFile, views.plain);
  await forgetDeployments(database.url);
  await deployDatabase(database.url, {}, { directory: copy.directory });
  const states = [await readApiCatalogue(database.url), extended];
  const outcomes = { killed: 0, ended: 0, old: 0, new: 0, migrationsDone: 0 };
  for (let round = 0; round < rounds; round += 1) {
    const [before, after] = round % 2 === 0 ? states : [states[1], states[0]];
    await copy.write(viewFile, round % 2 === 0 ? views.extended : views.plain);
    // A migration of two halves, with time to be killed between them.
    await copy.write(
      `migrations/2099123100000${String(round).padStart(4, "0")}_probe.sql`,
      `-- Lock level: new tables only.\ncreate table deployment.probe_${round}_one ();\nselect pg_sleep(0.03);\ncreate table deployment.probe_${round}_two ();\n`,
    );
    await forgetDeployments(database.url);
    outcomes[await deployAndKill()] += 1;
    await waitUntilGone();
    const state = await readApiCatalogue(database.url);
    expect([before, after]).toContain(state);
    outcomes[state === after ? "new" : "old"] += 1;
    const { rows } = await database.client.query(
      `select to_regclass('deployment.probe_${round}_one') is not null as one, to_regclass('deployment.probe_${round}_two') is not null as two,
         exists (select from deployment.migrations where name like '%${String(round).padStart(4, "0")}_probe') as noted`,
    );
    expect([true, false].map((value) => ({ one: value, two: value, noted: value }))).toContainEqual(rows[0]);
    if (rows[0].one) outcomes.migrationsDone += 1;
    const next = await deployDatabase(database.url, {}, { directory: copy.directory });
    expect(next.apiSchemasChanged).toBe(state === before);
    expect(await readApiCatalogue(database.url)).toBe(after);
  }
  process.stdout.write(`killed deployments: ${JSON.stringify(outcomes)}\n`);
  // The moments were spread over the deployment, not all before or after it.
  expect(outcomes.killed).toBeGreaterThan(rounds / 2);
  expect(outcomes.old).toBeGreaterThan(0);
});
