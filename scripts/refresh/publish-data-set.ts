import type { Client } from "pg";
import { checkLeaks, checkLeaksInRows } from "../sql/check-leaks.ts";
import { runTransaction } from "../sql/run-transaction.ts";
import { runDefinition } from "./read-definition.ts";

/** More than three minutes, which is longer than any tier's statement timeout. */
const attempts = 600;
const droppedSchemas = ["disclosed_dropped", "suppressed_dropped"];

/**
 * Makes the next generation live in one transaction, and then drops the generation before the previous one.
 *
 * @param record records in publication.data_sets, in the same transaction, which data set goes live and which it replaces
 * @param options.prepare SQL that comes first in the transaction
 * @throws LeaksFound if suppressed submissions would be shown. Nothing has changed then.
 */
export async function publishNextGeneration(
  client: Client,
  record: () => Promise<unknown>,
  { prepare = "", report = () => {} }: { prepare?: string; report?: (line: string) => void } = {},
): Promise<void> {
  await dropSchemas(client, droppedSchemas);
  const publish = async () => {
    // Waits for a deployment, whose leak check and tables may be newer. A deployment takes these locks in the same order.
    await client.query("lock table publication.data_sets in row exclusive mode");
    await client.query("select pg_advisory_xact_lock_shared(hashtext('api_schemas'))");
    await client.query(prepare);
    await runDefinition(client, "publish.sql");
    // Checking rows takes long, so it comes before requests have to wait.
    await checkLeaksInRows(client);
    await record();
    await runDefinition(client, "go_live.sql");
    // Requests wait from here to the end.
    await client.query("select data_set.bind_views()");
    await checkLeaks(client);
  };
  await runTransaction(client, publish, report, { lock: "publication", attempts });
  // If a query still reads the old generation, the next run drops it.
  await dropSchemas(client, droppedSchemas, 1).catch((error: Error) => {
    report(
      `The data set before the previous one could not be dropped. The next refresh drops it. ${error.message}`,
    );
  });
}

/** Drops schemas that an earlier run may have left behind. Waits for queries that still read them. */
export async function dropSchemas(client: Client, schemas: string[], limit = attempts): Promise<void> {
  const drop = () => client.query(`drop schema if exists ${schemas.join(", ")} cascade`);
  await runTransaction(client, drop, undefined, { lock: "publication", attempts: limit });
}
