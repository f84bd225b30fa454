import type { Client } from "pg";
import { dataSetFiles } from "../sql/data-set-files.ts";
import { runSqlFiles } from "../sql/run-sql-file.ts";
import { runTransaction } from "../sql/run-transaction.ts";
import { resetSession } from "../sql/session.ts";
import type { DatabaseFiles } from "./read-files.ts";
import { installLeakCheck, refuseLeaks } from "./refuse-leaks.ts";

// A refresh's files, except those that copy, check and compare rows, and those that record a publication.
const order = [...dataSetFiles, "publish", "views"];

/**
 * Makes the tables of a data set if there are none, so that the API can be deployed. They are empty and not published:
 * until a data set is, requests get 503.
 *
 * @throws SqlFileError, DeploymentRefused
 */
export async function createEmptyTables(
  client: Client,
  { dataSet, leakCheck }: DatabaseFiles,
  report: (line: string) => void,
): Promise<void> {
  const { rows } = await client.query("select to_regclass('dissemination.data_set') as found");
  if (rows[0].found !== null) return;
  const files = order.flatMap((name) => dataSet[`${name}.sql`] ?? []);
  const create = async () => {
    await client.query("set local role publisher");
    await runSqlFiles(client, files);
    await resetSession(client);
    await installLeakCheck(client, leakCheck);
    await refuseLeaks(client);
  };
  await runTransaction(client, create, report, { lock: "publication" });
}
