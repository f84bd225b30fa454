import { readdirSync, readFileSync } from "node:fs";

/** CPU milliseconds that a stack's processes have used since they began, by program. */
export interface CpuTime {
  postgres: number;
  postgrest: number;
  node: number;
}

/** Reads the CPU time of the processes below a process, and its own, by the kernel's count in nanoseconds. */
export function readCpuTime(ancestor: number): CpuTime {
  const times: CpuTime = { postgres: 0, postgrest: 0, node: sumThreads(ancestor) };
  for (const { pid, program } of listProcesses(ancestor)) times[program] += sumThreads(pid);
  return times;
}

/** The stack's processes but the first one: PostgreSQL's, PostgREST's and the services'. */
export function listProcesses(ancestor: number): { pid: number; program: keyof CpuTime }[] {
  return listPids().flatMap((pid) => {
    const program = readText(`/proc/${pid}/comm`).trim();
    if (program !== "postgres" && program !== "postgrest" && program !== "node") return [];
    return Number(pid) !== ancestor && isBelow(pid, ancestor) ? [{ pid: Number(pid), program }] : [];
  });
}

/** CPU milliseconds that a process and all below it have used. */
export function readTreeTime(ancestor: number): number {
  return sumThreads(ancestor) + listBelow(ancestor).reduce((sum, { pid }) => sum + sumThreads(pid), 0);
}

/** All processes below a process, with their command lines. */
export const listBelow = (ancestor: number): ReturnType<typeof listChildren> =>
  listChildren(ancestor).flatMap((child) => [child, ...listBelow(child.pid)]);

/** The processes that a process has started, with their command lines. */
export function listChildren(parent: number): { pid: number; command: string }[] {
  return listPids()
    .filter((pid) => readParent(pid) === String(parent))
    .map((pid) => ({
      pid: Number(pid),
      command: readText(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim(),
    }));
}

/**
 * A process's memory in MB: what it holds now and the most it has held, shared memory included; what it holds alone, and
 * of the memory that it shares. 0 where it has ended.
 */
export function readMegabytes(pid: number): { now: number; peak: number; own: number; shared: number } {
  const status = readText(`/proc/${pid}/status`);
  const read = (name: string) =>
    Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024);
  return { now: read("VmRSS"), peak: read("VmHWM"), own: read("RssAnon"), shared: read("RssShmem") };
}

/** Of the threads in nanoseconds; of threads and children that have ended in the kernel's hundredths of a second. */
function sumThreads(pid: number): number {
  let threads: string[];
  try {
    threads = readdirSync(`/proc/${pid}/task`);
  } catch {
    return 0;
  }
  const nanoseconds = threads.map((thread) =>
    Number(readText(`/proc/${pid}/task/${thread}/schedstat`).split(" ")[0]),
  );
  // After the program's name, which may hold anything, the fields 3 and on; 14 and 15 are those of the process, 16 and 17
  // those of ended children.
  const fields = readText(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, "")
    .split(" ");
  const [own = 0, ended = 0] = [11, 13].map(
    (first) => (Number(fields[first] ?? 0) + Number(fields[first + 1] ?? 0)) * 10,
  );
  return Math.max(nanoseconds.reduce((sum, each) => sum + each, 0) / 1e6, own) + ended;
}

function isBelow(pid: string, ancestor: number): boolean {
  for (let current = pid; Number(current) > 1; ) {
    if (Number(current) === ancestor) return true;
    current = readParent(current);
  }
  return false;
}

const listPids = () => readdirSync("/proc").filter((name) => /^\d+$/.test(name));

const readParent = (pid: string) => /PPid:\s+(\d+)/.exec(readText(`/proc/${pid}/status`))?.[1] ?? "0";

/** Empty where the process has ended. */
function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
