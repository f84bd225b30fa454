import { readFileSync } from "node:fs";
import { open, readFile, rm } from "node:fs/promises";
import path from "node:path";

interface Holder {
  pid: number;
  /** When that process started, since process IDs are used again. */
  started: string;
}

const fileOf = (directory: string) => path.join(directory, "stack.lock");

/**
 * Takes a directory for this process alone.
 *
 * @returns what gives it back
 * @throws Error that names the process that has it
 */
export async function lockDirectory(directory: string): Promise<() => Promise<void>> {
  await refuseSecondStack(directory);
  const file = await open(fileOf(directory), "wx", 0o600).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== "EEXIST") throw cause;
    throw new Error(`Another stack is starting on ${directory}. Wait for it, or set STACK_DIRECTORY.`, {
      cause,
    });
  });
  const holder: Holder = { pid: process.pid, started: readStart(process.pid) ?? "" };
  await file.writeFile(JSON.stringify(holder));
  await file.close();
  return () => rm(fileOf(directory), { force: true });
}

/**
 * Fails when a stack runs on this directory already. What a killed one left behind is taken away.
 *
 * @throws Error that names the running process
 */
export async function refuseSecondStack(directory: string): Promise<void> {
  const text = await readFile(fileOf(directory), "utf8").catch(() => undefined);
  if (text === undefined) return;
  const holder = parseHolder(text);
  if (holder !== undefined && readStart(holder.pid) === holder.started) {
    throw new Error(
      `The stack of ${directory} runs already, as process ${holder.pid}. Stop it first, or set STACK_DIRECTORY to another directory.`,
    );
  }
  await rm(fileOf(directory), { force: true });
}

function parseHolder(text: string): Holder | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** When a process started, in the kernel's ticks since boot (proc_pid_stat(5), field 22); undefined if there is none. */
function readStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}
