import path from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { describeError } from "../../service/describe-error.ts";
import type { Surroundings } from "../../service/surroundings.ts";
import { removeVersion, writeRetirement } from "./copy-version.ts";
import { repositoryDirectory } from "./deploy-database.ts";
import { typesFile } from "./write-types.ts";

type Options = { sunset?: Date; from: Date; link?: string; remove?: true; yes?: true; directory: string };

/** Runs `npm run db:retire-version` to its end. */
export async function runRetireVersion(around: Surroundings): Promise<void> {
  await new Command("npm run db:retire-version --")
    .description(
      "Announces the end of a version of the API, as a migration: from then on its answers have the headers Deprecation, Sunset and Link. After the sunset, removes it from the repository.",
    )
    .argument("<version>", "such as v1_1_0")
    .option("--sunset <day>", "until when it is served, 00:00 UTC", readDay)
    .addOption(
      new Option("--from <day>", "from when its answers say so")
        .argParser(readDay)
        .default(new Date(), "today"),
    )
    .option("--link <page>", "address of the page that says why, and how to move on")
    .option("--remove", "remove the version's files; the next deployment after the sunset stops serving it")
    .option("--yes", "really remove them")
    .addOption(
      new Option("--directory <path>", "another directory than db").default(repositoryDirectory, "db"),
    )
    .allowExcessArguments(false)
    .addHelpText("after", "\nExit status: 0 done, 1 not, 2 the removal lacks --yes.")
    .action(async (version: string, options: Options, command: Command) => {
      try {
        await retire(around, version, options, command);
      } catch (error) {
        around.stderr.write(`db:retire-version: ${describeError(error)}\n`);
        around.exitCode = 1;
      }
    })
    .parseAsync(around.argv);
}

async function retire(
  around: Surroundings,
  version: string,
  options: Options,
  command: Command,
): Promise<void> {
  const print = (line: string) => void around.stdout.write(`${line}\n`);
  const { sunset, from, link, remove, yes } = options;
  const directory = path.resolve(options.directory);
  const show = (file: string) => path.relative(process.cwd(), file);
  if (remove) {
    const files = await removeVersion(directory, version, yes === true);
    for (const file of files) print(`${yes ? "Removed" : "Would remove"} ${show(file)}`);
    if (yes) {
      print(`Wrote ${show(typesFile(directory))}`);
      print("npm run db:deploy stops serving it, and refuses to do so before the announced sunset.");
    } else {
      print("Clients of this version get 406 once that is deployed. To do it, add --yes.");
      around.exitCode = 2;
    }
    return;
  }
  if (sunset === undefined || link === undefined)
    return command.error("error: --sunset and --link are needed (or --remove)");
  if (!/^https?:\/\/[^\s<>"]+$/.test(link))
    return command.error("error: --link should be an address: https://…");
  if (sunset <= from) return command.error("error: --sunset should be later than --from");
  const file = await writeRetirement(directory, version, { deprecated: from, sunset, link });
  print(`Made ${show(file)}`);
  print("After npm run db:deploy, answers of this version say it.");
}

function readDay(text: string): Date {
  const day = new Date(`${text}T00:00:00Z`);
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || Number.isNaN(day.getTime()))
    throw new InvalidArgumentError("It should be a day such as 2027-06-30.");
  return day;
}
