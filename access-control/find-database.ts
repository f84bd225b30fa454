import { readFile } from "node:fs/promises";
import path from "node:path";
import type { ClientConfig } from "pg";

/** Any of these says which database is meant; node-postgres reads them itself. */
const libpqVariables = ["PGHOST", "PGPORT", "PGDATABASE", "PGUSER"];

/**
 * Finds the database to work on: DATABASE_URL, or else libpq's variables, or else the stack that runs on this
 * machine, which `report` is told.
 *
 * @throws Error with one line that says what to set
 */
export async function findDatabase(
  variables: NodeJS.ProcessEnv,
  report: (line: string) => void,
): Promise<ClientConfig> {
  const { DATABASE_URL } = variables;
  if (DATABASE_URL) {
    if (!/^postgres(ql)?:/.test(DATABASE_URL) || !URL.canParse(DATABASE_URL)) {
      throw new Error(
        "DATABASE_URL should be an address such as postgres://user:password@host:5432/database. Set it in the environment or in .env.",
      );
    }
    return { connectionString: DATABASE_URL };
  }
  if (libpqVariables.some((name) => variables[name])) return {};
  const directory = variables.STACK_DIRECTORY || ".stack";
  const connectionString = await readStackAddress(path.join(directory, "stack.json"));
  if (connectionString === undefined) {
    throw new Error(
      `No database is named: set DATABASE_URL, or PGHOST, PGUSER and PGDATABASE. (Nor does a stack run on ${directory}.)`,
    );
  }
  report(`Using the database of the stack that runs on ${directory}.`);
  return { connectionString };
}

async function readStackAddress(file: string): Promise<string | undefined> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new Error(`${file} cannot be read: ${error.code}.`, { cause: error });
  });
  if (text === undefined) return undefined;
  const { database_url, pid }: { database_url: string; pid: number } = JSON.parse(text);
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it runs, as another user.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return undefined;
  }
  return database_url;
}
