import { Client, type ClientConfig } from "pg";

/** Asks the database for one column of JSON, a value a row. */
export type Ask = <Value>(sql: string, values?: unknown[]) => Promise<Value[]>;

const connectionTimeoutMilliseconds = 10_000;

/**
 * Runs `work` in one transaction, in which `operator` is who access.events will name.
 *
 * @throws DatabaseUnreachable, and whatever the database refuses: then nothing has changed
 */
export async function withAccess<Result>(
  config: ClientConfig,
  operator: string,
  work: (ask: Ask) => Promise<Result>,
): Promise<Result> {
  const client = new Client({
    ...config,
    application_name: "access-control",
    connectionTimeoutMillis: connectionTimeoutMilliseconds,
  });
  // A connection that breaks fails the query that waits for it.
  client.on("error", () => {});
  try {
    await client.connect();
  } catch (cause) {
    // A server that waits for a password would keep this process for a minute.
    void client.end().catch(() => {});
    throw new DatabaseUnreachable(client.host, client.port, cause);
  }
  try {
    await client.query("begin");
    await client.query(
      "select set_config('access.operator', $1, true), set_config('TimeZone', 'UTC', true)",
      [operator],
    );
    const result = await work(async <Value>(sql: string, values: unknown[] = []) => {
      const { rows } = await client.query<[Value]>({ text: sql, values, rowMode: "array" });
      return rows.map(([value]) => value);
    });
    await client.query("commit");
    return result;
  } finally {
    // Closing the connection rolls back what was not committed.
    await client.end().catch(() => {});
  }
}

/** The database did not take the connection. */
export class DatabaseUnreachable extends Error {
  override name = "DatabaseUnreachable";

  constructor(host: string, port: number, cause: unknown) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason = message.startsWith("SASL: ")
      ? "it wants a password: set PGPASSWORD or PGPASSWORD_FILE"
      : // Where a host has several addresses, the message is empty and the code says it all.
        message || code;
    super(`The database at ${host}:${port} cannot be reached: ${reason}.`, { cause });
  }
}
