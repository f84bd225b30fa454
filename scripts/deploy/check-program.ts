import path from "node:path";
import { Command, Option } from "commander";
import { $ } from "zx";
import { connect } from "../../shared/connect.ts";
import { describeError } from "../../shared/describe-error.ts";
import type { ProcessContext } from "../../shared/process-context.ts";
import { startScratchServer } from "../servers/scratch-database.ts";
import { compareLines, readFacts, readRights, writeRights } from "../sql/check-rights.ts";
import { checkMigrationNames } from "./check-migration-names.ts";
import {
  type Contract,
  compareContracts,
  describeChange,
  readContracts,
  readServedContracts,
  writeContracts,
} from "./contract.ts";
import { deployDatabase, repositoryDirectory } from "./deploy-database.ts";
import { readFiles } from "./read-files.ts";
import { findEditedMigrations } from "./released-migrations.ts";
import { type Called, checkServedFiles, type Keys, readCalled, readKeys } from "./served-files.ts";

/** Runs `npm run db:check` to its end. */
export async function runCheck(context: ProcessContext): Promise<void> {
  const { strict, write, ...options } = new Command("npm run db:check --")
    .description(
      "Checks db/: lints the SQL, checks that migrations are named for their date and unchanged since they were released, deploys db/ to a scratch database, checks that database for leaks and violations of the API's rules, and compares each API version with its contract in db/contracts.",
    )
    .option(
      "--strict",
      "fail on migrations that may lose data or block requests, unless they say why: -- pgls-ignore <rule>: <why>",
    )
    .option(
      "--write",
      "write what is served to db/contracts, scripts/stack/postgrest.env and the gateway's served_tables.lua; production's promises are kept by db:deploy",
    )
    .addOption(
      new Option("--directory <path>", "another directory than db").default(repositoryDirectory, "db"),
    )
    .allowExcessArguments(false)
    .addHelpText(
      "after",
      `
Environment:
  SCRATCH_URL   a PostgreSQL server for the scratch database, with a superuser's login; if not set, one is started

Exit status: 0 all checks passed (maybe with warnings), 1 a check failed.`,
    )
    .parse(context.argv)
    .opts<{ strict?: true; write?: true; directory: string }>();
  const directory = path.resolve(options.directory);
  const server = await startScratchServer(context.env.SCRATCH_URL || undefined);
  const check = async (name: string, work: () => Promise<string[]>) => {
    const errors = await work().catch((error: unknown) => [describeError(error)]);
    if (errors.length > 0) context.exitCode = 1;
    const lines = [`${errors.length === 0 ? "ok  " : "FAIL"} ${name}`, ...errors];
    context.stdout.write(`${lines.join("\n").replaceAll("\n", "\n       ")}\n`);
  };
  try {
    await check("lint", () => lintSql(directory, strict === true));
    await check("migrations are named for their date", async () =>
      checkMigrationNames((await readFiles(directory)).migrations),
    );
    await check("released migrations are unchanged", async () =>
      findEditedMigrations(directory, (await readFiles(directory)).migrations),
    );
    let served: Contract[] = [];
    let keys: Keys = {};
    let called: Called = {};
    let rights: string[] = [];
    await check("db deploys to an empty database, and shows nothing suppressed", async () => {
      const databaseUrl = await server.create();
      await deployDatabase(databaseUrl, {}, { directory, takesRights: true });
      const client = await connect(databaseUrl, "db-check");
      try {
        served = await readServedContracts(client);
        keys = await readKeys(client);
        called = await readCalled(client);
        rights = await readFacts(client);
      } finally {
        await client.end();
      }
      return [];
    });
    // Without a deployment there is nothing to compare.
    if (served.length === 0) return;
    await check("db/contracts is up to date", async () => {
      if (write) await writeContracts(directory, served);
      const changes = compareContracts(await readContracts(directory), served).map(describeChange);
      return changes.length === 0 ? [] : [...changes, "To update db/contracts, add --write."];
    });
    await check("db/contracts/rights.txt is up to date", async () => {
      if (write) await writeRights(directory, rights);
      const changes = compareLines(await readRights(directory), rights);
      return changes.length === 0 ? [] : [...changes, "To update the list, add --write. People review it."];
    });
    await check("PostgREST's environment and the gateway's tables match the served versions", () =>
      checkServedFiles(directory, served, keys, called, write === true),
    );
  } finally {
    await server.close();
  }
}

/** Runs the Postgres language server, as `postgres-language-server.jsonc` configures it: checks syntax, and locks that migrations take. */
async function lintSql(directory: string, isStrict: boolean): Promise<string[]> {
  const project = path.resolve(import.meta.dirname, "../..");
  const program = path.join(
    project,
    "node_modules/@postgres-language-server/cli-x86_64-linux-gnu/postgres-language-server",
  );
  const flags = ["--colors=off", "--disable-db", "--max-diagnostics=none", `--config-path=${project}`];
  if (isStrict) flags.push("--error-on-warnings");
  const run = $({ cwd: path.dirname(directory), nothrow: true, quiet: true });
  const { exitCode, stdout, stderr } = await run`${program} check ${flags} ${path.basename(directory)}`;
  return exitCode === 0 ? [] : [(stdout + stderr).trim()];
}
