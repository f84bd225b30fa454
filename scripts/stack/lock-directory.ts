import { open, rm } from "node:fs/promises";
import { findHolder, type Holder, holderFile, readStart } from "../../service/find-running-stack.ts";

/**
 * Takes a directory for this process alone.
 *
 * @returns what gives it back
 * @throws Error that names the process that has it
 */
export async function lockDirectory(directory: string): Promise<() => Promise<void>> {
  await refuseSecondStack(directory);
  const file = await open(holderFile(directory), "wx", 0o600).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== "EEXIST") throw cause;
    throw new Error(`Another stack is starting on ${directory}. Wait for it, or set STACK_DIRECTORY.`, {
      cause,
    });
  });
  const holder: Holder = { pid: process.pid, started: readStart(process.pid) ?? "" };
  await file.writeFile(JSON.stringify(holder));
  await file.close();
  return () => rm(holderFile(directory), { force: true });
}

/**
 * Fails when a stack runs on this directory already. What a killed one left behind is taken away.
 *
 * @throws Error that names the running process
 */
export async function refuseSecondStack(directory: string): Promise<void> {
  const holder = findHolder(directory);
  if (holder !== undefined) {
    throw new Error(
      `The stack of ${directory} runs already, as process ${holder.pid}. Stop it first, or set STACK_DIRECTORY to another directory.`,
    );
  }
  await rm(holderFile(directory), { force: true });
}
