import path from "node:path";
import { Command, Option } from "commander";
import { describeError } from "../../service/describe-error.ts";
import type { Surroundings } from "../../service/surroundings.ts";
import { copyVersion } from "./copy-version.ts";
import { repositoryDirectory } from "./deploy-database.ts";

/** Runs `npm run db:new-version` to its end. */
export async function runNewVersion(around: Surroundings): Promise<void> {
  await new Command("npm run db:new-version --")
    .description(
      "Makes a version of the API that may differ from the published ones, as a copy of one of them.",
    )
    .argument("<version>", "the new version, such as v1_2_0")
    .requiredOption("--from <version>", "the version to copy")
    .addOption(
      new Option("--directory <path>", "another directory than db").default(repositoryDirectory, "db"),
    )
    .allowExcessArguments(false)
    .addHelpText("after", "\nExit status: 0 made, 1 not.")
    .action(async (version: string, { from, directory }: { from: string; directory: string }) => {
      try {
        const made = await copyVersion(path.resolve(directory), from, version);
        const lines = [
          ...made.map((file) => `Made ${path.relative(process.cwd(), file)}`),
          `Edit db/api/api_${version}. Until it is deployed it may change freely; write down what it serves with`,
          `  npm run db:contract -- --write --unpublished ${version}`,
          "Add the new schemas to PGRST_DB_SCHEMAS in scripts/stack/postgrest.env.",
          `After npm run db:deploy it is served to who sends Accept-Profile: api_${version}. ${from} is served as before.`,
        ];
        around.stdout.write(`${lines.join("\n")}\n`);
      } catch (error) {
        around.stderr.write(`db:new-version: ${describeError(error)}\n`);
        around.exitCode = 1;
      }
    })
    .parseAsync(around.argv);
}
