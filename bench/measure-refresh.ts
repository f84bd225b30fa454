import { spawn } from "node:child_process";
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { from as copyFrom } from "pg-copy-streams";
import { findFiles } from "../scripts/refresh/find-files.ts";
import { ask } from "./ask.ts";
import { readMegabytes } from "./process-time.ts";
import { type BenchStack, project } from "./start-bench-stack.ts";

export interface RefreshFigures {
  rows: number;
  /** Rows a second of COPY alone into tables without indexes, and of the whole refresh. */
  bareCopyRowsPerSecond: number;
  copyRowsPerSecond: number;
  pipelineRowsPerSecond: number;
  steps: Record<string, number>;
  peakMegabytes: number;
  /** Readers' longest waits: while rows are loaded and indexes built, and from the publication on. */
  readers: { requests: number; failed: number; longestLoading: number; longestPublishing: number };
}

/** Copies the files into bare tables, and then refreshes from them while two readers ask through the gateway. */
export async function measureRefresh(stack: BenchStack, source: string): Promise<RefreshFigures> {
  const bare = await copyBare(stack, source);
  const readers = { requests: 0, failed: 0, longestLoading: 0, longestPublishing: 0 };
  let stopped = false;
  let isPublishing = false;
  const read = async () => {
    while (!stopped) {
      const start = performance.now();
      const url = `${stack.facts.base_url}/general?select=report_id,auditee_name&limit=50`;
      await ask(url, { "x-api-key": stack.facts.keys.individual }).catch(() => {
        readers.failed += 1;
      });
      readers.requests += 1;
      const moment = isPublishing ? "longestPublishing" : "longestLoading";
      readers[moment] = Math.round(Math.max(readers[moment], performance.now() - start));
      await sleep(10);
    }
  };
  const reading = Promise.all([read(), read()]);
  const start = performance.now();
  const peakMegabytes = await runRefresh(stack, source, () => {
    isPublishing = true;
  });
  const seconds = (performance.now() - start) / 1000;
  stopped = true;
  await reading;
  const { rows } = await stack.client.query(
    "select durations from publication.data_sets where state = 'live'",
  );
  const steps: Record<string, number> = rows[0].durations;
  const figures = {
    rows: bare.rows,
    bareCopyRowsPerSecond: Math.round(bare.rows / bare.seconds),
    copyRowsPerSecond: Math.round(bare.rows / (steps.copy ?? 1)),
    pipelineRowsPerSecond: Math.round(bare.rows / seconds),
    steps,
    peakMegabytes,
    readers,
  };
  process.stderr.write(`refresh: ${JSON.stringify(figures)}\n`);
  return figures;
}

async function runRefresh(
  { directory }: BenchStack,
  source: string,
  onPublishing: () => void,
): Promise<number> {
  const child = spawn(
    process.execPath,
    [
      "--import",
      "tsx",
      "scripts/refresh.ts",
      "--from",
      source,
      "--accept-shrink",
      "--accept-growth",
      "--force",
    ],
    {
      cwd: project,
      env: { ...process.env, STACK_DIRECTORY: directory },
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  child.stderr.on("data", (chunk: Buffer) => {
    process.stderr.write(chunk);
    if (chunk.includes("Publishing ...")) onPublishing();
  });
  let peak = 0;
  const look = setInterval(() => {
    peak = Math.max(peak, readMegabytes(child.pid ?? 0).peak);
  }, 50);
  const code = await new Promise((resolve) => child.once("close", resolve));
  clearInterval(look);
  if (code !== 0) throw new Error(`The refresh ended with ${code}.`);
  return peak;
}

async function copyBare({ client }: BenchStack, source: string): Promise<{ rows: number; seconds: number }> {
  await client.query("create schema bare");
  let rows = 0;
  let seconds = 0;
  for (const { table, path: file } of await findFiles(source)) {
    await client.query(`create table bare.${table} (like disclosed.${table})`);
    const handle = await open(file);
    let header = "";
    for await (const line of handle.readLines()) {
      header = line;
      break;
    }
    await handle.close();
    const start = performance.now();
    const copy = client.query(copyFrom(`copy bare.${table} (${header}) from stdin (format csv, header)`));
    await pipeline(createReadStream(file, { highWaterMark: 1 << 18 }), copy);
    seconds += (performance.now() - start) / 1000;
    rows += copy.rowCount;
  }
  await client.query("drop schema bare cascade");
  return { rows, seconds };
}
