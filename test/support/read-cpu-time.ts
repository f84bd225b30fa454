import { readdirSync, readFileSync } from "node:fs";

/** The programs whose CPU time is counted, and how to recognize their command lines. */
const programs = {
  PostgreSQL: /\bpostgres\b/,
  PostgREST: /\bpostgrest$/,
  gateway: /gateway-embedded|nginx/,
  app: /report-service\.ts/,
};
type Program = keyof typeof programs;
const programNames = Object.keys(programs) as Program[];

/** The CPU milliseconds that the descendants of a process have used so far, for each program (proc_pid_stat(5)). */
export function readCpuTime(ancestor: number): Record<Program, number> {
  const times = { PostgreSQL: 0, PostgREST: 0, gateway: 0, app: 0 };
  for (const pid of listDescendants(ancestor)) {
    const command = readText(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim();
    const program = programNames.find((name) => programs[name].test(command));
    if (program !== undefined) times[program] += readProcessTime(pid);
  }
  return times;
}

/** The CPU milliseconds that a process and its descendants have used so far. */
export const readTreeTime = (pid: number) =>
  [pid, ...listDescendants(pid)].reduce((sum, each) => sum + readProcessTime(each), 0);

/** Returns the IDs of a process's descendants. */
export function listDescendants(ancestor: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    if (/^\d+$/.test(name)) parents.set(Number(name), Number(readStat(Number(name))[1] ?? 0));
  }
  const isBelow = (pid: number): boolean =>
    parents.get(pid) === ancestor || (parents.has(pid) && isBelow(parents.get(pid) ?? 0));
  return [...parents.keys()].filter(isBelow);
}

/** The CPU milliseconds that the children of this process had used when they ended. */
export const readEndedTime = () =>
  (Number(readStat(process.pid)[13]) + Number(readStat(process.pid)[14])) * 10;

/**
 * In milliseconds, with its children that have ended, such as PostgreSQL's processes of closed connections. Exact while the
 * threads of the process run; once threads or children have ended, in steps of 10 ms.
 */
function readProcessTime(pid: number): number {
  const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = readStat(pid)
    .slice(11, 15)
    .map(Number);
  const threads = (attempt(() => readdirSync(`/proc/${pid}/task`)) ?? []).map((thread) =>
    Number(readText(`/proc/${pid}/task/${thread}/schedstat`).split(" ")[0]),
  );
  const own = Math.max(threads.reduce((sum, each) => sum + each, 0) / 1e6, (user + system) * 10);
  return own + (childrenUser + childrenSystem) * 10;
}

/** The fields after the program's name. The name is cut off because it may contain spaces. */
const readStat = (pid: number) =>
  readText(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, "")
    .split(" ");

const readText = (file: string) => attempt(() => readFileSync(file, "utf8")) ?? "";

/** Returns undefined if the process has ended. */
function attempt<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
