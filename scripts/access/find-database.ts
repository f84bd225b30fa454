import type { ClientConfig } from "pg";
import { describeChoice, requireRunningStack } from "../../service/find-running-stack.ts";

/** Any of these says which database is meant; node-postgres reads them itself. */
const libpqVariables = ["PGHOST", "PGPORT", "PGDATABASE", "PGUSER"];

/**
 * Finds the database to work on: DATABASE_URL, or else libpq's variables, or else the stack that runs on this
 * machine, which `report` is told.
 *
 * @throws Error with one line that says what to set
 */
export function findDatabase(variables: NodeJS.ProcessEnv, report: (line: string) => void): ClientConfig {
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
  const stack = requireRunningStack(
    variables,
    "No database is named: set DATABASE_URL, or PGHOST, PGUSER and PGDATABASE.",
  );
  report(describeChoice(stack));
  return { connectionString: stack.databaseUrl };
}
