import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { Command, Option } from "commander";
import { connect } from "../service/connect.ts";
import { describeError } from "../service/describe-error.ts";
import { describeChanges } from "./deploy/catalog.ts";
import { repositoryDirectory } from "./deploy/deploy-database.ts";
import { type Saved, watchApi } from "./deploy/watch-api.ts";
import { keepSession, lockDeployment } from "./sql/session.ts";
import type { StackFacts } from "./stack/start-stack.ts";

const { directory } = new Command("npm run db:watch --")
  .description(
    "Applies db/api to the stack that runs on this machine whenever a file is saved, and says what changed and how to see it. Ctrl-C ends it.",
  )
  .addOption(new Option("--directory <path>", "another directory than db").default(repositoryDirectory, "db"))
  .allowExcessArguments(false)
  .addHelpText(
    "after",
    `
Environment:
  STACK_DIRECTORY   where the running stack keeps its stack.json (.stack)

Exit status: 0 ended by Ctrl-C, 1 no stack runs, or its database has gone away.`,
  )
  .parse()
  .opts<{ directory: string }>();

const print = (text: string) => void process.stdout.write(`${text}\n`);
const factsFile = path.join(process.env.STACK_DIRECTORY || ".stack", "stack.json");
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());

try {
  const facts = await readFacts(factsFile);
  const client = await connect(facts.database_url, "db-watch");
  await keepSession(client);
  await lockDeployment(client, print);
  const { rows } = await client.query("select source from publication.data_sets where state = 'live'");
  print(describeWatch());
  await watchApi(client, path.resolve(directory), stop.signal, (saved) =>
    print(describeSaved(saved, facts, rows[0]?.source)),
  );
  await client.end();
} catch (error) {
  process.stderr.write(`db:watch: ${describeError(error)}\n`);
  process.exitCode = 1;
}

function describeWatch(): string {
  return [
    `Watching ${path.relative(process.cwd(), path.join(directory, "api"))}. Ctrl-C ends it.`,
    `For the requests below: API_KEY=$(node -p 'require("${path.resolve(factsFile)}").keys.individual')`,
  ].join("\n");
}

async function readFacts(file: string): Promise<StackFacts> {
  const text = await readFile(file, "utf8").catch((cause) => {
    throw new Error(`No stack runs here: there is no ${file}. Start one with npm start.`, { cause });
  });
  return JSON.parse(text);
}

/** @param source of the live data set */
function describeSaved(
  { files, changes, milliseconds, failure }: Saved,
  facts: StackFacts,
  source?: string,
): string {
  const head = `${new Date().toTimeString().slice(0, 8)} ${files.join(", ")}`;
  if (failure !== undefined) return `${head}: not applied\n${failure.message}`;
  if (files.every((file) => file.startsWith("data_set/"))) {
    const from = source !== undefined && path.isAbsolute(source) && existsSync(source) ? source : "DIRECTORY";
    return `${head}: in effect with the next data set\n  npm run refresh -- --from ${from}`;
  }
  const curls = files
    .map((file) => path.parse(file))
    .filter(({ dir, name }) => dir.startsWith("api/api_") && name !== "schema")
    // A deleted view has nothing to show.
    .filter(({ dir, base }) => existsSync(path.join(directory, dir, base)))
    .map(
      ({ dir, name }) =>
        `  curl -H "x-api-key: $API_KEY" -H 'accept-profile: ${path.basename(dir)}' '${facts.base_url}/${name}?limit=1'`,
    );
  const lines = changes.length === 0 ? ["(no object differs)"] : describeChanges(changes);
  return [`${head}: applied in ${milliseconds} ms`, ...lines.map((line) => `  ${line}`), ...curls].join("\n");
}
