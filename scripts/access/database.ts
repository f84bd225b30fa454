import { Client } from "pg";
import { findDatabaseUrl } from "../../shared/find-database.ts";

/** Runs a query that selects one column of JSON. Returns one value per row. */
export type Ask = <Value>(sql: string, values?: unknown[]) => Promise<Value[]>;

/**
 * Runs `work` in one transaction in the database that the variables select. access.events records the operator.
 *
 * @throws the database's error, which also rolls back the transaction
 */
export async function inTransaction<Result>(
  variables: NodeJS.ProcessEnv,
  operator: string,
  report: (line: string) => void,
  work: (ask: Ask) => Promise<Result>,
): Promise<Result> {
  const client = new Client({
    connectionString: findDatabaseUrl(variables, report),
    connectionTimeoutMillis: 10_000,
    application_name: "access-control",
  });
  // If the connection breaks, the running query fails, so this event needs no handler.
  client.on("error", () => {});
  try {
    await client.connect();
  } catch (cause) {
    // Not awaited, because a server that waits for a password would keep this process alive for a minute.
    void client.end().catch(() => {});
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason = message.startsWith("SASL: ")
      ? "it requires a password. Set PGPASSWORD or PGPASSWORD_FILE"
      : // If a host has several addresses, the message is empty.
        message || code;
    const where = `${client.host}:${client.port}`;
    throw new Error(`Cannot connect to the database at ${where}: ${reason}.`, { cause });
  }
  try {
    await client.query("begin");
    await client.query(
      "select set_config('access.operator', $1, true), set_config('TimeZone', 'UTC', true)",
      [operator],
    );
    const result = await work(async <Value>(text: string, values: unknown[] = []) => {
      const { rows } = await client.query<[Value]>({ text, values, rowMode: "array" });
      return rows.map(([value]) => value);
    });
    await client.query("commit");
    return result;
  } finally {
    // Closing the connection rolls back an open transaction.
    await client.end().catch(() => {});
  }
}
