import { execFile } from "node:child_process";
import { mkdtemp, rename, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { type RunningStack, runStack } from "./run-stack.ts";
import { countWorkers, ofWorker } from "./workers.ts";

/** What a worker reads about its stack, once it has started. */
export type StartedStack = { variables: Record<string, string> } | { error: string };

/**
 * Starts a stack for each worker, unless BASE_URL names a deployment to test. All projects use the same stacks. Returns at
 * once, because other files can run meanwhile: `find-stack.ts` waits for the stack in the worker that needs it.
 */
export default async function setup({ vitest }: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (process.env.API_URL || process.env[ofWorker("STACK_FILE", 1)]) return undefined;
  // Vitest may set up any project first, so start as many stacks as the project with the most workers needs.
  const count = Math.max(...vitest.projects.map(countWorkers));
  const directories = await Promise.all(
    Array.from({ length: count }, () => mkdtemp(path.join(tmpdir(), "single-audit-stack-"))),
  );
  for (const [index, directory] of directories.entries())
    process.env[ofWorker("STACK_FILE", index + 1)] = nameFile(directory);
  const stacks: RunningStack[] = [];
  const started = startStacks(directories, stacks).catch(async (error: Error) => {
    for (const directory of directories) await writeStarted(directory, { error: error.message });
  });
  return async () => {
    await started;
    await Promise.all(stacks.map((stack) => stack.dispose()));
  };
}

const nameFile = (directory: string) => `${directory}.json`;

/** Starts a stack in each directory. The first one's data is copied, which is faster than to load it into each. */
async function startStacks(directories: string[], stacks: RunningStack[]): Promise<void> {
  const [first = "", ...others] = directories;
  if (others.length > 0) {
    const original = await runStack({ directory: first });
    original.kill("SIGINT");
    await original.exited;
    // PostgreSQL's files must keep their owner.
    for (const other of others) await promisify(execFile)("cp", ["-a", `${first}/.`, other]);
  }
  const run = async (directory: string) => {
    const stack = await runStack({ directory });
    stacks.push(stack);
    await writeStarted(directory, { variables: listVariables(stack) });
  };
  const started = await Promise.allSettled(directories.map(run));
  const failed = started.find((each) => each.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

/** Writes the file so that its reader finds it only when it is complete. */
async function writeStarted(directory: string, started: StartedStack): Promise<void> {
  const file = nameFile(directory);
  await writeFile(`${file}.part`, JSON.stringify(started), { mode: 0o600 });
  await rename(`${file}.part`, file);
}

const listVariables = ({ facts, directory }: RunningStack): Record<string, string> => ({
  STACK_DIRECTORY: directory,
  API_URL: facts.base_url,
  APP_URL: facts.app_url,
  DATABASE_URL: facts.database_url,
  POSTGREST_URL: facts.postgrest_url,
  DEMO_KEY: facts.keys.demo,
  INDIVIDUAL_KEY: facts.keys.individual,
  TRIBAL_KEY: facts.keys.tribal,
});
