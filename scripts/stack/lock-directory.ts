import { rm, writeFile } from "node:fs/promises";
import { findHolder, type Holder, holderFile, readProcessStart } from "../../shared/find-running-stack.ts";

/**
 * Locks a directory for this process. Replaces the lock of a stack that was killed.
 *
 * @returns a function that unlocks it
 * @throws Error that names the process that runs or starts a stack in this directory
 */
export async function lockDirectory(directory: string): Promise<() => Promise<void>> {
  const file = holderFile(directory);
  if (findHolder(directory) === undefined) await rm(file, { force: true });
  const holder: Holder = { pid: process.pid, started: readProcessStart(process.pid) ?? "" };
  await writeFile(file, JSON.stringify(holder), { flag: "wx", mode: 0o600 }).catch((cause) => {
    if (cause.code !== "EEXIST") throw cause;
    const remedy = "Stop it first, or set STACK_DIRECTORY to another directory.";
    throw new Error(
      `A stack is already running in ${directory}, as process ${findHolder(directory)?.pid}. ${remedy}`,
      { cause },
    );
  });
  return () => rm(file, { force: true });
}
