import { readFileSync } from "node:fs";
import path from "node:path";
import { parseJson } from "./parse-json.ts";

/** The process that has a stack's directory. */
export interface Holder {
  pid: number;
  /** When that process started, since process IDs are used again. */
  started: string;
}

/** Where a stack keeps its Holder for as long as it runs. */
export const holderFile = (directory: string) => path.join(directory, "stack.lock");

/** What others need of the stack that runs on this machine. */
export interface RunningStack {
  directory: string;
  /** As the database's superuser. */
  databaseUrl: string;
  publicData: string;
}

/**
 * Finds the stack that runs on STACK_DIRECTORY (.stack). Undefined if there is none, or if it has ended and left its
 * files behind.
 *
 * @throws Error if its files are there and cannot be read
 */
function findRunningStack(variables: Record<string, string | undefined>): RunningStack | undefined {
  const directory = variables.STACK_DIRECTORY || ".stack";
  if (findHolder(directory) === undefined) return undefined;
  const file = path.join(directory, "stack.json");
  const text = read(file);
  if (text === undefined) return undefined;
  const { database_url: databaseUrl }: { database_url: string } = parseJson(file, text);
  return { directory, databaseUrl, publicData: path.join(directory, "public-data") };
}

/**
 * Finds the stack that runs on STACK_DIRECTORY, for a command that was not told which database is meant.
 *
 * @throws Error with `missing`, what to set, if none runs
 */
export function requireRunningStack(
  variables: Record<string, string | undefined>,
  missing: string,
): RunningStack {
  const stack = findRunningStack(variables);
  if (stack === undefined) throw new Error(`${missing} No local stack is running; start one with npm start.`);
  return stack;
}

/** How a command says which database it works on. */
export function describeChoice({ directory }: RunningStack): string {
  return `Using the database of the stack that runs on ${directory}.`;
}

/** The process that has a directory, if it still runs. */
export function findHolder(directory: string): Holder | undefined {
  const text = read(holderFile(directory));
  if (text === undefined) return undefined;
  try {
    const holder: Holder = JSON.parse(text);
    return readStart(holder.pid) === holder.started ? holder : undefined;
  } catch {
    // Half of a lock, of a stack that was killed.
    return undefined;
  }
}

/** When a process started, in the kernel's ticks since boot (proc_pid_stat(5), field 22); undefined if there is none. */
export function readStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw new Error(`${file} cannot be read: ${code}.`, { cause });
  }
}
