import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { runTransaction } from "../sql/run-transaction.ts";
import { compareCatalogs, type ObjectChange, readCatalog } from "./catalog.ts";
import { listChanged, rebuildApi } from "./deploy-database.ts";
import { readDeployed, recordFingerprint } from "./deployed.ts";
import { type DatabaseFiles, readFiles } from "./read-files.ts";

const pollMilliseconds = 100;
/** Editors write a file in several steps. */
const settleMilliseconds = 30;

/** The result of one save. */
export interface Saved {
  /** The saved files, such as `api/api_v1_1_0/general.sql` and `data_set/build.sql`. */
  files: string[];
  changes: ObjectChange[];
  milliseconds: number;
  /** Why nothing was applied. */
  failure?: Error;
}

/**
 * Applies the API schemas of a directory to a database whenever one of their files is saved, until `signal` aborts. Files of
 * `data_set` are reported only: they need the source files.
 *
 * @throws Error if the connection breaks
 */
export async function watchApi(
  client: Client,
  directory: string,
  signal: AbortSignal,
  report: (saved: Saved) => void,
): Promise<void> {
  let known = await readFiles(directory);
  while (!signal.aborted) {
    await sleep(pollMilliseconds);
    const isChanged = (read: DatabaseFiles) => listChanged(contentsOf(read), contentsOf(known)).length > 0;
    // An editor may be replacing a file right now.
    if (!isChanged(await readFiles(directory).catch(() => known))) continue;
    await sleep(settleMilliseconds);
    const read = await readFiles(directory).catch(() => known);
    const files = listChanged(contentsOf(read), contentsOf(known));
    known = read;
    const start = performance.now();
    const elapsed = () => Math.round(performance.now() - start);
    try {
      const before = await readCatalog(client);
      if ((await readDeployed(client))?.sha256 !== read.api.sha256)
        await runTransaction(client, () => rebuildApi(client, read, {}));
      const milliseconds = elapsed();
      report({ files, changes: compareCatalogs(before, await readCatalog(client)), milliseconds });
      await recordFingerprint(client);
    } catch (failure) {
      if (!(failure instanceof Error)) throw failure;
      // Without a connection there is nothing to watch for.
      await client.query("select 1");
      report({ files, changes: [], milliseconds: elapsed(), failure });
    }
  }
}

function contentsOf({ api: { request, versions }, dataSet }: DatabaseFiles): Record<string, string> {
  const files = [...request, ...versions.flatMap((version) => version.files), ...Object.values(dataSet)];
  return Object.fromEntries(files.map(({ name, sql }) => [name.slice("db/".length), sql]));
}
