import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { cpus, tmpdir, totalmem } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Command } from "commander";
import { writeSample } from "../scripts/sample/write-sample.ts";
import { compareResults, describeLosses, readCommittedResults } from "./compare-results.ts";
import { measureIndexes } from "./measure-indexes.ts";
import { measureKong } from "./measure-kong.ts";
import { measureLookUps } from "./measure-look-ups.ts";
import { measurePages } from "./measure-pages.ts";
import { measureRefresh } from "./measure-refresh.ts";
import { measureSizes } from "./measure-sizes.ts";
import { measureTokens } from "./measure-tokens.ts";
import { measureWalks } from "./measure-walks.ts";
import { listProcesses, readMegabytes } from "./process-time.ts";
import { readPlans } from "./read-plans.ts";
import { type BenchStack, startBenchStack } from "./start-bench-stack.ts";
import { type Results, writeResults } from "./write-results.ts";

const command = new Command("npm run bench --")
  .description("Measures the service side by side with a common design, on a stack of its own (Linux).")
  .option("--submissions <number>", "size of the data set", "40000")
  .option("--source <directory>", "source files to measure with, in place of generated ones")
  .option("--turns <number>", "turns of each comparison, at least 5", "5")
  .option("--out <directory>", "where the results go", import.meta.dirname)
  .option("--kong", "measure Kong alone (KONG_BIN, or kong on the PATH; and redis-server)")
  .allowExcessArguments(false)
  .addHelpText(
    "after",
    "\nWrites RESULTS.md, PLANS.md and results.json, and names what is more than 15 % worse than in the results of the last commit. 40,000 submissions take about 10 minutes, 400,000 an hour.",
  )
  .parse();
const options = command.opts<{
  submissions: string;
  source?: string;
  turns: string;
  out: string;
  kong?: boolean;
}>();
const submissions = Number(options.submissions);
const turns = Number(options.turns);
if (!Number.isSafeInteger(submissions) || submissions < 100 || !(turns >= 5)) {
  command.error("error: --submissions is a whole number from 100, --turns one from 5");
}

await mkdir(options.out, { recursive: true });
const directory = await mkdtemp(path.join(tmpdir(), "single-audit-bench-"));
let stack: BenchStack | undefined;
const cleanUp = async () => {
  await stack?.stop();
  await rm(directory, { recursive: true, force: true });
};
process.once("SIGINT", () => void cleanUp().finally(() => process.exit(130)));
try {
  if (options.kong) {
    stack = await startBenchStack(directory);
    await measureKong(stack, turns);
  } else await measureAll();
} finally {
  await cleanUp();
}

async function measureAll(): Promise<void> {
  const source = options.source ?? path.join(directory, "source");
  if (options.source === undefined) {
    process.stderr.write(`Generating ${submissions} submissions ...\n`);
    await writeSample({ directory: source, submissions });
  }
  stack = await startBenchStack(directory);
  const { client, pid } = stack;
  await sleep(2000);
  const atRest = listMemory(pid, "now");
  const refresh = await measureRefresh(stack, source);
  const sizes = await measureSizes(stack);
  const indexes = await measureIndexes(stack);
  await client.query(await readFile(path.join(import.meta.dirname, "common-design.sql"), "utf8"));
  // PostgREST reads its configuration and schemas again.
  await sleep(3000);
  const lookUps = await measureLookUps(stack, turns);
  const pages = await measurePages(stack, turns);
  const walks = await measureWalks(stack, turns);
  const tokenPairsPerSecond = await measureTokens(stack);
  const plans = await readPlans(stack, (walks.pages - 1) * 20_000);
  const { rows } = await client.query(
    "select current_setting('server_version') as version, (select count(*)::integer from disclosed.general) as reports",
  );
  const [cpu] = cpus();
  const results: Results = {
    machine: `${cpus().length} × ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB`,
    versions: { Node: process.version, PostgreSQL: rows[0].version, PostgREST: "12.0.2" },
    measuredAt: new Date().toISOString().slice(0, 10),
    publicReports: rows[0].reports,
    turns,
    refresh,
    sizes,
    indexes,
    lookUps,
    pages,
    walks,
    tokenPairsPerSecond,
    megabytes: { atRest, atMost: listMemory(pid, "peak") },
  };
  const committed = await readCommittedResults(import.meta.dirname);
  const losses = committed && describeLosses(compareResults(committed, results));
  await writeResults(options.out, results, { plans, losses });
  process.stderr.write(losses === undefined ? "" : `${losses}\n`);
  process.stderr.write(`Wrote RESULTS.md, PLANS.md and results.json to ${options.out}.\n`);
  await measureKong(stack, turns);
}

/** Memory of the stack's processes, by program of the largest, shared memory included. */
function listMemory(pid: number, which: "now" | "peak"): Record<string, number> {
  const labels = {
    node: "Node, largest process (npm start, gateway, report service, storage)",
    postgrest: "PostgREST",
    postgres: "PostgreSQL, largest process",
  };
  const found: Record<string, number> = {};
  for (const each of [{ pid, program: "node" as const }, ...listProcesses(pid)]) {
    const label = labels[each.program];
    found[label] = Math.max(found[label] ?? 0, readMegabytes(each.pid)[which]);
  }
  return found;
}
