import path from "node:path";
import type { Client } from "pg";
import type { StorageOptions } from "../../shared/objects/objects.ts";
import { openObjects } from "../../shared/objects/open-objects.ts";
import { signalLoss } from "./connect-publisher.ts";
import { findFiles } from "./find-files.ts";
import { type LoadedDataSet, type LoadOptions, loadDataSet } from "./load-data-set.ts";
import { computeChecksum, readSourceTables } from "./read-definition.ts";
import { warmTables } from "./warm-tables.ts";
import { publishManifest, writePublicFiles } from "./write-public-files.ts";

export interface RefreshOptions extends LoadOptions {
  /** Directory, or s3:// URL, of the source files. */
  from: string;
  /** Directory or s3:// URL of the bulk files. Without it none are written. */
  publicData?: string | undefined;
  /** How to reach s3:// URLs. */
  storage?: StorageOptions | undefined;
  /** Publishes files even if they are already live or were rolled back. */
  force?: boolean;
}

type Refreshed =
  | { outcome: "published" | "checked"; dataSet: LoadedDataSet }
  | { outcome: "skipped"; reason: string };

/**
 * Publishes the files of a directory or bucket, with their bulk files, unless they are live already. The client must have the
 * role publisher.
 *
 * @throws the errors of `loadDataSet`, after which nothing has changed
 */
export async function refreshDataSet(client: Client, options: RefreshOptions): Promise<Refreshed> {
  const { from, report = () => {}, publicData, force } = options;
  const source = from.startsWith("s3://") ? from : path.resolve(from);
  const storage = { ...options.storage, signal: signalLoss(client) };
  const files = await findFiles(source, storage, await readSourceTables(client));
  report(`Reading ${files.length} files of ${source} ...`);
  const load = { acceptShrink: false, acceptGrowth: false, ...options };
  if (options.dryRun)
    return { outcome: "checked", dataSet: await loadDataSet(client, { source, files }, load) };
  const checksum = await computeChecksum(files);
  const store = publicData === undefined ? undefined : await openObjects(publicData, storage);
  const reason = force ? undefined : await findReasonToSkip(client, checksum);
  if (reason !== undefined) {
    if (store !== undefined) await publishManifest(client, store);
    return { outcome: "skipped", reason };
  }
  const bulkFiles = store && { writePublicFiles: () => writePublicFiles(client, store, "disclosed_next") };
  const dataSet = await loadDataSet(client, { source, files }, { ...load, checksum, ...bulkFiles });
  if (store !== undefined) await publishManifest(client, store).catch(explainThatLive);
  await warmTables(client, report);
  return { outcome: "published", dataSet };
}

export function explainThatLive(cause: Error): never {
  const message = `The data set is live, but requests for its bulk files get 503: ${cause.message}`;
  throw new Error(`${message} Run the refresh again to finish.`, { cause });
}

async function findReasonToSkip(client: Client, checksum: string): Promise<string | undefined> {
  const { rows } = await client.query<{ reason: string }>(
    `select case state
         when 'live' then format('These files have been live since %s UTC: nothing to do. To publish them again, add --force.',
           to_char(published_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI'))
         else format('These files were rolled back at %s UTC, so they are not published again. To do so, add --force.',
           to_char(rolled_back_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI'))
       end as reason
     from publication.data_sets
     where checksum = $1 and (
       -- If a report was released since then, the same files give another data set.
       state = 'live'
         and (kept_suppressed <@ array(select report_id from publication.suppressed_reports)) is not false
       or rolled_back_at is not null
     )
     order by state = 'live' desc, published_at desc limit 1`,
    [checksum],
  );
  return rows[0]?.reason;
}
