import { Client, type ClientConfig } from "pg";
import { describeChoice, requireRunningStack } from "../../service/find-running-stack.ts";

/** Runs a query that selects one column of JSON. Returns one value per row. */
export type Ask = <Value>(sql: string, values?: unknown[]) => Promise<Value[]>;

/** Any of these variables selects the database. node-postgres reads them. */
const libpqVariables = ["PGHOST", "PGPORT", "PGDATABASE", "PGUSER"];

/**
 * Finds the database: DATABASE_URL, else libpq's variables, else the stack that runs on this machine.
 *
 * @param report prints a line if the stack's database is used
 * @throws Error that says what to set
 */
function findDatabase(variables: NodeJS.ProcessEnv, report: (line: string) => void): ClientConfig {
  const { DATABASE_URL } = variables;
  if (DATABASE_URL) {
    if (/^postgres(ql)?:/.test(DATABASE_URL) && URL.canParse(DATABASE_URL))
      return { connectionString: DATABASE_URL };
    throw new Error(
      "DATABASE_URL should be an address such as postgres://user:password@host:5432/database. Set it in the environment or in .env.",
    );
  }
  if (libpqVariables.some((name) => variables[name])) return {};
  const missing = "No database is configured. Set DATABASE_URL, or PGHOST, PGUSER and PGDATABASE.";
  const stack = requireRunningStack(variables, missing);
  report(describeChoice(stack));
  return { connectionString: stack.databaseUrl };
}

/**
 * Runs `work` in one transaction in the database that the variables select. access.events records the operator.
 *
 * @throws whatever error the database raises. The transaction is then rolled back
 */
export async function inTransaction<Result>(
  variables: NodeJS.ProcessEnv,
  operator: string,
  report: (line: string) => void,
  work: (ask: Ask) => Promise<Result>,
): Promise<Result> {
  const config = { ...findDatabase(variables, report), connectionTimeoutMillis: 10_000 };
  const client = new Client({ ...config, application_name: "access-control" });
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
