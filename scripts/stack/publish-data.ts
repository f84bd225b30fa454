import type { Client } from "pg";
import { openObjects } from "../../shared/objects/open-objects.ts";
import { refreshDataSet } from "../refresh/refresh-data-set.ts";
import { publishManifest } from "../refresh/write-public-files.ts";

/** Whether a data set was published. The database may not be deployed yet. */
export async function hasData(client: Client): Promise<boolean> {
  const { rows } = await client.query(
    "select to_regclass('publication.data_sets') is not null as is_deployed",
  );
  const query = "select from publication.data_sets limit 1";
  return rows[0].is_deployed && (await client.query(query)).rowCount === 1;
}

/** Returns the source of the last data set if none is live, because the ledger had suppressions that this database did not know. */
export async function findWithdrawnSource(client: Client): Promise<string | undefined> {
  const { rows } = await client.query<{ source: string }>(
    "select source from publication.data_sets where publication.live_data_set() is null order by published_at desc limit 1",
  );
  return rows[0]?.source;
}

/** Publishes CSV files. The bulk files are written later, so that the stack is ready sooner. */
export async function publishData(
  client: Client,
  source: string,
  report: (line: string) => void,
): Promise<void> {
  report("Loading the data ...");
  await client.query("set role publisher");
  await refreshDataSet(client, { from: source, report, force: true, acceptShrink: true, acceptGrowth: true });
  await client.query("reset role");
}

/** Writes the bulk files of the live data set if they are missing, and removes those of older data sets. */
export async function writeBulkFiles(client: Client, directory: string): Promise<void> {
  await client.query("set role publisher");
  await publishManifest(client, await openObjects(directory));
  await client.end();
}
