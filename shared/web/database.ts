import type { FastifyBaseLogger } from "fastify";
import { type ClientConfig, Pool, type PoolClient } from "pg";
import { ErrorWithResponse, notServing } from "./error-responses.ts";

/** The database refused the query, or did not answer in time. `cause` has the reason. */
export class DatabaseUnavailable extends Error {
  override name = "DatabaseUnavailable";
}

/** The service gives out no data: the operator has switched it off, or no data set has been published yet. */
export class NotServing extends ErrorWithResponse {
  override name = "NotServing";
  readonly reason: keyof typeof notServing;
  constructor(reason: NotServing["reason"]) {
    super(notServing[reason].body.message, notServing[reason]);
    this.reason = reason;
  }
}

type Connection = Pool | PoolClient;

/**
 * Opens a connection pool. Waits at most 5 s for a connection, which is held for one statement of at most 6 s.
 *
 * @param name the program, for pg_stat_activity
 */
export function createPool(database: ClientConfig, logger: FastifyBaseLogger, name: string, max = 10): Pool {
  const pool = new Pool({
    ...database,
    application_name: name,
    max,
    connectionTimeoutMillis: 5000,
    lock_timeout: 4000,
    statement_timeout: 5000,
    query_timeout: 6000,
    keepAlive: true,
  });
  // Without listeners, a connection that breaks would end the process. In use, the error also rejects its statement.
  pool.on("error", (err) => logger.warn({ err }, "an idle database connection broke"));
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

/**
 * Runs one statement in its own transaction, and returns the values of its first row.
 *
 * @param limits other limits than the pool's
 * @throws DatabaseUnavailable
 */
export async function queryDatabase(
  connection: Connection,
  text: string,
  values: unknown[],
  limits: { query_timeout?: number } = {},
): Promise<unknown[]> {
  try {
    const { rows } = await connection.query<unknown[]>({ text, values, rowMode: "array", ...limits });
    return rows[0] ?? [];
  } catch (cause) {
    throw new DatabaseUnavailable("The database refused the query, or did not answer in time.", { cause });
  }
}

/**
 * Selects these SQL expressions, and checks in the same statement that the service is on and has a data set.
 *
 * @throws NotServing, DatabaseUnavailable
 */
export async function queryWhileOn(pool: Pool, expressions: string, values: unknown[]): Promise<unknown[]> {
  return (await queryLive(pool, expressions, values)).found;
}

/**
 * Reads the ID of the live data set, and checks that the service is on.
 *
 * @throws NotServing, DatabaseUnavailable
 */
export async function readLiveDataSet(connection: Connection): Promise<string> {
  return (await queryLive(connection, "true", [])).live;
}

async function queryLive(connection: Connection, expressions: string, values: unknown[]) {
  const statement = `select publication.is_switched_on(), publication.live_data_set(), ${expressions}`;
  const [isOn, live, ...found] = await queryDatabase(connection, statement, values);
  if (isOn !== true) throw new NotServing("switched_off");
  if (typeof live !== "string") throw new NotServing("no_data_set");
  return { live, found };
}

/**
 * Makes a check for routes that return data without querying the database. It resolves to the ID of the live data set. While
 * the database is down, its last answer counts.
 *
 * @throws NotServing, or DatabaseUnavailable if the database has not yet answered that the service is on and has a data set
 */
export function requireService(pool: Pool): () => Promise<string> {
  let live: string | undefined;
  return async () => {
    try {
      live = await readLiveDataSet(pool);
    } catch (error) {
      if (error instanceof NotServing) live = undefined;
      if (live === undefined) throw error;
    }
    return live;
  };
}
