import { readFileSync } from "node:fs";
import path from "node:path";
import { parseJson } from "./parse-json.ts";

/** The process that runs a stack in a directory. */
export interface Holder {
  pid: number;
  /** When that process started, because process IDs are reused. */
  started: string;
}

/** The file that contains the Holder while a stack runs. */
export const holderFile = (directory: string) => path.join(directory, "stack.lock");

/** What other programs need to know about the stack that runs on this machine. */
export interface RunningStack {
  directory: string;
  /** As the database's superuser. */
  databaseUrl: string;
  publicData: string;
}

/**
 * Finds the stack that runs in STACK_DIRECTORY (default: .stack), for a command without a configured database.
 *
 * @param missing says what to set, for the error message
 * @throws Error if no stack runs, even if a stopped stack left its files behind; if its files cannot be read
 */
export function requireRunningStack(
  variables: Record<string, string | undefined>,
  missing: string,
): RunningStack {
  const directory = variables.STACK_DIRECTORY || ".stack";
  const file = path.join(directory, "stack.json");
  const text = findHolder(directory) && read(file);
  if (text === undefined) throw new Error(`${missing} Or start a local stack: npm start.`);
  const { database_url: databaseUrl }: { database_url: string } = parseJson(file, text);
  return { directory, databaseUrl, publicData: path.join(directory, "public-data") };
}

/** Returns the process that runs a stack in this directory, or undefined if it has ended. */
export function findHolder(directory: string): Holder | undefined {
  const text = read(holderFile(directory));
  if (text === undefined) return undefined;
  try {
    const holder: Holder = JSON.parse(text);
    return readProcessStart(holder.pid) === holder.started ? holder : undefined;
  } catch {
    // A stack that was killed may leave an incomplete file.
    return undefined;
  }
}

/** When a process started, in clock ticks since boot (proc_pid_stat(5), field 22). Undefined if it does not exist. */
export function readProcessStart(pid: number): string | undefined {
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
    throw new Error(`Cannot read ${file} (${code}). Check its permissions.`, { cause });
  }
}
