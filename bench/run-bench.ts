import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { cpus, tmpdir, totalmem } from "node:os";
import path from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { warmTables } from "../scripts/refresh/warm-tables.ts";
import { runProgram } from "../test/support/run-stack.ts";
import { type BenchStack, openBenchStack } from "./bench-stack.ts";
import { measureCapacity } from "./measure-capacity.ts";
import { measureLookups, startBarePostgrest, startGateways } from "./measure-lookups.ts";
import { measureNeighbors } from "./measure-neighbors.ts";
import { measurePages } from "./measure-pages.ts";
import { measureRefresh } from "./measure-refresh.ts";
import { compareShapes, describeShapes, measureShapes, measureTexts } from "./measure-shapes.ts";
import { measureCommonTable, measureTables } from "./measure-tables.ts";
import { describeResults, type Table } from "./results.ts";

const atLeast = (least: number) => (text: string) => {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= least) return number;
  throw new InvalidArgumentError(`Enter a whole number of at least ${least}.`);
};
const sections = [
  "refresh",
  "lookups",
  "neighbors",
  "capacity",
  "shapes",
  "texts",
  "tables",
  "pages",
] as const;
const options = new Command("npm run bench --")
  .description(
    "Prints a page of figures: what requests, pages and a refresh cost, beside common alternatives. Linux only.",
  )
  .option(
    "--submissions <number>",
    "submissions in the generated data set, at least 2000",
    atLeast(2000),
    40_000,
  )
  .option("--source <directory>", "source files to use instead of generated ones")
  .option("--stack <directory>", "the running stack to measure; by default, the bench starts one")
  .option("--turns <number>", "how often to repeat each comparison", atLeast(1), 5)
  .addOption(new Option("--only <section...>", "measure only these sections").choices(sections))
  .allowExcessArguments(false)
  .addHelpText(
    "after",
    `
Prints Markdown. bench/RESULTS.md has the results that hold now.
40,000 submissions take about 10 minutes, and 400,000 about an hour.

Set GATEWAY=kong to use the Kong on the PATH, or KONG_BIN to name the program. The run then also compares this project's plugin
with Kong's key-auth and rate-limiting; with redis-server or valkey-server on the PATH, also with counts in Redis.

With --stack, the bench measures a refresh only if you add --source. It publishes these files, issues 64 keys, which it
revokes at the end, and adds two schemas of the common design, which it drops. A stack of npm start allows each key 1,000
requests an hour: start it with a GATEWAY_CONFIG that allows more.`,
  )
  .parse()
  .opts<{ submissions: number; source?: string; stack?: string; turns: number; only?: string[] }>();

const directory = await mkdtemp(path.join(tmpdir(), "single-audit-bench-"));
// PostgreSQL's unprivileged user must be able to pass.
await chmod(directory, 0o711);
const cleanUps: (() => Promise<unknown>)[] = [() => rm(directory, { recursive: true, force: true })];
const cleanUp = async () => {
  for (const each of cleanUps.splice(0).reverse()) await each();
};
process.once("SIGINT", () => void cleanUp().finally(() => process.exit(130)));
try {
  await measureAll();
} finally {
  await cleanUp();
}

async function measureAll(): Promise<void> {
  const { stack: running, turns, submissions } = options;
  const source = options.source ?? (running ? undefined : await generateSource(submissions));
  const stack = await openBenchStack(directory, { running, source });
  cleanUps.push(stack.dispose);
  const { client } = stack;
  const warm = () => warmTables(client, (line) => void process.stderr.write(`${line}\n`));
  await warm();
  cleanUps.push(warm);
  const tables: Table[] = [];
  const wants = (section: string) => options.only?.includes(section) ?? true;
  // Comes first, because the common design is no part of the service.
  if (wants("refresh") && source !== undefined) tables.push(...(await measureRefresh(stack, source)));
  if (["neighbors", "capacity"].some((section) => wants(section)))
    tables.push(...(await measureLoads(stack, wants)));
  if (["lookups", "tables", "shapes"].some((section) => wants(section)))
    tables.push(...(await compareWithOthers(stack, wants)));
  if (wants("pages")) tables.push(await measurePages(stack, turns));
  if (wants("texts")) tables.push(await measureTexts(stack, turns));
  const { rows } = await client.query(
    "select current_setting('server_version') as version, (select count(*)::integer from disclosed.general) as reports",
  );
  const { headers } = await fetch(stack.facts.postgrest_url);
  const environment = [
    `with ${rows[0].reports.toLocaleString("en-US")} public reports on ${cpus().length} × ${cpus()[0]?.model.trim()}`,
    `${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.version}, PostgreSQL ${rows[0].version}, ${headers.get("server")}`,
  ].join(", ");
  process.stdout.write(describeResults(environment, turns, tables));
}

/** Measures how many clients at a time fare. */
async function measureLoads(stack: BenchStack, wants: (section: string) => boolean): Promise<Table[]> {
  const gateways = await startGateways(stack, undefined, directory);
  cleanUps.push(gateways.stop);
  const tables: Table[] = [];
  if (wants("neighbors")) tables.push(await measureNeighbors(stack, { gateways, turns: options.turns }));
  if (wants("capacity")) tables.push(...(await measureCapacity(stack, gateways)));
  return tables;
}

/** Measures what is compared with a PostgREST of its own, the common design and Kong's plugins. */
async function compareWithOthers(stack: BenchStack, wants: (section: string) => boolean): Promise<Table[]> {
  const { turns } = options;
  const startBare = async () => {
    const bare = await startBarePostgrest(stack);
    cleanUps.push(bare.stop);
    return bare;
  };
  const bare = await startBare();
  const gateways = await startGateways(stack, bare, directory);
  cleanUps.push(gateways.stop);
  const tables: Table[] = [];
  if (wants("lookups")) tables.push(await measureLookups(stack, bare, { gateways, turns }));
  const awards = wants("tables") ? await measureTables(stack, bare, { gateways, turns }) : undefined;
  const shapes = wants("shapes") ? await measureShapes(stack, turns) : undefined;
  if (awards === undefined && shapes === undefined) return tables;
  // Comes last, because its tables take the place of the service's in memory. Only a PostgREST that starts later serves them.
  await addCommonDesign(stack);
  const common = await startBare();
  if (awards !== undefined)
    tables.push({ ...awards, rows: { ...awards.rows, ...(await measureCommonTable(stack, common, turns)) } });
  if (shapes !== undefined) tables.push(describeShapes(await compareShapes(stack, shapes, common, turns)));
  return tables;
}

/** Adds the tables that the service is compared with, until the end. */
async function addCommonDesign({ client }: BenchStack): Promise<void> {
  const drop = "drop schema if exists common_api, common cascade";
  await client.query(drop);
  cleanUps.push(() => client.query(drop));
  await client.query(await readFile(path.join(import.meta.dirname, "common-design.sql"), "utf8"));
}

async function generateSource(submissions: number): Promise<string> {
  const source = path.join(directory, "source");
  process.stderr.write(`Generating ${submissions} submissions ...\n`);
  const args = ["--out", source, "--submissions", String(submissions)];
  const sample = runProgram("sample.ts", args, process.env);
  if ((await sample.exited) !== 0) throw new Error(`The sample could not be generated:\n${sample.output()}`);
  return source;
}
