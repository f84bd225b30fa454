import path from "node:path";
import { Command, Option } from "commander";
import { dotenv } from "zx";
import { describeError } from "../../service/describe-error.ts";
import type { Surroundings } from "../../service/surroundings.ts";
import { startScratchServer } from "../servers/scratch-database.ts";
import { describeChanges } from "./compare-catalogues.ts";
import { compareWithScratch } from "./compare-with-scratch.ts";
import { repositoryDirectory } from "./deploy-database.ts";
import { findDatabaseUrl } from "./find-database.ts";

/** Runs `npm run db:diff` to its end. */
export async function runDiff(around: Surroundings): Promise<void> {
  const { against, json, directory } = readOptions(around.argv);
  let server: Awaited<ReturnType<typeof startScratchServer>> | undefined;
  try {
    const variables = { ...dotenv.loadSafe(".env"), ...around.env };
    const databaseUrl = findDatabaseUrl(
      against === undefined ? variables : { DATABASE_URL: against },
      (line) => void around.stderr.write(`${line}\n`),
    );
    server = await startScratchServer(variables.SCRATCH_URL || undefined);
    const drift = await compareWithScratch(path.resolve(directory), databaseUrl, await server.create());
    const lines =
      drift.length === 0
        ? ["No drift: the database is what db/ makes."]
        : [
            ...describeChanges(drift),
            `${drift.length} objects differ: + only in the database, - only in db/, ~ in both.`,
          ];
    around.stdout.write(`${json ? JSON.stringify(drift, null, 2) : lines.join("\n")}\n`);
    if (drift.length > 0) around.exitCode = 3;
  } catch (error) {
    around.stderr.write(`db:diff: ${describeError(error)}\n`);
    around.exitCode = 1;
  } finally {
    await server?.close();
  }
}

function readOptions(argv: string[]) {
  return new Command("npm run db:diff --")
    .description(
      "Finds drift: what differs, object by object, between a deployed database and what db/ makes of an empty one. Changes nothing.",
    )
    .option("--against <url>", "the deployed database (as DATABASE_URL and so on say)")
    .option("--json", "print JSON")
    .addOption(
      new Option("--directory <path>", "another directory than db").default(repositoryDirectory, "db"),
    )
    .allowExcessArguments(false)
    .addHelpText(
      "after",
      `
Environment (or .env):
  DATABASE_URL     the deployed database, without --against; or PGHOST, PGPORT, PGUSER, PGDATABASE, PGPASSWORD
  STACK_DIRECTORY  without these, the database of the stack that runs on this directory (.stack)
  SCRATCH_URL      a PostgreSQL server to make the scratch database on, as superuser; else one is started

Exit status: 0 no drift, 1 failed, 3 drift.`,
    )
    .parse(argv)
    .opts<{ against?: string; json?: true; directory: string }>();
}
