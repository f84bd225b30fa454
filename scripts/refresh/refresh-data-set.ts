import path from "node:path";
import type { Client } from "pg";
import type { Accepted } from "./check-gates.ts";
import type { FileProgress } from "./fill-staging.ts";
import { findFiles } from "./find-files.ts";
import { checkDataSet, type LoadedDataSet, loadDataSet, type Source } from "./load-data-set.ts";
import { openPublicStore } from "./open-public-store.ts";
import { computeChecksum } from "./read-definition.ts";
import { warmTables } from "./warm-tables.ts";
import { settlePublicFiles, writePublicFiles } from "./write-public-files.ts";

export interface RefreshOptions {
  /** Directory, or s3:// address, of the source files. */
  from: string;
  /** Directory or s3:// address of the bulk files; without it none are written. */
  publicData?: string | undefined;
  tolerate?: number;
  rejects?: string;
  /** Publish even what has lost many rows. */
  acceptShrink?: boolean;
  /** Publish even what has more than doubled. */
  acceptGrowth?: boolean;
  /** Publish even what is live already, or was rolled back. */
  force?: boolean;
  report?: (line: string) => void;
  onProgress?: FileProgress;
}

/** What came of a refresh. */
export type Refreshed =
  | { outcome: "published"; dataSet: LoadedDataSet }
  | { outcome: "skipped"; reason: string };

/**
 * Publishes the files of a directory or bucket, with their bulk files, unless they are what is live. The client is
 * the publisher's.
 *
 * @throws RefreshIsRunning, SourceFaults, and Error that says what to do: then nothing has changed
 */
export async function refreshDataSet(client: Client, options: RefreshOptions): Promise<Refreshed> {
  const { report = () => {} } = options;
  const { source, files } = await findSource(options);
  const checksum = await computeChecksum(files);
  const store = options.publicData === undefined ? undefined : openPublicStore(options.publicData);
  const reason = options.force ? undefined : await findReasonToSkip(client, checksum);
  if (reason !== undefined) {
    if (store !== undefined) await settlePublicFiles(client, store);
    return { outcome: "skipped", reason };
  }
  if (store === undefined) report("PUBLIC_DATA is not set, so no bulk files are written.");
  const dataSet = await loadDataSet(
    client,
    { source, files },
    {
      ...options,
      checksum,
      accepted: readAccepted(options),
      ...(store === undefined
        ? {}
        : { writePublicFiles: (next) => writePublicFiles(next, store, "disclosed_next") }),
    },
  );
  if (store !== undefined) await settlePublicFiles(client, store);
  await warmTables(client, report);
  return { outcome: "published", dataSet };
}

/**
 * Reads and checks the files as a refresh does, up to its publication, and changes nothing.
 *
 * @returns what would be published
 * @throws as `refreshDataSet`
 */
export async function rehearseRefresh(
  client: Client,
  options: RefreshOptions,
): Promise<Pick<LoadedDataSet, "counts" | "rejected">> {
  const { files } = await findSource(options);
  return await checkDataSet(client, files, { ...options, accepted: readAccepted(options) });
}

function readAccepted({ acceptShrink = false, acceptGrowth = false }: RefreshOptions): Accepted {
  return { shrink: acceptShrink, growth: acceptGrowth };
}

async function findSource({ from, report = () => {} }: RefreshOptions): Promise<Source> {
  const source = from.startsWith("s3://") ? from : path.resolve(from);
  const files = await findFiles(source);
  report(`Reading ${files.length} files of ${source} ...`);
  return { source, files };
}

async function findReasonToSkip(client: Client, checksum: string): Promise<string | undefined> {
  const { rows } = await client.query<{ state: string; published: string; rolled_back: string | null }>(
    `select state, to_char(published_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as published,
       to_char(rolled_back_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as rolled_back
     from publication.data_sets
     where checksum = $1 and (
       -- A report that was released meanwhile is another data set.
       state = 'live'
         and (kept_suppressed <@ array(select report_id from publication.suppressed_reports)) is not false
       or rolled_back_at is not null
     )
     order by state = 'live' desc, published_at desc limit 1`,
    [checksum],
  );
  const [same] = rows;
  if (same === undefined) return undefined;
  return same.state === "live"
    ? `This is what is live since ${same.published} UTC: nothing to do. --force publishes it again.`
    : `This was rolled back at ${same.rolled_back} UTC, so it is not published again. --force does it.`;
}
