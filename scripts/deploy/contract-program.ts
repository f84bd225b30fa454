import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { Command, Option } from "commander";
import { connect } from "../../service/connect.ts";
import { describeError } from "../../service/describe-error.ts";
import type { Surroundings } from "../../service/surroundings.ts";
import { startScratchServer } from "../servers/scratch-database.ts";
import {
  type Contract,
  compareContracts,
  describeChange,
  readContracts,
  readServedContracts,
  writeContracts,
} from "./contract.ts";
import { deployDatabase, repositoryDirectory } from "./deploy-database.ts";
import { describeTypes, typesFile } from "./write-types.ts";

/** Runs `npm run db:contract` to its end. */
export async function runContract(around: Surroundings): Promise<void> {
  const { write, directory: given } = new Command("npm run db:contract --")
    .description(
      "Compares db/contracts (the columns and functions of each version, and their types for TypeScript clients) with what db/api serves, on a scratch database. The contracts show reviewers what a change does to clients. What production has promised, db:deploy enforces.",
    )
    .option("--write", "write what is served to db/contracts")
    .addOption(
      new Option("--directory <path>", "another directory than db").default(repositoryDirectory, "db"),
    )
    .allowExcessArguments(false)
    .addHelpText(
      "after",
      `
Environment:
  SCRATCH_URL   a PostgreSQL server for the scratch database, as superuser; by default one is started

Exit status: 0 db/contracts is up to date, 1 failed, 3 it is not.`,
    )
    .parse(around.argv)
    .opts<{ write?: true; directory: string }>();
  const directory = path.resolve(given);
  let server: Awaited<ReturnType<typeof startScratchServer>> | undefined;
  try {
    server = await startScratchServer(around.env.SCRATCH_URL || undefined);
    const served = await deployScratch(await server.create(), directory);
    const lines = await findStale(directory, served);
    if (lines.length === 0) lines.push("db/contracts is up to date.");
    else if (write) {
      await writeContracts(directory, served);
      await writeFile(typesFile(directory), describeTypes(await readContracts(directory)));
      lines.push("Written to db/contracts.");
    } else {
      lines.push("To write this to db/contracts: npm run db:contract -- --write");
      around.exitCode = 3;
    }
    around.stdout.write(`${lines.join("\n")}\n`);
  } catch (error) {
    around.stderr.write(`db:contract: ${describeError(error)}\n`);
    around.exitCode = 1;
  } finally {
    await server?.close();
  }
}

/** What `contracts` of a `db` directory does not say as it is served: a line for each difference. */
export async function findStale(directory: string, served: Contract[]): Promise<string[]> {
  const contracts = await readContracts(directory);
  const lines = compareContracts(contracts, served).map(describeChange);
  const types = await readFile(typesFile(directory), "utf8").catch(() => "");
  if (lines.length === 0 && types !== describeTypes(contracts))
    lines.push("types.ts does not match the contracts");
  return lines;
}

async function deployScratch(databaseUrl: string, directory: string): Promise<Contract[]> {
  await deployDatabase(databaseUrl, {}, { directory });
  const client = await connect(databaseUrl, "db-contract");
  return await readServedContracts(client).finally(() => client.end());
}
