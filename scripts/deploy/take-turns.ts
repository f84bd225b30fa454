import { setTimeout as sleep } from "node:timers/promises";
import { type Client, DatabaseError } from "pg";

const lockNotAvailable = "55P03";
const deadlockDetected = "40P01";
const attempts = 100;

/** How long a statement may wait for a lock, and so make others wait behind it. */
export const lockTimeoutMilliseconds = 100;

/**
 * Does work that needs locks which readers hold, in short turns: what cannot get its lock at once is undone and
 * tried again after a pause of random length, so that no reader waits behind it for long.
 *
 * @param work must leave nothing behind when it throws
 * @param onRetry is told of the first turn that failed
 */
export async function takeTurns<Result>(
  client: Client,
  work: () => Promise<Result>,
  onRetry: (line: string) => void = () => {},
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const code =
        error instanceof DatabaseError ? error.code : (error as { cause?: { code?: string } }).cause?.code;
      if (code !== lockNotAvailable && code !== deadlockDetected) throw error;
      if (attempt === 1) onRetry("Waiting for a moment between requests ...");
      if (attempt === attempts) {
        throw new Error(
          `No moment without readers was found in ${attempts} turns. Nothing has changed. Try again, or end what holds the locks:\n${await describeHolders(client)}`,
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
  if (rows.length === 0) return "  PostgreSQL shows them to a member of pg_read_all_stats.";
  return rows.map(({ line }) => line).join("\n");
}
