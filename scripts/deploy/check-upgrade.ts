import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { $ } from "zx";
import { connect } from "../../service/connect.ts";
import { findFiles } from "../refresh/find-files.ts";
import { loadDataSet } from "../refresh/load-data-set.ts";
import { compareCatalogs, describeChanges, readCatalog } from "./catalog.ts";
import { deployDatabase } from "./deploy-database.ts";

/** What the checks need from outside: where to try things, and source files to try them on. */
export interface CheckTools {
  /** Creates an empty database and returns its address. */
  createDatabase: () => Promise<string>;
  /** Writes source files that fit the definitions (a `data_set` directory). */
  writeSample: (options: { directory: string; submissions: number; definitions: string }) => Promise<unknown>;
}

/**
 * Upgrades a database of the last release (the newest git tag `v…`) that holds a sample data set to the state of `directory`.
 *
 * @returns what differs from a new database; nothing if there is no release
 * @throws Error if a step fails
 */
export async function checkUpgrade(directory: string, tools: CheckTools): Promise<string[]> {
  const git = $({ cwd: directory, nothrow: true, quiet: true });
  const tag = (await git`git describe --tags --abbrev=0 --match v[0-9]*`).stdout.trim();
  if (tag === "") return [];
  const work = await mkdtemp(path.join(tmpdir(), "single-audit-release-"));
  try {
    const [release, sample] = [path.join(work, "db"), path.join(work, "sample")];
    await mkdir(release);
    await $({ cwd: directory, quiet: true })`git archive ${tag} | tar -x -C ${release}`;
    const upgraded = await tools.createDatabase();
    await deployDatabase(upgraded, {}, { directory: release });
    const definitions = path.join(release, "data_set");
    await tools.writeSample({ directory: sample, submissions: 40, definitions });
    const client = await connect(upgraded, "db-check");
    await client.query("set role publisher");
    const source = { source: "sample", files: await findFiles(sample, definitions) };
    await loadDataSet(client, source, { definitions }).finally(() => client.end());
    await deployDatabase(upgraded, {}, { directory });
    const fresh = await tools.createDatabase();
    await deployDatabase(fresh, {}, { directory });
    const isComparable = ({ scope }: { scope: string }) => scope !== "data_set";
    const [wanted, got] = [await readAll(fresh), await readAll(upgraded)].map((rows) =>
      rows.filter(isComparable),
    );
    return describeChanges(compareCatalogs(wanted ?? [], got ?? [])).map((line) => `from ${tag}: ${line}`);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function readAll(databaseUrl: string) {
  const client = await connect(databaseUrl, "db-check");
  return await readCatalog(client).finally(() => client.end());
}
