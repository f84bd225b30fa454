import type { FastifyBaseLogger } from "fastify";
import { type ClientConfig, Pool } from "pg";

/** The database refused, or did not answer in time. The reason is the cause. */
export class DatabaseUnavailable extends Error {
  override name = "DatabaseUnavailable";
}

/** The operator has switched the service off, so it gives out no data. */
export class SwitchedOff extends Error {
  override name = "SwitchedOff";
}

/** Opens the service's pool. No wait is longer than 6 s, and a connection is held for one statement only. */
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
  // Without a listener, an idle connection that breaks would end the process.
  pool.on("error", (err) => logger.warn({ err }, "an idle database connection broke"));
  return pool;
}

/**
 * Runs one statement, which is a transaction of its own, and returns the values of its first row.
 *
 * @throws DatabaseUnavailable
 */
export async function askDatabase(pool: Pool, text: string, values: unknown[]): Promise<unknown[]> {
  try {
    const { rows } = await pool.query<unknown[]>({ text, values, rowMode: "array" });
    return rows[0] ?? [];
  } catch (cause) {
    throw new DatabaseUnavailable("The database refused the query, or did not answer in time.", { cause });
  }
}

/**
 * Asks for these SQL expressions, and in the same statement whether the service is switched on.
 *
 * @throws SwitchedOff, DatabaseUnavailable
 */
export async function askWhileOpen(pool: Pool, expressions: string, values: unknown[]): Promise<unknown[]> {
  const [isOpen, ...found] = await askDatabase(pool, `select publication.is_open(), ${expressions}`, values);
  if (isOpen !== true) throw new SwitchedOff("The service is switched off.");
  return found;
}

/**
 * Makes a hook for routes that give out data without the database. While the database does not answer, its last answer counts.
 *
 * @throws SwitchedOff
 */
export function requireOpen(pool: Pool): () => Promise<void> {
  let wasOpen = false;
  return async () => {
    try {
      await askWhileOpen(pool, "true", []);
      wasOpen = true;
    } catch (error) {
      wasOpen &&= !(error instanceof SwitchedOff);
      if (!wasOpen) throw error;
    }
  };
}

/** @throws DatabaseUnavailable if this service could not redeem a token now */
export async function checkDatabase(pool: Pool): Promise<void> {
  const [mayRedeem] = await askDatabase(
    pool,
    `select has_function_privilege('access.find_report_of_token(uuid)', 'execute')
       and has_function_privilege('access.redeem_access_token(uuid)', 'execute')`,
    [],
  );
  if (!mayRedeem) {
    throw new DatabaseUnavailable(
      "The database role has no right to redeem tokens. Connect as report_service.",
    );
  }
}
