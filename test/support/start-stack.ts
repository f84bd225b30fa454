import { execFile } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { writePrivateJson } from "../../scripts/stack/secrets.ts";
import type { StackFacts } from "../../scripts/stack/start-stack.ts";
import { type RunningStack, runStack } from "./run-stack.ts";
import { countWorkers, stacksVariable } from "./workers.ts";

/**
 * Starts a stack for each worker, once for all projects, unless BASE_URL names a deployment to test. Files that need no
 * stack run meanwhile; the others wait for it (wait-for-stack.ts).
 */
export default async function setup({ vitest }: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (process.env.API_URL || process.env[stacksVariable]) return undefined;
  const directory = await mkdtemp(path.join(tmpdir(), "single-audit-stacks-"));
  // PostgreSQL's unprivileged user must be able to pass.
  await chmod(directory, 0o711);
  process.env[stacksVariable] = directory;
  // Vitest sets projects up in the order in which it finds their files.
  const count = Math.max(...vitest.projects.map(countWorkers));
  const files = Array.from({ length: count }, (_, index) => path.join(directory, String(index + 1)));
  for (const file of files) await writeFile(file, "");
  const started = startStacks(files);
  return async () => {
    delete process.env[stacksVariable];
    await Promise.all((await started).map((stack) => stack.dispose()));
    await rm(directory, { recursive: true, force: true });
  };
}

/** Starts a stack for each file, and writes into it where the stack serves, or why it does not. */
async function startStacks(files: string[]): Promise<RunningStack[]> {
  const directories = files.map((file) => `${file}-stack`);
  const prepared = directories.length > 1 ? prepareStacks(directories) : undefined;
  const stacks = files.map(async (file, index) => {
    try {
      await prepared;
      const stack = await runStack({ directory: directories[index] ?? "" });
      await writePrivateJson(file, listVariables(stack.facts));
      return stack;
    } catch (error) {
      await writePrivateJson(file, { error: (error as Error).message }).catch(() => {});
      return [];
    }
  });
  return (await Promise.all(stacks)).flat();
}

/** Publishes the sample in one directory and copies the stopped stack: a copy takes less time than another publication. */
async function prepareStacks([first = "", ...others]: string[]): Promise<void> {
  const { kill, exited } = await runStack({ directory: first });
  kill("SIGINT");
  if ((await exited) !== 0)
    throw new Error("The first stack did not stop as it should, so it was not copied.");
  for (const other of others) await promisify(execFile)("cp", ["-a", first, other]);
}

const listVariables = (facts: StackFacts): Record<string, string> => ({
  API_URL: facts.base_url,
  APP_URL: facts.app_url,
  DATABASE_URL: facts.database_url,
  POSTGREST_URL: facts.postgrest_url,
  DEMO_KEY: facts.keys.demo,
  INDIVIDUAL_KEY: facts.keys.individual,
  TRIBAL_KEY: facts.keys.tribal,
});
