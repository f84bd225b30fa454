import type { Client } from "pg";
import type { StorageOptions } from "../../shared/objects/objects.ts";
import { compareWithLedger } from "./ledger.ts";
import { lockPublication } from "./lock-publication.ts";
import { dropSchemas, publishNextGeneration } from "./publish-data-set.ts";
import { findPrevious, listReports } from "./suppression.ts";

/**
 * Makes the previous data set live again, and the live one the previous: a second rollback undoes the first.
 *
 * @returns the ID of the data set that is live now
 * @throws Error if there is no previous data set, or if it shows a report suppressed since then
 */
export async function rollBack(client: Client, storage?: StorageOptions): Promise<string> {
  await compareWithLedger(client, storage, { isThorough: true });
  return await lockPublication(client, async () => {
    const previous = await findPrevious(client);
    if (previous === undefined) throw new Error("There is no previous data set to roll back to.");
    const { source, suppressed } = previous;
    if (suppressed.length > 0) throw new Error(describeSuppressedSince(suppressed, source));
    await dropSchemas(client, ["disclosed_next", "suppressed_next"]);
    const record = () => recordRollback(client, previous.id);
    await publishNextGeneration(client, record, { prepare: beforeRollback });
    return previous.id;
  });
}

const describeSuppressedSince = (reports: string[], source: string) =>
  `The previous data set would make these reports public, but they were suppressed later: ${listReports(reports)}. Nothing has changed.
To publish the files of that data set with these reports suppressed, run npm run refresh -- --from ${source} --force --accept-shrink --accept-growth.
To make a report public again, run npm run refresh -- --release REPORT_ID, then roll back.`;

const beforeRollback = `
  alter schema disclosed_previous rename to disclosed_next;
  alter schema suppressed_previous rename to suppressed_next;`;

async function recordRollback(client: Client, id: string): Promise<void> {
  // IDs sort by time. A rollback that undoes another one replaces an older data set, which has no fault.
  await client.query(
    `update publication.data_sets set state = 'previous', rolled_back_at = case when id > $1 then now() end
     where state = 'live'`,
    [id],
  );
  await client.query(
    "update publication.data_sets set state = 'live', published_at = now(), rolled_back_at = null where id = $1",
    [id],
  );
}
