import { setTimeout as sleep } from "node:timers/promises";
import { Client, type ClientConfig, DatabaseError } from "pg";

/** When to give up on a PostgreSQL that does not answer, in milliseconds. */
export interface SessionLimits {
  /** Between two checks of a session. */
  check: number;
  /** Without an answer, or with a session that PostgreSQL has lost. */
  silence: number;
}

export const sessionLimits: SessionLimits = { check: 15_000, silence: 60_000 };

/** What node-postgres does not type. */
interface Internals {
  connection: { stream: { destroy: (error?: Error) => void } };
  processID: number | null;
  readyForQuery: boolean;
}
const internals = (client: Client) => client as unknown as Internals;

/**
 * Asks PostgreSQL every few seconds, over a connection of its own, whether it still works on the client's session. A
 * statement may take hours. But if PostgreSQL does not answer, has no such session, or waits for a statement that the
 * client has sent, the session is broken off: its queries then fail with the reason.
 *
 * @param report receives one line for each commit that waits for a replica, however long it waits
 * @returns a function that ends the watch
 */
export function watchSession(
  client: Client,
  config: ClientConfig,
  limits: SessionLimits,
  report: (line: string) => void,
): () => void {
  const stop = new AbortController();
  const watch = async () => {
    let wellAt = performance.now();
    let waits = 0;
    for (;;) {
      await sleep(limits.check, undefined, { signal: stop.signal });
      const { problem, isUnconfirmed = false } = await inspect(client, config, limits);
      waits = isUnconfirmed ? waits + 1 : 0;
      // At the first check, the commit may have been about to end.
      if (waits === 2) report(waitsForReplica);
      if (problem === undefined) wellAt = performance.now();
      else if (performance.now() - wellAt > limits.silence && !stop.signal.aborted) {
        const seconds = Math.round(limits.silence / 100) / 10;
        return breakOff(client, new Error(`Connection terminated after ${seconds} s: ${problem}`));
      }
    }
  };
  // It ends with an error only if it is stopped.
  void watch().catch(() => {});
  return () => stop.abort();
}

const waitsForReplica =
  "A commit is waiting for a replica. This program continues when a replica confirms it (docs/scaling.md, Failover).";

async function inspect(
  client: Client,
  config: ClientConfig,
  { silence }: SessionLimits,
): Promise<{ problem?: string; isUnconfirmed?: boolean }> {
  const limit = Math.min(silence, 10_000);
  const other = new Client({
    ...config,
    application_name: "refresh-watch",
    connectionTimeoutMillis: limit,
    query_timeout: limit,
  });
  other.on("error", () => {});
  try {
    await other.connect();
    const { processID: pid } = internals(client);
    const { rows } = await other.query<{ is_idle: boolean; is_unconfirmed: boolean }>(
      `select state like 'idle%' as is_idle, wait_event is not distinct from 'SyncRep' as is_unconfirmed
       from pg_catalog.pg_stat_activity where pid = $1`,
      [pid],
    );
    const [session] = rows;
    if (session === undefined) return { problem: "PostgreSQL has ended the session" };
    const isWaiting = !internals(client).readyForQuery;
    if (session.is_idle && isWaiting) return { problem: "PostgreSQL did not receive the statement" };
    return { isUnconfirmed: session.is_unconfirmed };
  } catch (error) {
    // It may have too many connections, but it answers.
    return error instanceof DatabaseError ? {} : { problem: "PostgreSQL does not answer" };
  } finally {
    await endConnection(other);
  }
}

/** Closes a connection, whatever state it is in. A query that is running, such as an abandoned COPY, fails. */
export async function endConnection(client: Client): Promise<void> {
  const force = setTimeout(() => breakOff(client), 2_000);
  await client.end().catch(() => {});
  clearTimeout(force);
}

function breakOff(client: Client, reason?: Error): void {
  internals(client).connection.stream.destroy(reason);
}
