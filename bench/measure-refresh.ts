import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import { readTreeTime } from "../test/support/read-cpu-time.ts";
import { runProgram } from "../test/support/run-stack.ts";
import type { BenchStack } from "./bench-stack.ts";
import { apiClients, readers, type Sample, sendLoad } from "./load.ts";
import { quantile } from "./measure.ts";
import type { Table } from "./results.ts";

/** Requests that all clients send per second. */
const rates = { pages: 10, api: 30 };

/** In seconds. */
interface StepTime {
  clock: number;
  /** CPU time of the refresh's session and its parallel workers. */
  PostgreSQL: number;
  /** CPU time of the command. */
  command: number;
}

interface RefreshTimes {
  steps: Map<string, StepTime>;
  /** The longest time that another session waited for a lock, in milliseconds, and when the publication began and ended. */
  longestLockWait: number;
  published: { begin: number; end: number };
}

/** Measures a refresh from source files while readers of pages and clients of the API send requests. */
export async function measureRefresh(stack: BenchStack, source: string): Promise<Table[]> {
  const { facts, client, keys } = stack;
  const { rows: reports } = await client.query(
    "select report_id, auditee_uei from disclosed.general where auditee_uei <> 'GSA_MIGRATION' order by md5(report_id) limit 5000",
  );
  const samples: Sample[] = [];
  const stop = new AbortController();
  const used = process.cpuUsage();
  const start = performance.now();
  const load = sendLoad({
    baseUrl: facts.base_url,
    appUrl: facts.app_url,
    keys,
    reports,
    rates,
    signal: stop.signal,
    record: (sample) => samples.push(sample),
  });
  const times = await runRefresh(stack, source).finally(() => stop.abort());
  await load;
  const { user, system } = process.cpuUsage(used);
  const share = (user + system) / 1000 / (performance.now() - start);
  process.stderr.write("Measured: a refresh.\n");
  return [describeRefresh(times), describeLoad(samples, share)];
}

/** Runs a refresh from source files, and measures each of its steps. */
async function runRefresh(
  { client, directory }: Pick<BenchStack, "client" | "directory">,
  source: string,
): Promise<RefreshTimes> {
  const args = ["--from", source, "--accept-shrink", "--accept-growth", "--force"];
  const refresh = runProgram("refresh.ts", args, { ...process.env, STACK_DIRECTORY: directory });
  let line = "Starting";
  refresh.child.stderr.on("data", (chunk: Buffer) => {
    process.stderr.write(chunk);
    for (const [said] of chunk.toString().matchAll(/^\w+ .*\.\.\.$/gm)) line = said;
  });
  let isOver = false;
  void refresh.exited.then(() => {
    isOver = true;
  });
  const used = new Map<number, number>();
  /** The seconds of CPU time that the processes have used since they were last asked. */
  const readUsed = (pids: number[]) => {
    const times = pids.map((pid) => {
      const time = readTreeTime(pid);
      const more = Math.max(0, time - (used.get(pid) ?? 0));
      used.set(pid, time);
      return more;
    });
    return times.reduce((sum, time) => sum + time, 0) / 1000;
  };
  const steps = new Map<string, StepTime>();
  const published = { begin: 0, end: 0 };
  let longestLockWait = 0;
  let last = performance.now();
  while (!isOver) {
    const { pids, query, wait } = await readSession(client);
    longestLockWait = Math.max(longestLockWait, wait);
    const step = nameStep(line, query, steps.has("indexes"));
    const time = steps.get(step) ?? { clock: 0, PostgreSQL: 0, command: 0 };
    const now = performance.now();
    if (line.startsWith("Publishing")) {
      published.begin ||= now;
      if (step !== "load tables into memory") published.end = now;
    }
    steps.set(step, {
      clock: time.clock + (now - last) / 1000,
      PostgreSQL: time.PostgreSQL + readUsed(pids),
      command: time.command + readUsed([refresh.child.pid ?? 0]),
    });
    last = now;
    // Requests wait only for a moment.
    await sleep(line.startsWith("Publishing") ? 10 : 200);
  }
  if ((await refresh.exited) !== 0) throw new Error(`The refresh failed:\n${refresh.output()}`);
  return { steps, longestLockWait, published };
}

async function readSession(client: Client) {
  const { rows } = await client.query<{ pids: number[] | null; query: string | null; wait: number }>(`
    select
      array_agg(pid) as pids,
      max(query) filter (where backend_type = 'client backend') as query,
      (
        select coalesce(max(extract(epoch from clock_timestamp() - waitstart)) * 1000, 0)::float8
        from pg_locks
        where not granted and pid not in (select pid from pg_stat_activity where application_name = 'refresh')
      ) as wait
    from pg_stat_activity
    where application_name = 'refresh'`);
  return { pids: rows[0]?.pids ?? [], query: rows[0]?.query ?? "", wait: rows[0]?.wait ?? 0 };
}

/** Names the step from the line that the refresh printed last, and its statement. */
function nameStep(line: string, query: string, hasIndexes: boolean): string {
  if (query.includes("find_leaks")) return "leak check";
  if (query.includes("ctid >= '(0,0)'")) return "load tables into memory";
  if (query.includes("build_indexes(")) return "indexes";
  const [first = ""] = line.split(" ");
  const names: Record<string, string> = {
    Starting: "start",
    Reading: "copy",
    Checking: "check",
    Building: hasIndexes ? "fingerprints and totals" : "build",
    Vacuuming: "vacuum",
    Writing: "bulk files",
    Publishing: "publish",
  };
  return names[first] ?? first;
}

function describeRefresh({ steps, longestLockWait }: RefreshTimes): Table {
  const total = { clock: 0, PostgreSQL: 0, command: 0 };
  for (const time of steps.values())
    for (const name of ["clock", "PostgreSQL", "command"] as const) total[name] += time[name];
  const rows = [...steps, ["in all", total] as const].map(([step, { clock, PostgreSQL, command }]) => [
    step,
    { seconds: clock, PostgreSQL, command, both: PostgreSQL + command },
  ]);
  return {
    title: "Refresh",
    text: `CPU time in s. A request waited at most ${Math.ceil(longestLockWait)} ms for a lock of the publication.`,
    rows: Object.fromEntries(rows),
  };
}

/** @param share the CPU time of the clients themselves, in cores */
function describeLoad(samples: Sample[], share: number): Table {
  const kinds = [...new Set(samples.map(({ kind }) => kind))].sort();
  const rows = kinds.map((kind) => {
    const ofKind = samples.filter((sample) => sample.kind === kind);
    const milliseconds = ofKind.map((sample) => sample.milliseconds);
    const figures = {
      requests: ofKind.length,
      failed: ofKind.filter(({ outcome }) => !/^[23]\d\d$/.test(outcome)).length,
      "p50 ms": quantile(milliseconds, 0.5),
      "p99 ms": quantile(milliseconds, 0.99),
      "most ms": Math.max(...milliseconds),
    };
    return [kind, figures];
  });
  return {
    title: "Requests during the refresh",
    text: `${readers.count} readers from ${readers.addresses} addresses opened ${rates.pages} pages a second, and ${apiClients.count} clients of the API with ${apiClients.addresses} keys sent ${rates.api} requests a second. These clients took ${share.toFixed(2)} of a core.`,
    rows: Object.fromEntries(rows),
  };
}
