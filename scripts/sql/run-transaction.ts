import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";

const lockNotAvailable = "55P03";
const deadlockDetected = "40P01";

/**
 * How long a statement waits for a lock, and so makes readers wait behind it. Shorter than PostgreSQL's deadlock_timeout, so
 * that if a request and a deployment wait for each other, the deployment gives way.
 */
const lockTimeoutMilliseconds = 100;

/**
 * Runs work in a transaction that needs locks which readers hold. If a lock is not free at once, the transaction is rolled
 * back and tried again after a random pause, so that no reader waits behind it for long.
 *
 * @param report receives the sessions that the first failed attempt waited for
 * @param options.lock an advisory lock that the transaction takes as well
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
      // A file could release session locks, so the lock is also taken for the transaction.
      await client.query(
        `set local lock_timeout = '${lockTimeoutMilliseconds}ms'; set local client_min_messages = warning;
         select pg_advisory_xact_lock(hashtext('${lock}'))`,
      );
      const result = await work();
      await client.query("commit");
      return result;
    } catch (error) {
      await client.query("rollback").catch(() => {});
      const { code, cause } = error as { code?: string; cause?: { code?: string } };
      if (![lockNotAvailable, deadlockDetected].includes(code ?? cause?.code ?? "")) throw error;
      if (attempt === 1) report(`Waiting for requests to end:\n${await describeHolders(client)}`);
      if (attempt === attempts) {
        throw new Error(
          `Gave up after ${attempts} attempts: long-running queries kept what this step changes locked. It changed nothing. End them, or try again later:\n${await describeHolders(client)}`,
          { cause: error },
        );
      }
      await sleep(50 + Math.random() * 350);
    }
  }
}

async function describeHolders(client: Client): Promise<string> {
  const { rows } = await client.query<{ line: string }>(
    `select format('  process %s, %s, for %s s: %s', pid, usename, extract(epoch from now() - xact_start)::integer, left(query, 100)) as line
     from pg_catalog.pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and xact_start < now() - interval '100 ms'
     order by xact_start limit 5`,
  );
  if (rows.length === 0) return "  PostgreSQL shows them to members of pg_read_all_stats.";
  return rows.map(({ line }) => line).join("\n");
}
