import path from "node:path";
import { Command, Option } from "commander";
import { describeError } from "../service/describe-error.ts";
import { describeBreaks } from "./deploy/compare-contracts.ts";
import { repositoryDirectory } from "./deploy/deploy-database.ts";
import { updateContracts } from "./deploy/update-contracts.ts";
import { startScratchServer } from "./stack/scratch-database.ts";

const options = new Command("npm run db:contract --")
  .description(
    "Compares the published contracts, db/contracts, with what db/api would serve, on a scratch database.",
  )
  .option("--write", "write down what was added; what breaks a published version is refused")
  .option("--unpublished <version>", "write the contract of this version anew: it was never deployed")
  .addOption(new Option("--directory <path>", "another directory than db").default(repositoryDirectory, "db"))
  .allowExcessArguments(false)
  .addHelpText(
    "after",
    `
Environment:
  DATABASE_URL   a PostgreSQL 18 server to make the scratch database on, as superuser; else one is started

Exit status: 0 contracts and files agree (or do so now), 1 failed or refused, 3 something was added.`,
  )
  .parse()
  .opts<{ write?: true; unpublished?: string; directory: string }>();

const server = await startScratchServer(process.env.DATABASE_URL || undefined).catch(fail);
try {
  if (server !== undefined) await run(await server.create());
} catch (error) {
  fail(error);
} finally {
  await server?.close();
}

async function run(databaseUrl: string): Promise<void> {
  const { directory, write = false, unpublished } = options;
  const changes = await updateContracts(databaseUrl, path.resolve(directory), write, unpublished);
  const breaks = describeBreaks(changes);
  if (breaks !== undefined) throw new Error(breaks);
  const lines = changes.map(({ schema, what }) => `${schema}: ${what}`);
  if (lines.length === 0) lines.push("Contracts and files agree.");
  else if (options.write) lines.push("Written to db/contracts.");
  else {
    lines.push("Write it down with npm run db:contract -- --write.");
    process.exitCode = 3;
  }
  process.stdout.write(`${lines.join("\n")}\n`);
}

function fail(error: unknown): undefined {
  process.stderr.write(`db:contract: ${describeError(error)}\n`);
  process.exitCode = 1;
}
