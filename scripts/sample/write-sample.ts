import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import type { Client } from "pg";
import { from as copyFrom, to as copyTo } from "pg-copy-streams";
import { connect } from "../../shared/connect.ts";
import { deployDatabase } from "../deploy/deploy-database.ts";
import { runDefinition } from "../refresh/read-definition.ts";
import { startScratchServer } from "../servers/scratch-database.ts";

export interface SampleOptions {
  /** Receives a `<table>.csv` for each source table. */
  directory: string;
  /** Current submissions, public and suppressed. The submissions that they supersede are added. */
  submissions?: number;
  seed?: number;
  report?: (line: string) => void;
}

const sampleDirectory = path.resolve(import.meta.dirname, "../../db/sample");
/** In order: each file uses the tables and functions that earlier files create. */
const files = [
  ..."functions auditees submissions awards findings federal_awards texts findings_text".split(" "),
  ..."corrective_action_plans notes_to_sefa passthrough additional_ueis additional_eins".split(" "),
  ..."secondary_auditors resubmission general files".split(" "),
];

/**
 * Runs `generateSample` on a scratch database, to which it deploys `db`, because the files have the columns of its tables.
 *
 * @param serverUrl a server to create the scratch database on, as superuser; if absent, a server is started
 * @param signal aborting leaves no file behind
 */
export async function writeSample({
  serverUrl,
  signal,
  ...options
}: SampleOptions & { serverUrl?: string | undefined; signal?: AbortSignal }): Promise<
  Record<string, number>
> {
  const server = await startScratchServer(serverUrl);
  try {
    const url = await server.create();
    await deployDatabase(url);
    const client = await connect(url, "sample");
    // Closes the connection, which cancels the running statement.
    signal?.addEventListener("abort", () => void client.end());
    signal?.throwIfAborted();
    return await generateSample(client, options).finally(() => client.end());
  } finally {
    await server.close();
  }
}

/**
 * Writes generated submissions as CSV files, in the format that the refresh reads. The same arguments give the same
 * bytes. The SQL of `db/sample` generates the rows in a transaction that is rolled back. Existing files are replaced
 * once all new files are complete.
 *
 * @returns the number of rows of each table
 */
export async function generateSample(
  client: Client,
  { directory, submissions = 2000, seed = 1, report = () => {} }: SampleOptions,
): Promise<Record<string, number>> {
  const rows: Record<string, number> = {};
  await mkdir(directory, { recursive: true });
  const parts = await mkdtemp(path.join(directory, ".parts-"));
  await client.query("begin");
  try {
    await client.query(
      `select set_config('sample.submissions', $1, true), set_config('sample.seed', $2, true),
         set_config('work_mem', '128MB', true), set_config('jit', 'off', true)`,
      [submissions, seed],
    );
    await runDefinition(client, "staging.sql");
    await client.query(await readSampleFile("tables.sql"));
    for (const name of await readdir(sampleDirectory))
      if (name.endsWith(".csv")) await loadTable(client, name);
    for (const name of files) {
      report(`Generating ${name} ...`);
      await client.query(await readSampleFile(`${name}.sql`));
    }
    const listFiles =
      "select name, sample.describe_file(name) as query from data_set.tables where is_source order by place";
    for (const { name, query } of (await client.query(listFiles)).rows) {
      report(`Writing ${name}.csv ...`);
      const copy = client.query(copyTo(`copy (${query}) to stdout (format csv, header)`));
      await pipeline(copy, createWriteStream(path.join(parts, `${name}.csv`)));
      rows[name] = copy.rowCount;
    }
    for (const file of await readdir(parts)) await rename(path.join(parts, file), path.join(directory, file));
    return rows;
  } finally {
    await rm(parts, { recursive: true });
    await client.query("rollback").catch(() => {});
  }
}

const readSampleFile = (name: string) => readFile(path.join(sampleDirectory, name), "utf8");

async function loadTable(client: Client, file: string): Promise<void> {
  const csv = await readSampleFile(file);
  const columns = csv.slice(0, csv.indexOf("\n"));
  const copy = copyFrom(`copy sample.${path.parse(file).name} (${columns}) from stdin (format csv, header)`);
  await pipeline([csv], client.query(copy));
}
