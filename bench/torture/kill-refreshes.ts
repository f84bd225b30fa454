import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable, Writable } from "node:stream";
import type { Client } from "pg";
import { runRefreshProgram } from "../../scripts/refresh/refresh-program.ts";
import { writeSample } from "../../scripts/sample/write-sample.ts";
import type { Surroundings } from "../../service/surroundings.ts";
import { killAtSomeMoment } from "./kill-program.ts";
import type { Finding } from "./part.ts";

const submissions = 300;

interface Source {
  directory: string;
  /** Of the rows that are served of it. */
  print: string;
  /** How long it took to publish it the last time. */
  milliseconds: number;
}

/**
 * Kills refreshes at random moments. Afterwards all rows that are served are those of the old data set or of the new one,
 * the next refresh completes, and it leaves nothing of the killed one.
 *
 * @param client a database in the state of `db`, with whose data set anything may be done
 */
export async function killRefreshes(
  client: Client,
  databaseUrl: string,
  rounds: number,
  report: (line: string) => void = () => {},
): Promise<Finding> {
  const directory = await mkdtemp(path.join(tmpdir(), "single-audit-refresh-"));
  const env = { DATABASE_URL: databaseUrl, PUBLIC_DATA: path.join(directory, "public") };
  const counts = { killed: 0, old: 0, new: 0 };
  const faults: string[] = [];
  try {
    // What one of them suppresses stays suppressed in the other.
    await publishSample(client, env, path.join(directory, "one"), 1);
    await publishSample(client, env, path.join(directory, "other"), 2);
    let next = await publishSample(client, env, path.join(directory, "one"), 1);
    let live = await publishSample(client, env, path.join(directory, "other"), 2);
    for (let round = 1; round <= rounds; round += 1) {
      const outcome = await killOne(client, env, live, next);
      if (outcome.wasKilled) counts.killed += 1;
      counts[outcome.state] += 1;
      faults.push(...outcome.faults.map((fault) => `Round ${round}: ${fault}`));
      [live, next] = [next, live];
      report(`round ${round} of ${rounds}`);
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  if (counts.killed < rounds / 2)
    faults.push(`Only ${counts.killed} of ${rounds} refreshes were still running.`);
  return {
    figures: `${rounds} refreshes, ${counts.killed} killed: ${counts.old} × the old data set, ${counts.new} × the new one`,
    faults,
  };
}

type Env = Record<"DATABASE_URL" | "PUBLIC_DATA", string>;

async function publishSample(client: Client, env: Env, directory: string, seed: number): Promise<Source> {
  await writeSample({ directory, submissions, seed });
  const start = performance.now();
  const failure = await runRefresh(directory, env);
  if (failure !== undefined) throw new Error(failure);
  const milliseconds = performance.now() - start;
  return { directory, print: await fingerprint(client), milliseconds };
}

async function killOne(client: Client, env: Env, live: Source, next: Source) {
  const wasKilled = await killAtSomeMoment(client, {
    script: "refresh.ts",
    args: readArguments(next.directory),
    env,
    applicationName: "refresh",
    withinMilliseconds: next.milliseconds,
  });
  const killed = await fingerprint(client);
  const faults: string[] = [];
  if (killed !== live.print && killed !== next.print)
    faults.push("the rows are neither the old ones nor the new ones.");
  const start = performance.now();
  const failure = await runRefresh(next.directory, env);
  next.milliseconds = performance.now() - start;
  if (failure !== undefined) faults.push(`the next refresh failed: ${failure}`);
  if ((await fingerprint(client)) !== next.print) faults.push("the next refresh did not publish its rows.");
  faults.push(...(await findLeftovers(client, env.PUBLIC_DATA)).map((left) => `${left} is left.`));
  const state: "new" | "old" = killed === next.print ? "new" : "old";
  return { wasKilled, state, faults };
}

const readArguments = (source: string) => ["--from", source, "--force", "--accept-shrink", "--accept-growth"];

/** @returns what went wrong, if anything did */
async function runRefresh(source: string, env: Env): Promise<string | undefined> {
  let output = "";
  const stream = () =>
    new Writable({
      write: (chunk, _encoding, done) => {
        output += String(chunk);
        done();
      },
    });
  const around: Surroundings = {
    argv: ["node", "refresh", ...readArguments(source)],
    env,
    stdin: Readable.from([]),
    stdout: stream(),
    stderr: stream(),
  };
  await runRefreshProgram(around);
  return Number(around.exitCode ?? 0) === 0 ? undefined : output;
}

/** Of all rows that are served. */
async function fingerprint(client: Client): Promise<string> {
  const tables = await client.query(
    "select viewname from pg_views where schemaname = 'dissemination' and viewname <> 'data_set' order by viewname",
  );
  const hash = createHash("sha256");
  for (const { viewname } of tables.rows) {
    const { rows } = await client.query(
      `select count(*), md5(string_agg(md5(served::text), '' order by md5(served::text))) from dissemination.${viewname} as served`,
    );
    hash.update(JSON.stringify([viewname, rows]));
  }
  return hash.digest("hex");
}

async function findLeftovers(client: Client, publicData: string): Promise<string[]> {
  const { rows } = await client.query(
    "select nspname from pg_namespace where nspname ~ '_next$|_dropped$|^staging$'",
  );
  const manifest = JSON.parse(await readFile(path.join(publicData, "manifest.json"), "utf8"));
  const { rows: live } = await client.query("select id from dissemination.data_set");
  return [
    ...rows.map(({ nspname }) => `the schema ${nspname}`),
    ...(await readdir(publicData)).filter((name) => name.startsWith(".part")),
    ...(manifest.data_set === live[0].id ? [] : ["a manifest of another data set"]),
  ];
}
