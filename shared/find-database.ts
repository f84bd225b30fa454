import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "./connect.ts";
import { describeError } from "./describe-error.ts";
import { requireRunningStack } from "./find-running-stack.ts";

/**
 * Finds the URL of the database to use: from DATABASE_URL, or else libpq's variables, or else this machine's stack.
 *
 * @param report prints a line if the stack's database is used
 * @throws Error that says what to set
 */
export function findDatabaseUrl(
  variables: Record<string, string | undefined>,
  report: (line: string) => void,
): string {
  const { DATABASE_URL, PGHOST, PGPORT, PGUSER = "postgres", PGDATABASE, PGPASSWORD } = variables;
  if (!(DATABASE_URL || PGHOST || PGPORT || variables.PGUSER || PGDATABASE)) {
    const missing = "No database is configured. Set DATABASE_URL, or PGHOST, PGUSER and PGDATABASE.";
    const { directory, databaseUrl } = requireRunningStack(variables, missing);
    report(`Using the database of the stack running in ${directory}.`);
    return databaseUrl;
  }
  // PGHOST may also be the directory of a socket.
  const host = encodeURIComponent(PGHOST || "localhost");
  const address = DATABASE_URL || `postgres://${host}:${PGPORT || 5432}/${PGDATABASE || PGUSER}`;
  if (!URL.canParse(address) || !/^postgres(ql)?:/.test(address)) {
    throw new Error(
      DATABASE_URL
        ? "DATABASE_URL should be a URL such as postgres://user:password@host:5432/database."
        : "PGHOST and PGPORT are not a valid address. Correct them.",
    );
  }
  const url = new URL(address);
  if (url.username === "") url.username = PGUSER;
  if (url.password === "" && PGPASSWORD !== undefined) url.password = encodeURIComponent(PGPASSWORD);
  return url.href;
}

/** Returns whether a failed connection is worth retrying. Wrong credentials and missing databases are not. */
export const isTransient = (error: unknown): boolean =>
  !["28P01", "28000", "3D000"].includes((error as { code?: string }).code ?? "");

/**
 * Waits until the database accepts connections.
 *
 * @throws Error with the server's address and the last reason, if it does not in time
 */
export async function waitForDatabase(connectionString: string, milliseconds: number): Promise<void> {
  for (const giveUpAt = Date.now() + milliseconds; ; await sleep(250)) {
    try {
      return await (await connect(connectionString, "db-deploy")).end();
    } catch (error) {
      if (isTransient(error) && Date.now() < giveUpAt) continue;
      const { hostname, port } = new URL(connectionString);
      const where = `${decodeURIComponent(hostname)}:${port || 5432}`;
      throw new Error(`Cannot connect to the database at ${where}: ${describeError(error)}.`, {
        cause: error,
      });
    }
  }
}
