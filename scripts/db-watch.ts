import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Command, Option } from "commander";
import type { Client } from "pg";
import { connect } from "../shared/connect.ts";
import { describeError } from "../shared/describe-error.ts";
import { compareCatalogs, describeChanges, readCatalog } from "./deploy/catalog.ts";
import { rebuildApi, repositoryDirectory } from "./deploy/deploy-database.ts";
import { recordFingerprint } from "./deploy/deployed.ts";
import { type DatabaseFiles, readFiles } from "./deploy/read-files.ts";
import { runTransaction } from "./sql/run-transaction.ts";
import { lockDeployment, prepareSession } from "./sql/session.ts";
import type { StackFacts } from "./stack/start-stack.ts";

const pollMilliseconds = 100;
/** Waits for this long after a change, because editors save a file in several steps. */
const settleMilliseconds = 30;

const options = new Command("npm run db:watch --")
  .description(
    "Whenever you save a file in db/api, applies db/api to the stack that runs on this machine. Prints each change, and a request that shows it. To stop, press Ctrl-C.",
  )
  .addOption(new Option("--directory <path>", "another directory than db").default(repositoryDirectory, "db"))
  .allowExcessArguments(false)
  .addHelpText(
    "after",
    `
Environment:
  STACK_DIRECTORY   directory with the stack.json of the running stack (default: .stack)

Exit status: 0 stopped by Ctrl-C, 1 the stack or its database is not running.`,
  )
  .parse()
  .opts<{ directory: string }>();

const directory = path.resolve(options.directory);
const print = (text: string) => void process.stdout.write(`${text}\n`);
const factsFile = path.resolve(process.env.STACK_DIRECTORY || ".stack", "stack.json");
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());

try {
  const text = await readFile(factsFile, "utf8").catch((cause) => {
    throw new Error(`No stack is running: ${factsFile} does not exist. Start a stack with npm start.`, {
      cause,
    });
  });
  const facts: StackFacts = JSON.parse(text);
  const client = await connect(facts.database_url, "db-watch");
  await prepareSession(client);
  await lockDeployment(client, print);
  await watch(client, facts.base_url);
  await client.end();
} catch (error) {
  process.stderr.write(`db:watch: ${describeError(error)}\n`);
  process.exitCode = 1;
}

async function watch(client: Client, baseUrl: string): Promise<void> {
  let known = await readFiles(directory);
  print(`Watching ${path.relative(process.cwd(), path.join(directory, "api"))}. Ctrl-C ends it.
For the requests below: API_KEY=$(node -p 'require("${factsFile}").keys.individual')`);
  while (!stop.signal.aborted) {
    await sleep(pollMilliseconds);
    const read = async () => await readFiles(directory).catch(() => known);
    if (findSaved(await read(), known).length === 0) continue;
    await sleep(settleMilliseconds);
    const files = await read();
    const saved = findSaved(files, known);
    known = files;
    const time = new Date().toTimeString().slice(0, 8);
    for (const file of saved.filter((name) => name.startsWith("data_set/")))
      print(
        file === "data_set/indexes.sql"
          ? `${time} ${file}: built by a deployment\n  npm run db:deploy`
          : `${time} ${file}: in effect with the next data set\n  npm run refresh -- --from DIRECTORY`,
      );
    const api = saved.filter((name) => !name.startsWith("data_set/"));
    if (api.length > 0) print(`${time} ${api.join(", ")}: ${await apply(client, files, api, baseUrl)}`);
  }
}

/** Lists the files that differ, such as `api/api_v1_1_0/general.sql`. */
function findSaved(now: DatabaseFiles, before: DatabaseFiles): string[] {
  const contentsOf = ({ functions, api: { request, versions }, dataSet, rights }: DatabaseFiles) => {
    const files = [
      ...functions,
      ...request,
      ...versions.flatMap((version) => version.files),
      ...Object.values(dataSet),
      { name: "db/contracts/rights.txt", sql: rights.join("\n") },
    ];
    return Object.fromEntries(files.map(({ name, sql }) => [name.slice("db/".length), sql]));
  };
  const [after, then] = [contentsOf(now), contentsOf(before)];
  const names = [...new Set([...Object.keys(after), ...Object.keys(then)])].sort();
  return names.filter((name) => after[name] !== then[name]);
}

/** Rebuilds the API and says what changed, and how to see it. */
async function apply(
  client: Client,
  files: DatabaseFiles,
  saved: string[],
  baseUrl: string,
): Promise<string> {
  const start = performance.now();
  const before = await readCatalog(client);
  try {
    await runTransaction(client, () => rebuildApi(client, files, {}));
  } catch (error) {
    // Ends the program if the connection is lost.
    await client.query("select 1");
    return `not applied\n${describeError(error)}`;
  }
  const milliseconds = Math.round(performance.now() - start);
  const changes = describeChanges(compareCatalogs(before, await readCatalog(client)));
  await recordFingerprint(client);
  const curls = saved
    .map((file) => path.parse(file))
    // A deleted view has nothing to show.
    .filter(
      ({ dir, name, base }) =>
        !["schema", "common"].includes(name) && existsSync(path.join(directory, dir, base)),
    )
    .map(({ dir, name }) => [path.basename(dir), name])
    .filter(([schema]) => schema?.startsWith("api_"))
    .map(
      ([schema, name]) =>
        `curl -H "x-api-key: $API_KEY" -H 'accept-profile: ${schema}' '${baseUrl}/${name}?limit=1'`,
    );
  const lines = [...(changes.length === 0 ? ["(no object differs)"] : changes), ...curls];
  return [`applied in ${milliseconds} ms`, ...lines.map((line) => `  ${line}`)].join("\n");
}
