import { rm, writeFile } from "node:fs/promises";
import { findHolder, type Holder, holderFile, readStart } from "../../service/find-running-stack.ts";

/**
 * Locks a directory for this process.
 *
 * @returns what unlocks it
 * @throws Error that names the process that holds it
 */
export async function lockDirectory(directory: string): Promise<() => Promise<void>> {
  await refuseSecondStack(directory);
  const holder: Holder = { pid: process.pid, started: readStart(process.pid) ?? "" };
  const text = JSON.stringify(holder);
  await writeFile(holderFile(directory), text, { flag: "wx", mode: 0o600 }).catch((cause) => {
    if (cause.code !== "EEXIST") throw cause;
    const remedy = "Wait for it, or set STACK_DIRECTORY to another directory.";
    throw new Error(`Another stack is starting on ${directory}. ${remedy}`, { cause });
  });
  return () => rm(holderFile(directory), { force: true });
}

/**
 * Removes the lock of a stack that was killed.
 *
 * @throws Error that names the process, if a stack runs on this directory
 */
export async function refuseSecondStack(directory: string): Promise<void> {
  const holder = findHolder(directory);
  if (holder !== undefined) {
    const remedy = "Stop it first, or set STACK_DIRECTORY to another directory.";
    throw new Error(`A stack already runs on ${directory}, as process ${holder.pid}. ${remedy}`);
  }
  await rm(holderFile(directory), { force: true });
}
