import { type Client, DatabaseError } from "pg";
import { checkLeaks } from "../sql/check-leaks.ts";
import { runTransaction } from "../sql/run-transaction.ts";
import { resetSettings } from "../sql/session.ts";
import { checkServed } from "./check-served.ts";
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
  let retyped: string[] = [];
  const publish = async () => {
    // Waits for a deployment, whose leak check may be newer, and whose schemas would lack the description of this data set. A
    // deployment takes these locks in the same order.
    await client.query("lock table publication.data_sets in row exclusive mode");
    await client.query("select pg_advisory_xact_lock_shared(hashtext('api_schemas'))");
    await client.query(prepare);
    await runDefinition(client, "publish.sql");
    // Checking rows takes long, so it comes before requests have to wait.
    await checkLeaks(client, "");
    retyped = await checkServed(client, "disclosed");
    await record();
    await runDefinition(client, "record_changes.sql");
    await client.query("select publication.describe_data_set()");
    // Requests wait from here to the end. views.sql rebuilds the API if a served column has another type. As in a
    // deployment, this waits for running requests, before it locks what they read.
    if (retyped.length > 0) await client.query("select pg_advisory_xact_lock(hashtext('api_schemas'))");
    await runDefinition(client, "views.sql");
    if (retyped.length > 0) await resetSettings(client);
    await checkLeaks(client);
  };
  await runTransaction(client, publish, report, { lock: "publication", attempts }).catch((error: unknown) => {
    const dependents = findDatabaseError(error, "2BP01");
    if (dependents === undefined) throw error;
    const { detail, message } = dependents;
    throw new Error(
      `An object outside the API reads columns that would change. Nothing has changed. Drop the object first: ${detail ?? message}.`,
      { cause: error },
    );
  });
  if (retyped.length > 0)
    report(["The API was rebuilt, because columns have other types:", ...retyped].join("\n  "));
  // If a query still reads the old generation, the next run drops it.
  await dropSchemas(client, droppedSchemas, 1).catch((error: unknown) => {
    if (findDatabaseError(error, "55P03") === undefined) throw error;
  });
}

/** Drops schemas that an earlier run may have left behind. Waits for queries that still read them. */
export async function dropSchemas(client: Client, schemas: string[], limit = attempts): Promise<void> {
  const drop = () => client.query(`drop schema if exists ${schemas.join(", ")} cascade`);
  await runTransaction(client, drop, undefined, { lock: "publication", attempts: limit });
}

function findDatabaseError(error: unknown, code: string): DatabaseError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof DatabaseError && cause.code === code) return cause;
  return undefined;
}
