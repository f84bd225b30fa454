import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { cpus, tmpdir, totalmem } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Command, InvalidArgumentError, Option } from "commander";
import { Client } from "pg";
import type { StackFacts } from "../scripts/stack/start-stack.ts";
import { runProgram } from "../test/support/run-stack.ts";
import { type BenchStack, startBenchStack } from "./bench-stack.ts";
import { measureGateway, missingForGateway } from "./measure-gateway.ts";
import { measureLookups } from "./measure-lookups.ts";
import { measureReads } from "./measure-reads.ts";
import { measureRefresh } from "./measure-refresh.ts";
import { measureShapes } from "./measure-shapes.ts";
import { describeResults, formatTable } from "./results.ts";

const atLeast = (least: number) => (text: string) => {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= least) return number;
  throw new InvalidArgumentError(`Enter a whole number of at least ${least}.`);
};
const options = new Command("npm run bench --")
  .description("Compares the service with a common design, on its own stack. Linux only.")
  .option(
    "--submissions <number>",
    "submissions in the generated data set, at least 2000",
    atLeast(2000),
    40_000,
  )
  .option("--source <directory>", "source files to use instead of generated ones")
  .option("--turns <number>", "how often to repeat each comparison", atLeast(1), 5)
  .addOption(
    new Option("--only <section>", "print this section, and start no stack").choices(["gateway", "shapes"]),
  )
  .allowExcessArguments(false)
  .addHelpText(
    "after",
    `
Prints Markdown. bench/RESULTS.md has the results that hold now.
40,000 submissions take about 10 minutes, and 400,000 about an hour.

Set GATEWAY=kong to use the Kong on the PATH, or KONG_BIN to name the program as well. The run then also compares this
project's plugin with Kong's key-auth and rate-limiting, for which redis-server or valkey-server must be on the PATH.
This comparison alone takes about a minute:
  GATEWAY=kong npm run bench -- --only gateway

"--only shapes" measures requests of clients and searches on the stack that runs in STACK_DIRECTORY (.stack). Its data set
should have 400,000 submissions, and its individual key needs 200 requests for each turn and the warm-up.`,
  )
  .parse()
  .opts<{ submissions: number; source?: string; turns: number; only?: string }>();

const directory = await mkdtemp(path.join(tmpdir(), "single-audit-bench-"));
// PostgreSQL's unprivileged user must be able to pass.
await chmod(directory, 0o711);
let stack: BenchStack | undefined;
const cleanUp = async () => {
  await stack?.dispose();
  await rm(directory, { recursive: true, force: true });
};
process.once("SIGINT", () => void cleanUp().finally(() => process.exit(130)));
try {
  if (options.only === "gateway") await printGateway();
  else if (options.only === "shapes") await printShapes();
  else await measureAll();
} finally {
  await cleanUp();
}

async function printGateway(): Promise<void> {
  if (missingForGateway !== undefined) {
    process.stderr.write(`The section "The gateway" needs Kong and Redis. ${missingForGateway}\n`);
    process.exitCode = 1;
    return;
  }
  process.stdout.write(`${formatTable(await measureGateway(directory, options.turns))}\n`);
}

async function printShapes(): Promise<void> {
  const file = path.join(process.env.STACK_DIRECTORY || ".stack", "stack.json");
  const facts: StackFacts & { pid: number } = JSON.parse(await readFile(file, "utf8"));
  const client = new Client({ connectionString: facts.database_url });
  await client.connect();
  try {
    const figures = await measureShapes({ facts, pid: facts.pid, client }, options.turns);
    process.stdout.write(`${formatTable(figures)}\n`);
  } finally {
    await client.end();
  }
}

async function measureAll(): Promise<void> {
  const source = options.source ?? (await generateSource(options.submissions));
  stack = await startBenchStack(directory);
  const { client } = stack;
  const refresh = await measureRefresh(stack, source);
  await client.query(await readFile(path.join(import.meta.dirname, "common-design.sql"), "utf8"));
  // PostgREST needs time to reload its configuration and schemas.
  await sleep(3000);
  const lookups = await measureLookups(stack, options.turns);
  const reads = await measureReads(stack, options.turns);
  const shapes = await measureShapes(stack, options.turns);
  const gateway = missingForGateway === undefined ? await measureGateway(directory, options.turns) : [];
  const { rows } = await client.query(
    "select current_setting('server_version') as version, (select count(*)::integer from disclosed.general) as reports",
  );
  const { headers } = await fetch(stack.facts.postgrest_url);
  const environment = [
    `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB`,
    `Node ${process.version}, PostgreSQL ${rows[0].version}, ${headers.get("server")}`,
    `gateway: ${process.env.GATEWAY || "embedded"}`,
  ].join("; ");
  const figures = [...lookups, ...reads, ...shapes, ...refresh, ...gateway];
  const { reports } = rows[0];
  process.stdout.write(describeResults({ environment, reports, turns: options.turns, figures }));
  if (missingForGateway !== undefined)
    process.stderr.write(`Left out the section "The gateway". ${missingForGateway}\n`);
}

async function generateSource(submissions: number): Promise<string> {
  const source = path.join(directory, "source");
  process.stderr.write(`Generating ${submissions} submissions ...\n`);
  const args = ["--out", source, "--submissions", String(submissions)];
  const sample = runProgram("sample.ts", args, process.env);
  if ((await sample.exited) !== 0) throw new Error(`The sample could not be generated:\n${sample.output()}`);
  return source;
}
