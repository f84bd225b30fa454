import { existsSync, readdirSync, watch } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { compareCatalogs, type ObjectChange, readCatalog } from "./catalog.ts";
import { rebuildApi } from "./deploy-database.ts";
import { readDeployed, recordFingerprint } from "./deployed.ts";
import { readFiles } from "./read-files.ts";
import { inShortTurns } from "./take-turns.ts";

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
export interface WatchReports {
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
  const saved = new Set<string>();
  let wake = () => {};
  const api = path.join(directory, "api");
  // A folder at a time: Node's recursive watch loses files that an editor replaces in place of writing to them.
  const watched = new Set<string>();
  const watchFolders = () => {
    for (const folder of [".", ...listFolders(api)]) {
      if (watched.has(folder)) continue;
      watched.add(folder);
      const watcher = watch(path.join(api, folder), { signal }, (_event, name) => {
        if (folder === ".") watchFolders();
        else if (name?.endsWith(".sql")) saved.add(path.join(folder, name));
        wake();
      });
      watcher.on("error", () => {});
    }
  };
  watchFolders();
  watchDataSet(path.join(directory, "data_set"), signal, reports.dataSet);
  reports.watching();
  signal.addEventListener("abort", () => wake());
  while (!signal.aborted) {
    if (saved.size === 0) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      continue;
    }
    const start = performance.now();
    await sleep(settleMilliseconds);
    const files = [...saved].sort();
    saved.clear();
    const before = await readCatalog(client);
    try {
      const read = await readFiles(directory);
      if ((await readDeployed(client))?.sha256 === read.api.sha256) continue;
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

/** Says once for each save which file it was. */
function watchDataSet(directory: string, signal: AbortSignal, report: (file: string) => void): void {
  if (!existsSync(directory)) return;
  const settling = new Set<string>();
  const watcher = watch(directory, { signal }, (_event, name) => {
    if (!name?.endsWith(".sql") || settling.has(name)) return;
    settling.add(name);
    setTimeout(() => {
      settling.delete(name);
      report(name);
    }, settleMilliseconds);
  });
  watcher.on("error", () => {});
}

function listFolders(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}
