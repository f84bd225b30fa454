import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
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
 * Starts a stack for each worker, once for all projects, unless BASE_URL names a deployment to test. Files that need none
 * run meanwhile; the others wait for it (wait-for-stack.ts).
 */
export default async function setup({ vitest }: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (process.env.API_URL || process.env[stacksVariable]) return undefined;
  const directory = await mkdtemp(path.join(tmpdir(), "single-audit-stacks-"));
  // PostgreSQL's unprivileged user passes through.
  await chmod(directory, 0o711);
  process.env[stacksVariable] = directory;
  // Vitest sets projects up in whatever order their files are found.
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
  const prepared = prepareDirectories(directories);
  const stacks = files.map(async (file, index) => {
    let stack: RunningStack | undefined;
    try {
      await prepared;
      stack = await runStack({ directory: directories[index] ?? "" });
      await writePrivateJson(file, listVariables(stack.facts));
    } catch (error) {
      await writePrivateJson(file, { error: (error as Error).message }).catch(() => {});
    }
    return stack ?? [];
  });
  return (await Promise.all(stacks)).flat();
}

/**
 * Publishes the sample in the first directory and copies it to the others, which takes less than another publication. Not
 * for Kong: from a database that was copied it would serve, for a moment, by the ports of the first stack.
 */
async function prepareDirectories([first = "", ...others]: string[]): Promise<void> {
  if (others.length === 0 || process.env.GATEWAY === "kong") return;
  const { kill, exited } = await runStack({ directory: first });
  kill("SIGINT");
  if ((await exited) !== 0 || existsSync(path.join(first, "postgres/postmaster.pid")))
    throw new Error("The first stack did not stop as it should, so it was not copied.");
  await Promise.all(others.map((other) => promisify(execFile)("cp", ["-a", first, other])));
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
