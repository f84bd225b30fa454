import type { FastifyBaseLogger } from "fastify";
import { type ClientConfig, Pool } from "pg";

/** The database did not answer in time, or refused. The reason is the cause. */
export class DatabaseUnavailable extends Error {
  override name = "DatabaseUnavailable";
}

/**
 * Makes the service's pool. Every wait in it ends: for a connection after 5 s, for a lock after 4 s, for any statement
 * after 5 s, for a server that has gone silent after 6 s. A connection is held for single statements only.
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
    keepAlive: true,
  });
  // An idle connection that breaks is replaced; without a listener it would end the process.
  pool.on("error", (err) => logger.warn({ err }, "an idle database connection broke"));
  return pool;
}

/**
 * Runs one statement, which is a transaction of its own.
 *
 * @returns the values of its first row
 * @throws DatabaseUnavailable if the database fails
 */
export async function askDatabase(pool: Pool, text: string, values: unknown[]): Promise<unknown[]> {
  const { rows } = await pool
    .query<unknown[]>({ text, values, rowMode: "array" })
    .catch((cause: unknown) => becomeUnavailable(cause));
  return rows[0] ?? [];
}

/** @throws DatabaseUnavailable if this service could not redeem a token now */
export async function checkDatabase(pool: Pool): Promise<void> {
  const [mayRedeem] = await askDatabase(
    pool,
    `select has_function_privilege('access.find_report_of_token(uuid)', 'execute')
       and has_function_privilege('access.redeem_access_token(uuid)', 'execute')`,
    [],
  );
  if (!mayRedeem)
    throw new DatabaseUnavailable(
      "This role may not execute access.redeem_access_token(uuid), or what it needs before.",
    );
}

function becomeUnavailable(cause: unknown): never {
  throw new DatabaseUnavailable("The database did not answer.", { cause });
}
