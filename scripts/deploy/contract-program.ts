import path from "node:path";
import { Command, Option } from "commander";
import { describeError } from "../../service/describe-error.ts";
import type { Surroundings } from "../../service/surroundings.ts";
import { startScratchServer } from "../servers/scratch-database.ts";
import { repositoryDirectory } from "./deploy-database.ts";
import { updateContracts } from "./update-contracts.ts";

type Options = { write?: true; unpublished?: string; directory: string };

/** Runs `npm run db:contract` to its end. */
export async function runContract(around: Surroundings): Promise<void> {
  const options = readOptions(around.argv);
  let server: Awaited<ReturnType<typeof startScratchServer>> | undefined;
  try {
    server = await startScratchServer(around.env.SCRATCH_URL || undefined);
    await compare(around, options, await server.create());
  } catch (error) {
    around.stderr.write(`db:contract: ${describeError(error)}\n`);
    around.exitCode = 1;
  } finally {
    await server?.close();
  }
}

function readOptions(argv: string[]): Options {
  return new Command("npm run db:contract --")
    .description(
      "Compares the published contracts, db/contracts, with what db/api would serve, on a scratch database.",
    )
    .option("--write", "write down what was added; what breaks a published version is refused")
    .option("--unpublished <version>", "write the contract of this version anew: it was never deployed")
    .addOption(
      new Option("--directory <path>", "another directory than db").default(repositoryDirectory, "db"),
    )
    .allowExcessArguments(false)
    .addHelpText(
      "after",
      `
Environment:
  SCRATCH_URL   a PostgreSQL server to make the scratch database on, as superuser; else one is started

Exit status: 0 contracts and files agree (or do so now), 1 failed or refused, 3 something was added.`,
    )
    .parse(argv)
    .opts<Options>();
}

async function compare(around: Surroundings, options: Options, databaseUrl: string): Promise<void> {
  const { directory, write = false, unpublished } = options;
  const changes = await updateContracts(databaseUrl, path.resolve(directory), write, unpublished);
  const broken = changes.filter(({ breaks }) => breaks !== undefined);
  if (broken.length > 0) {
    const lines = broken.map(({ schema, what, breaks }) => `  ${schema}: ${what}. ${breaks}`);
    throw new Error(
      [
        "This would break clients of a published version, as db/contracts has it:",
        ...lines,
        "Put it back, or make a new version (npm run db:new-version). If it was never promised, write the contract anew with --unpublished.",
      ].join("\n"),
    );
  }
  const lines = changes.map(({ schema, what }) => `${schema}: ${what}`);
  if (lines.length === 0) lines.push("Contracts and files agree.");
  else if (write) lines.push("Written to db/contracts.");
  else {
    lines.push("Write it down with npm run db:contract -- --write.");
    around.exitCode = 3;
  }
  around.stdout.write(`${lines.join("\n")}\n`);
}
