import path from "node:path";
import type { Client } from "pg";
import type { StorageOptions } from "../../shared/objects/objects.ts";
import { openObjects } from "../../shared/objects/open-objects.ts";
import type { RowCounts } from "./check-gates.ts";
import { signalLoss } from "./connect-publisher.ts";
import { findFiles } from "./find-files.ts";
import { inTransaction } from "./in-transaction.ts";
import { compareWithLedger } from "./ledger.ts";
import { type LoadOptions, loadDataSet } from "./load-data-set.ts";
import { lockPublication } from "./lock-publication.ts";
import { publishNextGeneration } from "./publish-data-set.ts";
import { computeChecksum, readSourceTables } from "./read-definition.ts";
import { showsSuppressed } from "./suppression.ts";
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
  | { outcome: "published"; id: string; counts: RowCounts }
  | { outcome: "checked"; counts: RowCounts }
  | { outcome: "skipped"; reason: string };

/**
 * Publishes the files of a directory or bucket, with their bulk files, unless they are live already. If anything fails, the
 * live data set stays as it is. The client must have the role publisher.
 *
 * @throws SourceFaults, LeaksFound, RefreshIsRunning; Error if a file cannot be read, or if a deployment has changed a table since
 */
export async function refreshDataSet(client: Client, options: RefreshOptions): Promise<Refreshed> {
  const { from, report = () => {}, publicData, force } = options;
  const source = from.startsWith("s3://") ? from : path.resolve(from);
  const storage = { ...options.storage, signal: signalLoss(client) };
  const files = await findFiles(source, storage, await readSourceTables(client));
  report(`Reading ${files.length === 1 ? "1 file" : `${files.length} files`} of ${source} ...`);
  const load = () => loadDataSet(client, files, options);
  if (options.dryRun) return { outcome: "checked", counts: (await lockPublication(client, load)).counts };
  const checksum = await computeChecksum(files);
  const store = publicData === undefined ? undefined : await openObjects(publicData, storage);
  const reason = force ? undefined : await findReasonToSkip(client, checksum);
  if (reason !== undefined) {
    if (store !== undefined) await publishManifest(client, store);
    return { outcome: "skipped", reason };
  }
  await compareWithLedger(client, storage, { isThorough: true });
  const published = await lockPublication(client, async () => {
    const startedAt = new Date();
    const { counts, rejected, suppression } = await load();
    if (store !== undefined) {
      report("Writing the bulk files ...");
      await writePublicFiles(client, store, "disclosed_next");
    }
    report("Publishing ...");
    await rememberSuppressed(client, suppression.suppressed);
    await compareWithLedger(client, storage);
    let id = "";
    const record = async () => {
      await client.query(replaceDataSets);
      const values = [source, JSON.stringify(counts), checksum, rejected, startedAt, suppression.kept];
      id = (await client.query(recordDataSet, values)).rows[0].id;
    };
    await publishNextGeneration(client, record, { report });
    if (store !== undefined) await publishManifest(client, store).catch(explainThatLive);
    return { id, counts };
  });
  await warmTables(client, report);
  return { outcome: "published", ...published };
}

const replaceDataSets = `
  update publication.data_sets set state = case state when 'live' then 'previous' else 'dropped' end
  where state <> 'dropped'`;

const recordDataSet = `
  insert into publication.data_sets
    (id, source, row_counts, checksum, rejected_rows, started_at, kept_suppressed, state)
  select id, $1, $2, $3, $4, $5, $6, 'live' from disclosed.data_set
  returning id`;

/** Runs in its own transaction, because the ledger must have a suppression before the data set is live. Stays even if publishing fails. */
async function rememberSuppressed(client: Client, reports: string[]): Promise<void> {
  await inTransaction(client, async () => {
    await client.query(
      "select set_config('access.operator', 'data set ' || id, true) from disclosed_next.data_set",
    );
    await client.query(
      "insert into publication.suppressed_reports (report_id) select unnest($1::text[]) on conflict do nothing",
      [reports],
    );
  });
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
         -- A publication that failed suppressed a report that these files show.
         and not ${showsSuppressed}
       or rolled_back_at is not null
     )
     order by state = 'live' desc, published_at desc limit 1`,
    [checksum],
  );
  return rows[0]?.reason;
}
