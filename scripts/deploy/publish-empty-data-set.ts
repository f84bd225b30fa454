import type { Client } from "pg";
import { dataSetFiles } from "../sql/data-set-files.ts";
import { runSqlFiles } from "../sql/run-sql-file.ts";
import { runTransaction } from "../sql/run-transaction.ts";
import { resetSession } from "../sql/session.ts";
import type { DatabaseFiles } from "./read-files.ts";
import { refuseLeaks } from "./refuse-leaks.ts";

// A refresh's files, except those that copy, check and compare rows.
const order = [...dataSetFiles, "publish", "views", "record_empty"];

/**
 * Publishes an empty data set if there is none, so that the API has something to read.
 *
 * @throws SqlFileError, DeploymentRefused
 */
export async function publishEmptyDataSet(
  client: Client,
  { dataSet, definitions, leakCheck }: DatabaseFiles,
  report: (line: string) => void,
): Promise<void> {
  const { rows } = await client.query("select to_regclass('dissemination.data_set') as found");
  if (rows[0].found !== null) return;
  const files = order.flatMap((name) => dataSet[`${name}.sql`] ?? []);
  const determining = dataSetFiles.map((name) => [`${name}.sql`, definitions[`${name}.sql`]]);
  const publish = async () => {
    await client.query("set local role publisher");
    await runSqlFiles(client, files);
    await client.query("update publication.data_sets set definitions = $1 where state = 'live'", [
      JSON.stringify(Object.fromEntries(determining)),
    ]);
    await resetSession(client);
    await refuseLeaks(client, leakCheck);
  };
  await runTransaction(client, publish, report, { lock: "publication" });
}
