import { setTimeout as sleep } from "node:timers/promises";
import { type Client, DatabaseError } from "pg";
import { SqlFileError } from "../sql/describe-sql-error.ts";
import { checkLeaks, checkRows } from "./check-leaks.ts";
import { checkServed } from "./check-served.ts";
import { runDefinition } from "./read-definition.ts";

const lockNotAvailable = "55P03";
const dependentObjects = "2BP01";
/** The lock timeout of the first attempt, which grows by as much with each further one, up to the longest. */
const lockMilliseconds = 25;
const longestLockMilliseconds = 75;
/** How long to try. Longer than the longest query that a tier allows. */
const deadlineMilliseconds = 180_000;

/** Earlier queries keep the data set locked. */
class LockedByReaders extends Error {
  override name = "LockedByReaders";
}

/**
 * Makes the next generation live in one transaction, and then drops the generation before the previous one.
 *
 * @param record records in publication.data_sets what becomes live, in the same transaction
 * @param options.prepare SQL that comes first in that transaction
 * @param options.advice what to do if the API serves what this generation does not have
 * @param options.definitions another directory than `db/data_set`
 * @throws LeaksFound if suppressed submissions would be shown. Nothing has changed then.
 */
export async function publishNextGeneration(
  client: Client,
  record: () => Promise<unknown>,
  {
    prepare = "",
    advice,
    definitions,
  }: { prepare?: string; advice: string; definitions?: string | undefined },
): Promise<void> {
  await dropLeftovers(client, ["disclosed_dropped", "suppressed_dropped"]);
  await retryLocked(client, async () => {
    // Waits for a deployment, whose version schemas would lack the description of the data set.
    await client.query("select pg_advisory_xact_lock_shared(hashtext('api_schemas'))");
    await client.query(prepare);
    await runDefinition(client, "publish.sql", definitions);
    // Checking rows takes long, so it comes before readers have to wait.
    await checkRows(client, "");
    await checkServed(client, "disclosed", advice);
    await record();
    await client.query("select publication.describe_data_set()");
    // Readers wait from here to the end.
    await runDefinition(client, "views.sql", definitions);
    await checkLeaks(client);
  });
  // If a query still reads it, the next run drops it.
  await retryLocked(client, () => dropSchemas(client, ["disclosed_dropped", "suppressed_dropped"]), 0).catch(
    (error: unknown) => {
      if (!(error instanceof LockedByReaders)) throw error;
    },
  );
}

/** Drops schemas that an earlier run has left behind. Waits for queries that still read them. */
export async function dropLeftovers(client: Client, schemas: string[]): Promise<void> {
  await retryLocked(client, () => dropSchemas(client, schemas));
}

async function dropSchemas(client: Client, schemas: string[]): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    "select nspname as name from pg_catalog.pg_namespace where nspname = any ($1)",
    [schemas],
  );
  if (rows.length === 0) return;
  await client.query(`drop schema ${rows.map(({ name }) => name).join(", ")} cascade`);
}

/**
 * Runs a transaction that waits at most 75 ms for a lock, since readers wait behind it. If it does not get the lock, it is
 * rolled back and tried again.
 */
async function retryLocked(
  client: Client,
  work: () => Promise<unknown>,
  deadline = deadlineMilliseconds,
): Promise<void> {
  const until = performance.now() + deadline;
  for (let attempt = 1; ; attempt += 1) {
    await client.query("begin");
    try {
      const milliseconds = Math.min(attempt * lockMilliseconds, longestLockMilliseconds);
      await client.query(
        `set local lock_timeout = '${milliseconds}ms'; set local client_min_messages = warning`,
      );
      await work();
      await client.query("commit");
      return;
    } catch (error) {
      await client.query("rollback").catch(() => {});
      const cause = error instanceof SqlFileError ? error.cause : error;
      if (cause instanceof DatabaseError && cause.code === dependentObjects) {
        throw new Error(
          `An object outside the API reads columns that would change. Nothing has changed. Drop it first: ${cause.detail ?? cause.message}.`,
          { cause: error },
        );
      }
      if (!(cause instanceof DatabaseError && cause.code === lockNotAvailable)) throw error;
      if (performance.now() > until) {
        const message =
          "Gave up after 3 minutes: long-running queries kept the data set locked. Nothing has changed. End them or try again later.";
        throw new LockedByReaders(message, { cause: error });
      }
      await sleep(100 + Math.random() * 400);
    }
  }
}
