import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { Command, Option } from "commander";
import { describeError } from "../service/describe-error.ts";
import { repositoryDirectory } from "./deploy/deploy-database.ts";
import { describeTypes, typesFile } from "./deploy/write-types.ts";

const { check, directory } = new Command("npm run db:types --")
  .description(
    "Writes the TypeScript types of each published version, for @supabase/postgrest-js, to db/contracts/types.ts. No database needed.",
  )
  .option("--check", "write nothing; fail if the file is not what it would be")
  .addOption(new Option("--directory <path>", "another directory than db").default(repositoryDirectory, "db"))
  .allowExcessArguments(false)
  .addHelpText("after", "\nExit status: 0 written or up to date, 1 failed, 3 not up to date (--check).")
  .parse()
  .opts<{ check?: true; directory: string }>();

try {
  const file = typesFile(path.resolve(directory));
  const types = await describeTypes(path.resolve(directory));
  const isCurrent = (await readFile(file, "utf8").catch(() => "")) === types;
  if (!check && !isCurrent) await writeFile(file, types);
  const state = isCurrent ? "is up to date" : check ? "is not up to date: run npm run db:types" : "written";
  process.stdout.write(`${path.relative(process.cwd(), file)} ${state}.\n`);
  if (check && !isCurrent) process.exitCode = 3;
} catch (error) {
  process.stderr.write(`db:types: ${describeError(error)}\n`);
  process.exitCode = 1;
}
