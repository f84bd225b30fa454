import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "../../service/connect.ts";
import { describeChoice, requireRunningStack } from "../../service/find-running-stack.ts";

type Variables = Record<string, string | undefined>;

/**
 * The address of the database to work on: DATABASE_URL, or libpq's variables, or else the stack that runs on this
 * machine, which `report` is told.
 *
 * @throws Error with one line that says what to set
 */
export function findDatabaseUrl(variables: Variables, report: (line: string) => void = () => {}): string {
  const { DATABASE_URL, PGHOST, PGPORT = "5432", PGUSER = "postgres", PGDATABASE, PGPASSWORD } = variables;
  if (!DATABASE_URL && (!PGHOST || !PGDATABASE)) {
    const stack = requireRunningStack(
      variables,
      "DATABASE_URL is missing: it, or PGHOST and PGDATABASE, names the database. Set it in the environment or in .env.",
    );
    report(describeChoice(stack));
    return stack.databaseUrl;
  }
  const address = DATABASE_URL || `postgres://${PGHOST}:${PGPORT}/${PGDATABASE}`;
  if (!URL.canParse(address) || !/^postgres(ql)?:/.test(address)) {
    throw new Error(
      "DATABASE_URL should be an address such as postgres://postgres:password@host:5432/database.",
    );
  }
  const url = new URL(address);
  if (url.username === "") url.username = PGUSER;
  if (url.password === "" && PGPASSWORD !== undefined) url.password = encodeURIComponent(PGPASSWORD);
  return url.href;
}

/** Wrong credentials and missing databases do not mend themselves. */
const lasting = new Set(["28P01", "28000", "3D000"]);

/** Waits until the database takes connections. */
export async function waitForDatabase(connectionString: string, milliseconds: number): Promise<void> {
  for (const giveUpAt = Date.now() + milliseconds; ; await sleep(250)) {
    try {
      return await (await connect(connectionString, "db-deploy")).end();
    } catch (error) {
      if (lasting.has((error as { code?: string }).code ?? "") || Date.now() >= giveUpAt) throw error;
    }
  }
}
