import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Client } from "pg";
import { readCatalog } from "../../scripts/deploy/catalog.ts";
import { deployDatabase, repositoryDirectory } from "../../scripts/deploy/deploy-database.ts";
import { killAtSomeMoment } from "./kill-program.ts";
import type { Finding } from "./part.ts";

const viewFile = "api/api_v1_1_0/additional_eins.sql";
/** About what a deployment takes; those that follow are as long as the last one. */
const firstMilliseconds = 400;
const viewComment = /(comment on view api_v1_1_0\.additional_eins is\s+')/;

/**
 * Kills deployments at random moments. Each changes a view's comment and brings a migration of two halves, with time
 * between them. Afterwards the API is the old one or the new one, the migration is there whole or not at all, and the next
 * deployment completes.
 *
 * @param client a database in the state of `db`, of which nothing is left as it was
 */
export async function killDeployments(
  client: Client,
  databaseUrl: string,
  rounds: number,
  report: (line: string) => void = () => {},
): Promise<Finding> {
  const parent = await mkdtemp(path.join(tmpdir(), "single-audit-db-"));
  const directory = path.join(parent, "db");
  const counts = { killed: 0, old: 0, new: 0, migrated: 0 };
  const faults: string[] = [];
  let withinMilliseconds = firstMilliseconds;
  try {
    await cp(repositoryDirectory, directory, { recursive: true });
    const view = await readFile(path.join(directory, viewFile), "utf8");
    for (let round = 1; round <= rounds; round += 1) {
      const comment = `Round ${round} of ${parent}. `;
      await writeFile(path.join(directory, viewFile), view.replace(viewComment, `$1${comment}`));
      await writeMigration(directory, round);
      const outcome = await killOne(client, { databaseUrl, directory, comment, round, withinMilliseconds });
      withinMilliseconds = outcome.milliseconds;
      if (outcome.wasKilled) counts.killed += 1;
      if (outcome.isMigrated) counts.migrated += 1;
      counts[outcome.state] += 1;
      faults.push(...outcome.faults.map((fault) => `Round ${round}: ${fault}`));
      report(`round ${round} of ${rounds}`);
    }
  } finally {
    await rm(parent, { recursive: true, force: true });
  }
  // Else the moments were all before or all after what matters.
  if (counts.killed < rounds / 2)
    faults.push(`Only ${counts.killed} of ${rounds} deployments were still running.`);
  const { killed, old, new: changed, migrated } = counts;
  return {
    figures: `${rounds} deployments, ${killed} killed: ${old} × the old API, ${changed} × the new one; ${migrated} × migrated`,
    faults,
  };
}

async function killOne(
  client: Client,
  {
    databaseUrl,
    directory,
    comment,
    round,
    withinMilliseconds,
  }: { databaseUrl: string; directory: string; comment: string; round: number; withinMilliseconds: number },
) {
  const before = await readApi(client);
  const wasKilled = await killAtSomeMoment(client, {
    script: "db-deploy.ts",
    args: ["--directory", directory],
    env: { DATABASE_URL: databaseUrl },
    applicationName: "db-deploy",
    withinMilliseconds,
  });
  const killed = await readApi(client);
  const migration = await readMigration(client, round);
  const start = performance.now();
  const next = await deployDatabase(databaseUrl, {}, { directory }).catch((error: Error) => error);
  const milliseconds = performance.now() - start;
  const after = await readApi(client);
  const faults: string[] = [];
  if (next instanceof Error) faults.push(`the next deployment failed: ${next.message}`);
  if (!after.includes(comment)) faults.push("the next deployment did not change the API.");
  if (killed !== before && killed !== after) faults.push("the API is neither the old one nor the new one.");
  if (new Set(migration).size !== 1) faults.push("the migration is half done.");
  const state: "new" | "old" = killed === after ? "new" : "old";
  return { wasKilled, isMigrated: migration[0] === true, state, faults, milliseconds };
}

/** The API of a database, as its catalog has it. */
async function readApi(client: Client): Promise<string> {
  const parts = await readCatalog(client);
  return parts
    .filter(({ scope }) => scope === "api")
    .map(({ object, part, definition }) => JSON.stringify([object, part, definition]))
    .join("\n");
}

const nameProbe = (round: number) => `2099123100000${String(round).padStart(4, "0")}_probe`;

async function writeMigration(directory: string, round: number): Promise<void> {
  const halves = ["one", "two"].map((half) => `create table deployment.probe_${round}_${half} ();`);
  await writeFile(
    path.join(directory, "migrations", `${nameProbe(round)}.sql`),
    `-- Lock level: new tables only.\n${halves.join("\nselect pg_sleep(0.03);\n")}\n`,
  );
}

/** Whether each half of a migration, and the note that it was run, are there. */
async function readMigration(client: Client, round: number): Promise<boolean[]> {
  const { rows } = await client.query({
    text: `select to_regclass($1) is not null, to_regclass($2) is not null,
             exists (select from deployment.migrations where name = $3)`,
    values: [`deployment.probe_${round}_one`, `deployment.probe_${round}_two`, nameProbe(round)],
    rowMode: "array",
  });
  return rows[0] ?? [];
}
