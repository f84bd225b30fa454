import { setTimeout as sleep } from "node:timers/promises";
import { type Client, DatabaseError } from "pg";
import { SqlFileError } from "../sql/describe-sql-error.ts";
import { checkLeaks, checkRows } from "./check-leaks.ts";
import { checkServed } from "./check-served.ts";
import { runDefinition } from "./read-definition.ts";

const lockNotAvailable = "55P03";
const dependentObjects = "2BP01";
/** How long readers wait for the first turn, and by how much longer for each that follows, up to the longest. */
const turnMilliseconds = 25;
const longestTurnMilliseconds = 75;
/** Longer than the longest query that a tier allows. */
const patienceMilliseconds = 180_000;

/** Queries that began earlier do not let go of a data set. */
class HeldByReaders extends Error {
  override name = "HeldByReaders";
}

/**
 * Makes the next generation the live one, in one transaction, and then drops the generation before the last. It
 * waits for readers in short turns, so that no new reader waits behind it for long.
 *
 * @param record writes down in publication.data_sets what becomes live, in the same transaction
 * @param options.prepare SQL that comes first in that transaction
 * @param options.advice what to do when the API serves what this generation does not have
 * @param options.definitions another directory than `db/data_set`
 * @throws LeaksFound when suppressed submissions would be shown: then nothing has changed
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
  await inTurns(client, async () => {
    // Not beside a deployment, whose version schemas would lack the description.
    await client.query("select pg_advisory_xact_lock_shared(hashtext('api_schemas'))");
    await client.query(prepare);
    await runDefinition(client, "publish.sql", definitions);
    // Rows take long to ask, and readers do not wait yet.
    await checkRows(client, "");
    await checkServed(client, "disclosed", advice);
    await record();
    await client.query("select publication.describe_data_set()");
    // Readers wait from here to the end. The gate asks what they will read.
    await runDefinition(client, "views.sql", definitions);
    await checkLeaks(client);
  });
  // Who reads it yet is let be: the next run drops it.
  await inTurns(client, () => dropSchemas(client, ["disclosed_dropped", "suppressed_dropped"]), 0).catch(
    (error: unknown) => {
      if (!(error instanceof HeldByReaders)) throw error;
    },
  );
}

/** Drops schemas that a run has left behind, if they are there. Waits for whoever still reads them. */
export async function dropLeftovers(client: Client, schemas: string[]): Promise<void> {
  await inTurns(client, () => dropSchemas(client, schemas));
}

async function dropSchemas(client: Client, schemas: string[]): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    "select nspname as name from pg_catalog.pg_namespace where nspname = any ($1)",
    [schemas],
  );
  if (rows.length === 0) return;
  await client.query(`drop schema ${rows.map(({ name }) => name).join(", ")} cascade`);
}

/** Runs a transaction whose locks are waited for 75 ms at a time at most, so that nobody waits behind it for longer. */
async function inTurns(
  client: Client,
  work: () => Promise<unknown>,
  patience = patienceMilliseconds,
): Promise<void> {
  const until = performance.now() + patience;
  for (let turn = 1; ; turn += 1) {
    await client.query("begin");
    try {
      const milliseconds = Math.min(turn * turnMilliseconds, longestTurnMilliseconds);
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
          `What is no view of the API reads columns that change. Nothing has changed. Drop it first: ${cause.detail ?? cause.message}.`,
          { cause: error },
        );
      }
      if (!(cause instanceof DatabaseError && cause.code === lockNotAvailable)) throw error;
      if (performance.now() > until) {
        const what =
          "Long queries have kept the data set locked for 3 minutes. Try again when they are done.";
        throw new HeldByReaders(what, { cause: error });
      }
      await sleep(100 + Math.random() * 400);
    }
  }
}
