import path from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { openTarget } from "./torture/open-target.ts";
import type { Finding } from "./torture/part.ts";
import { partNames, parts } from "./torture/parts.ts";
import { formatFinding, writeTable } from "./torture/write-table.ts";

function parseSeed(text: string): number {
  if (!/^-?\d{1,10}$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text) | 0;
}

const command = new Command("npm run torture --")
  .description("Mistreats the service, and says what it did wrong.")
  .option("--only <part...>", `these parts alone: ${partNames.join(", ")}`)
  .option("--seed <number>", "makes the generated requests of an earlier run again", parseSeed)
  .option("--out <file>", "where the table goes", path.join(import.meta.dirname, "TORTURE.md"))
  .allowExcessArguments(false)
  .addHelpText(
    "after",
    `
Without more it starts a stack of its own, on free ports. All parts take about 15 minutes there. GATEWAY=kong has it use
the Kong that is installed.

Environment, to torture a deployment; the parts that kill processes or read logs are left out there:
  BASE_URL, APP_URL      the API and the app
  DATABASE_URL           its database, as superuser: keys of torture's own are issued there, and revoked at the end
  TORTURE_PROJECT        the compose project that it is, on this machine: then its containers are killed, too

The rows of parts that are not run stay in the table. Exit status: 0 nothing was wrong, 1 something was.`,
  )
  .parse();
const options = command.opts<{ only?: string[]; seed?: number; out: string }>();
const unknown = options.only?.find((name) => !partNames.includes(name));
if (unknown !== undefined) command.error(`error: there is no part ${unknown}: ${partNames.join(", ")}`);

const seed = options.seed ?? Date.now() % 2 ** 31;
const say = (line: string) => process.stderr.write(`${line}\n`);
const opened = await openTarget(process.env, { report: say });
process.once("SIGINT", () => void opened.close().finally(() => process.exit(130)));
try {
  const findings = new Map<string, Finding | undefined>();
  for (const part of parts) {
    if (options.only?.includes(part.name) === false) continue;
    say(`${part.name} ...`);
    const report = (line: string) => say(`  ${part.name}: ${line}`);
    const finding = await part.run(opened.target, { seed, report });
    findings.set(part.name, finding);
    process.stdout.write(`${formatFinding(part, finding)}\n`);
    await writeTable(options.out, parts, findings, opened.description);
  }
  if ([...findings.values()].some((finding) => finding?.faults.length)) process.exitCode = 1;
} finally {
  await opened.close();
}
