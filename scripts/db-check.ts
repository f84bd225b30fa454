import path from "node:path";
import { Command, Option } from "commander";
import { describeError } from "../service/describe-error.ts";
import { checkRepository } from "./deploy/check-repository.ts";
import { repositoryDirectory } from "./deploy/deploy-database.ts";
import { writeSample } from "./sample/write-sample.ts";
import { startScratchServer } from "./servers/scratch-database.ts";

const { json, strict, directory } = new Command("npm run db:check --")
  .description(
    "Checks db/ without deploying it: lints the SQL, deploys to an empty scratch database, compares the contracts with what is served, and upgrades a database of the last release that has data.",
  )
  .option("--json", "print JSON")
  .option(
    "--strict",
    "fail on migrations that may lose data or hold requests up, unless they say why: -- pgls-ignore <rule>: <why>",
  )
  .addOption(new Option("--directory <path>", "another directory than db").default(repositoryDirectory, "db"))
  .allowExcessArguments(false)
  .addHelpText(
    "after",
    `
Environment:
  SCRATCH_URL   a PostgreSQL server for scratch databases, as superuser; by default one is started

Exit status: 0 all checks pass (warnings are printed), 1 one fails.`,
  )
  .parse()
  .opts<{ json?: true; strict?: true; directory: string }>();

let server: Awaited<ReturnType<typeof startScratchServer>> | undefined;
try {
  const serverUrl = process.env.SCRATCH_URL || undefined;
  server = await startScratchServer(serverUrl);
  const tools = {
    createDatabase: server.create,
    writeSample: (sample: Parameters<typeof writeSample>[0]) => writeSample({ ...sample, serverUrl }),
  };
  const results = await checkRepository(path.resolve(directory), tools, strict === true);
  const lines = results.flatMap(({ name, errors, warnings }) => [
    `${errors.length === 0 ? "ok  " : "FAIL"} ${name}`,
    ...errors.map((line) => indent(line)),
    ...warnings.map((line) => indent(`warning: ${line.replace(": warning:", ":")}`)),
  ]);
  process.stdout.write(`${json ? JSON.stringify(results, null, 2) : lines.join("\n")}\n`);
  if (results.some(({ errors }) => errors.length > 0)) process.exitCode = 1;
} catch (error) {
  process.stderr.write(`db:check: ${describeError(error)}\n`);
  process.exitCode = 1;
} finally {
  await server?.close();
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, "       ");
}
