import type { Client } from "pg";
import { runSqlFiles } from "../sql/run-sql-file.ts";
import { runTransaction } from "../sql/run-transaction.ts";
import type { DatabaseFiles } from "./read-files.ts";
import { refuseLeaks } from "./refuse-leaks.ts";

// What a refresh runs, without rows to copy, to check and to compare.
const order = ["staging", "check", "build", "indexes", "fingerprints", "totals", "publish", "views"];

/**
 * Publishes a data set without rows where there is none, so that the API has something to read.
 *
 * @throws SqlFileError, DeploymentRefused
 */
export async function publishEmptyDataSet(
  client: Client,
  { dataSet, leakCheck }: DatabaseFiles,
  report: (line: string) => void,
): Promise<void> {
  const { rows } = await client.query("select to_regclass('dissemination.data_set') as found");
  if (rows[0].found !== null) return;
  const files = order.flatMap((name) => dataSet[`${name}.sql`] ?? []);
  await runTransaction(
    client,
    async () => {
      await client.query("select pg_advisory_xact_lock(hashtext('publication'))");
      await client.query("set local role publisher");
      await runSqlFiles(client, files);
      await client.query(recordDataSet);
      await client.query("select publication.describe_data_set()");
      await client.query("reset role");
      await refuseLeaks(client, leakCheck);
    },
    report,
  );
}

const recordDataSet = `
  insert into publication.data_sets (id, source, state, row_counts)
  select data_set.id, 'empty', 'live', (
    select jsonb_object_agg(relname, '{"disclosed": 0, "suppressed": 0}'::jsonb)
    from pg_catalog.pg_class where relnamespace = 'suppressed'::regnamespace and relkind = 'r'
  )
  from disclosed.data_set`;
