import type { FastifyBaseLogger } from "fastify";
import { type ClientConfig, Pool, type PoolClient } from "pg";

/** The database did not answer in time, or refused. The reason is the cause. */
export class DatabaseUnavailable extends Error {
  override name = "DatabaseUnavailable";
}

/**
 * Makes the service's pool. Every wait in it ends: for a connection after 5 s, for the row of a token that
 * another request holds after 4 s (longer than that request may ask storage), for any statement after 5 s,
 * for a server that has gone silent after 6 s. The server ends a transaction that was left open after 10 s.
 */
export function createPool(database: ClientConfig, logger: FastifyBaseLogger): Pool {
  const pool = new Pool({
    ...database,
    application_name: "report-service",
    max: 10,
    connectionTimeoutMillis: 5000,
    lock_timeout: 4000,
    statement_timeout: 5000,
    query_timeout: 6000,
    idle_in_transaction_session_timeout: 10_000,
    keepAlive: true,
  });
  // An idle connection that breaks is replaced; without a listener it would end the process.
  pool.on("error", (err) => logger.warn({ err }, "an idle database connection broke"));
  return pool;
}

/**
 * Runs `work` in a transaction, which is committed if `isToBeKept` says so of what it returns, and rolled back if not,
 * or if it throws.
 *
 * @throws DatabaseUnavailable if the database fails; what `work` throws otherwise
 */
export async function inTransaction<Result>(
  pool: Pool,
  work: (query: (text: string, values?: unknown[]) => Promise<unknown[]>) => Promise<Result>,
  isToBeKept: (result: Result) => boolean,
): Promise<Result> {
  const client = await pool.connect().catch(becomeUnavailable);
  let broken = false;
  const markBroken = () => {
    broken = true;
  };
  // The connection may break while storage is asked: the next statement then says so.
  client.on("error", markBroken);
  const query = async (text: string, values: unknown[] = []) => {
    try {
      const { rows } = await client.query<unknown[]>({ text, values, rowMode: "array" });
      return rows;
    } catch (cause) {
      broken = true;
      return becomeUnavailable(cause);
    }
  };
  try {
    // Under read committed, whoever waited for a row sees what its holder committed.
    await query("begin isolation level read committed");
    const result = await work(async (text, values) => (await query(text, values)).flat());
    await query(isToBeKept(result) ? "commit" : "rollback");
    return result;
  } catch (error) {
    if (!broken) await client.query("rollback").catch(markBroken);
    throw error;
  } finally {
    release(client, broken, markBroken);
  }
}

/** @throws DatabaseUnavailable if this service could not redeem a token now */
export async function checkDatabase(pool: Pool): Promise<void> {
  const [mayRedeem] = await pool
    .query<{ may: boolean }>(
      "select has_function_privilege('access.redeem_access_token(uuid)', 'execute') as may",
    )
    .then(({ rows }) => rows.map(({ may }) => may), becomeUnavailable);
  if (!mayRedeem)
    throw new DatabaseUnavailable("This role may not execute access.redeem_access_token(uuid).");
}

function release(client: PoolClient, broken: boolean, markBroken: () => void): void {
  client.off("error", markBroken);
  // A broken connection is closed, which rolls its transaction back.
  if (broken) client.on("error", () => {});
  client.release(broken);
}

function becomeUnavailable(cause: unknown): never {
  throw new DatabaseUnavailable("The database did not answer.", { cause });
}
