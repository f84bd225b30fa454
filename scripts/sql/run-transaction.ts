import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";

const lockNotAvailable = "55P03";
const deadlockDetected = "40P01";

// lock_timeout limits how long a statement waits for a lock, during which requests wait behind it. It is shorter than
// PostgreSQL's deadlock_timeout, so that a deployment gives way if a request and the deployment wait for each other. A
// commit holds its locks while it waits for a replica, so these commits do not wait.
export const transactionSettings =
  "set local lock_timeout = '100ms'; set local client_min_messages = warning; set local synchronous_commit = local";

/** A transaction without locks, whose commit waits until replicas have it and everything before it. */
const waitForReplicas = "select pg_logical_emit_message(true, 'run-transaction', '')";

/**
 * Runs work in a transaction that needs locks which requests hold. If a lock is not free within 100 ms, the transaction
 * is rolled back and tried again after a random pause, so that no request waits behind it for long. Returns once replicas
 * have the transaction, if commits wait for replicas.
 *
 * @param report receives the sessions that the first failed attempt waited for
 * @param options.lock the advisory lock that the transaction takes
 */
export async function runTransaction<Result>(
  client: Client,
  work: () => Promise<Result>,
  report: (line: string) => void = () => {},
  { lock = "db-deploy", attempts = 100 } = {},
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    await client.query("begin");
    try {
      // An SQL file could release session locks, so this also takes the lock for the transaction.
      await client.query(`${transactionSettings}; select pg_advisory_xact_lock(hashtext('${lock}'))`);
      const result = await work();
      await client.query("commit");
      await client.query(waitForReplicas);
      return result;
    } catch (error) {
      await client.query("rollback").catch(() => {});
      const { code, cause } = error as { code?: string; cause?: { code?: string } };
      if (![lockNotAvailable, deadlockDetected].includes(code ?? cause?.code ?? "")) throw error;
      if (attempt === 1) report(`Waiting for requests to end:\n${await describeHolders(client)}`);
      if (attempt === attempts) {
        throw new Error(
          `Gave up after ${attempts} attempts: long-running queries held locks that this step needs. This step changed nothing. Try again later, or end these queries:\n${await describeHolders(client)}`,
          { cause: error },
        );
      }
      await sleep(50 + Math.random() * 350);
    }
  }
}

async function describeHolders(client: Client): Promise<string> {
  const sessions = await describeSessions(client, "xact_start < now() - interval '100 ms'");
  return sessions.join("\n") || "(None is listed: all have ended, or only pg_read_all_stats may see them.)";
}

/**
 * Describes sessions of this database, and how to end them: `process 12 (db-deploy, as owner, from 10.0.0.1, since …
 * UTC, last query: …). To end it: select pg_terminate_backend(12)`. PostgreSQL hides some of this from other roles.
 *
 * @param condition which rows of pg_stat_activity
 */
export async function describeSessions(client: Client, condition: string): Promise<string[]> {
  const { rows } = await client.query<{ session: string }>(
    `select format('process %s (%s). To end it: select pg_terminate_backend(%1$s)', pid, concat_ws(', ',
       nullif(application_name, ''), 'as ' || usename, 'from ' || host(client_addr),
       to_char(coalesce(xact_start, backend_start) at time zone 'UTC', '"since" YYYY-MM-DD HH24:MI:SS "UTC"'),
       'last query: ' || left(query, 100))) as session
     from pg_catalog.pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and ${condition}
     order by xact_start limit 5`,
  );
  return rows.map(({ session }) => session);
}
