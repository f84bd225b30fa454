import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { cpus, tmpdir, totalmem } from "node:os";
import path from "node:path";
import { Command } from "commander";
import { writeSample } from "../db/sample/write-sample.ts";
import { measureReads } from "./measure-reads.ts";
import { measureRefresh, readPeakMegabytes } from "./measure-refresh.ts";
import { measureTokens } from "./measure-tokens.ts";
import { type BenchStack, startBenchStack } from "./start-bench-stack.ts";
import { writeResults } from "./write-results.ts";

const command = new Command("npm run bench --")
  .description("Measures the service side by side with a common design, on a stack of its own (Linux).")
  .option("--submissions <number>", "size of the data set", "40000")
  .option("--turns <number>", "turns of each comparison, at least 5", "5")
  .allowExcessArguments(false)
  .addHelpText(
    "after",
    "\nWrites bench/RESULTS.md and bench/results.json. 40,000 submissions take about 10 minutes.",
  )
  .parse();
const options = command.opts<{ submissions: string; turns: string }>();
const submissions = Number(options.submissions);
const turns = Number(options.turns);
if (!Number.isSafeInteger(submissions) || submissions < 100 || !(turns >= 5)) {
  command.error("error: --submissions is a whole number from 100, --turns one from 5");
}

const directory = await mkdtemp(path.join(tmpdir(), "single-audit-bench-"));
let stack: BenchStack | undefined;
try {
  const source = path.join(directory, "source");
  process.stderr.write(`Generating ${submissions} submissions ...\n`);
  await writeSample({ directory: source, submissions });
  stack = await startBenchStack(directory);
  const refresh = await measureRefresh(stack, source);
  await stack.client.query(await readFile(path.join(import.meta.dirname, "common-design.sql"), "utf8"));
  // PostgREST reads its configuration and schemas again.
  await new Promise((resolve) => setTimeout(resolve, 3000));
  const comparisons = await measureReads(stack, turns);
  const tokenPairsPerSecond = await measureTokens(stack);
  const [cpu] = cpus();
  const { rows } = await stack.client.query("show server_version");
  await writeResults(import.meta.dirname, {
    machine: `${cpus().length} × ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB`,
    versions: { Node: process.version, PostgreSQL: rows[0].server_version, PostgREST: "12.0.2" },
    measuredAt: new Date().toISOString().slice(0, 10),
    submissions,
    turns,
    refresh,
    comparisons,
    tokenPairsPerSecond,
    megabytes: listMemory(stack.pid),
  });
  process.stderr.write("Wrote bench/RESULTS.md and bench/results.json.\n");
} finally {
  await stack?.stop();
  await rm(directory, { recursive: true, force: true });
}

/** Peak memory of the stack's processes; of PostgreSQL's the largest, shared memory included. */
function listMemory(pid: number): Record<string, number> {
  const found: Record<string, number> = {
    "Node: embedded gateway, its sync, report service, storage": readPeakMegabytes(pid),
  };
  for (const entry of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const name = readName(entry);
    if (name !== "postgrest" && name !== "postgres") continue;
    if (!isBelow(entry, pid)) continue;
    const label = name === "postgrest" ? "PostgREST" : "PostgreSQL, largest process";
    found[label] = Math.max(found[label] ?? 0, readPeakMegabytes(Number(entry)));
  }
  return found;
}

function readName(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return "";
  }
}

function isBelow(pid: string, ancestor: number): boolean {
  for (let current = Number(pid); current > 1; ) {
    if (current === ancestor) return true;
    try {
      const [, parent] = /PPid:\s+(\d+)/.exec(readFileSync(`/proc/${current}/status`, "utf8")) ?? [];
      current = Number(parent ?? 0);
    } catch {
      return false;
    }
  }
  return false;
}
