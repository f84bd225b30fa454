import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { compareCatalogs, type ObjectChange, readCatalog } from "./catalog.ts";
import { listChanged, rebuildApi } from "./deploy-database.ts";
import { readDeployed, recordFingerprint } from "./deployed.ts";
import { type ApiFiles, type DatabaseFiles, readFiles } from "./read-files.ts";
import { inShortTurns } from "./take-turns.ts";

const pollMilliseconds = 100;
/** Editors write a file in several steps. */
const settleMilliseconds = 30;

/** What a save led to. */
export interface Saved {
  /** The files of `api` that were saved, such as `api_v1_1_0/general.sql`. */
  files: string[];
  changes: ObjectChange[];
  milliseconds: number;
  /** Why nothing was applied. */
  failure?: Error;
}

/** Is told of what was saved. */
interface WatchReports {
  /** Each save from now on is seen. */
  watching: () => void;
  /** Files of `api`, which were applied if they could be. */
  api: (saved: Saved) => void;
  /** A file of `data_set`, which comes into effect with the next data set. */
  dataSet: (file: string) => void;
}

/**
 * Applies the API schemas of a directory to a database whenever a file of them is saved, until `signal` aborts.
 * Definitions of the data set are not applied: they need the source files.
 *
 * @throws Error when the connection breaks
 */
export async function watchApi(
  client: Client,
  directory: string,
  signal: AbortSignal,
  reports: WatchReports,
): Promise<void> {
  let known = await readFiles(directory);
  reports.watching();
  while (!signal.aborted) {
    await sleep(pollMilliseconds);
    // A file that is replaced at this moment is there at the next.
    if (!hasChanged(await readFiles(directory).catch(() => known), known)) continue;
    const start = performance.now();
    await sleep(settleMilliseconds);
    const read = await readFiles(directory).catch(() => known);
    const files = listChanged(contentsOf(read.api), contentsOf(known.api));
    listChanged(read.definitions, known.definitions).forEach(reports.dataSet);
    known = read;
    if (files.length === 0 || (await readDeployed(client))?.sha256 === read.api.sha256) continue;
    const before = await readCatalog(client);
    try {
      await inShortTurns(client, () => rebuildApi(client, read, {}));
      const milliseconds = Math.round(performance.now() - start);
      reports.api({ files, changes: compareCatalogs(before, await readCatalog(client)), milliseconds });
      await recordFingerprint(client);
    } catch (failure) {
      if (!(failure instanceof Error)) throw failure;
      // Without a connection there is nothing to watch for.
      await client.query("select 1");
      reports.api({ files, changes: [], milliseconds: Math.round(performance.now() - start), failure });
    }
  }
}

function hasChanged(now: DatabaseFiles, before: DatabaseFiles): boolean {
  return now.api.sha256 !== before.api.sha256 || listChanged(now.definitions, before.definitions).length > 0;
}

/** The files of `api`, such as `api_v1_1_0/general.sql`. */
function contentsOf({ request, versions }: ApiFiles): Record<string, string> {
  const files = [...request, ...versions.flatMap((version) => version.files)];
  return Object.fromEntries(files.map(({ name, sql }) => [name.slice("db/api/".length), sql]));
}
