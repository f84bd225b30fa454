import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { $ } from "zx";
import { connect } from "../../service/connect.ts";
import { describeError } from "../../service/describe-error.ts";
import { DoesNotFit } from "../refresh/check-served.ts";
import { findFiles } from "../refresh/find-files.ts";
import { loadDataSet } from "../refresh/load-data-set.ts";
import { rollBack } from "../refresh/roll-back.ts";
import { compareCatalogs, describeChanges, readCatalog } from "./catalog.ts";
import { deployDatabase } from "./deploy-database.ts";
import { readMigrations } from "./read-files.ts";

const submissions = 40;

/** What the checks are given: where to try things, and what to try them on. */
export interface CheckTools {
  /** Whether dangerous migrations fail, in place of being warned of. */
  isStrict?: boolean;
  /** Makes an empty database and gives its address. */
  createDatabase: () => Promise<string>;
  /** Writes source files as the definitions (a `data_set` directory) have them. */
  writeSample: (options: { directory: string; submissions: number; definitions: string }) => Promise<unknown>;
}

/**
 * Brings a database of the last release (the newest git tag `v…`), with a data set that its own definitions made, to
 * the state of `directory`: migrations, API, a data set by today's definitions, a rollback and its undoing.
 *
 * @returns what differs from a database that was made from nothing
 * @throws Error when a step fails
 */
export async function checkUpgrade(
  directory: string,
  tools: CheckTools,
  warnings: string[],
  notes: string[] = [],
): Promise<string[]> {
  const git = $({ cwd: directory, nothrow: true, quiet: true });
  const tag = (await git`git describe --tags --abbrev=0 --match v[0-9]*`).stdout.trim();
  if (tag === "") {
    notes.push("not checked: there is no earlier release (a git tag v…) to start from");
    return [];
  }
  const work = await mkdtemp(path.join(tmpdir(), "single-audit-release-"));
  try {
    const archive = path.join(work, "db.tar");
    const release = path.join(work, "db");
    await mkdir(release);
    await $({ cwd: directory, quiet: true })`git archive --output=${archive} ${tag}`;
    await $({ quiet: true })`tar -xf ${archive} -C ${release}`;
    const upgraded = await makeRelease(release, tag, tools, warnings);
    await upgrade(upgraded, directory, tools);
    const fresh = await tools.createDatabase();
    await deployDatabase(fresh, {}, { directory });
    const [wanted, got] = [await withClient(fresh, readCatalog), await withClient(upgraded, readCatalog)];
    const found = describeChanges(compareCatalogs(wanted, got));
    await tryRollback(upgraded, directory, (refusal) => {
      warnings.push(`After it a data set of ${tag} cannot be rolled back to: ${refusal}`);
    });
    return found.map((line) => `from ${tag}: ${line}`);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** A database of the release with data in it, or with its migrations alone where today's programs can do no more. */
async function makeRelease(
  release: string,
  tag: string,
  tools: CheckTools,
  warnings: string[],
): Promise<string> {
  const databaseUrl = await tools.createDatabase();
  try {
    await deployDatabase(databaseUrl, {}, { directory: release });
    await publishSample(databaseUrl, release, tools);
    return databaseUrl;
  } catch (error) {
    warnings.push(
      `Today's programs cannot deploy ${tag} and load data there, so its migrations alone are tried: ${describeError(error)}`,
    );
    const empty = await tools.createDatabase();
    const names = (await readMigrations(release)).map(({ id }) => id);
    await deployDatabase(empty, {}, { directory: release, onlyMigrations: names });
    return empty;
  }
}

/** A new column is published before it is served; one that goes is served no more before that. */
async function upgrade(databaseUrl: string, directory: string, tools: CheckTools): Promise<void> {
  try {
    await publishSample(databaseUrl, directory, tools);
  } catch (error) {
    if (!(error instanceof DoesNotFit)) throw error;
    await deployDatabase(databaseUrl, {}, { directory });
    await publishSample(databaseUrl, directory, tools);
    return;
  }
  await deployDatabase(databaseUrl, {}, { directory });
}

async function publishSample(databaseUrl: string, directory: string, tools: CheckTools): Promise<void> {
  const definitions = path.join(directory, "data_set");
  const files = await mkdtemp(path.join(tmpdir(), "single-audit-sample-"));
  try {
    await tools.writeSample({ directory: files, submissions, definitions });
    const source = { source: "sample", files: await findFiles(files, definitions) };
    await asPublisher(databaseUrl, (client) => loadDataSet(client, source, { definitions }));
  } finally {
    await rm(files, { recursive: true, force: true });
  }
}

/** Back and forth again. That the API needs what the release did not have is no fault, but worth knowing. */
async function tryRollback(
  databaseUrl: string,
  directory: string,
  onRefusal: (refusal: string) => void,
): Promise<void> {
  const definitions = path.join(directory, "data_set");
  try {
    await asPublisher(databaseUrl, async (client) => {
      await rollBack(client, definitions);
      await rollBack(client, definitions);
    });
  } catch (error) {
    if (!(error instanceof DoesNotFit)) throw error;
    onRefusal(error.message);
  }
}

type Work<Result> = (client: Awaited<ReturnType<typeof connect>>) => Promise<Result>;

async function asPublisher<Result>(databaseUrl: string, work: Work<Result>): Promise<Result> {
  return await withClient(databaseUrl, async (client) => {
    await client.query("set role publisher");
    return await work(client);
  });
}

async function withClient<Result>(databaseUrl: string, work: Work<Result>): Promise<Result> {
  const client = await connect(databaseUrl, "db-check");
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
