import { execFile } from "node:child_process";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import type { StackFacts } from "../../scripts/stack/start-stack.ts";
import { type RunningStack, runStack } from "./run-stack.ts";
import { countWorkers } from "./workers.ts";

/** Names the directory that has a file for each stack, when it serves or has failed to. */
export const stacksVariable = "STACKS_DIRECTORY";

/**
 * Starts a stack for each worker, once for all projects, unless BASE_URL names a deployment to test. Other files run
 * meanwhile: who needs the stack waits for it (wait-for-stack.ts).
 */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (process.env.API_URL || process.env[stacksVariable]) return undefined;
  const directory = await mkdtemp(path.join(tmpdir(), "single-audit-stacks-"));
  process.env[stacksVariable] = directory;
  const started = startStacks(countWorkers(project), (number, description) =>
    describeStack(path.join(directory, String(number)), description),
  );
  return async () => {
    await Promise.all((await started).map((stack) => stack.dispose()));
    await rm(directory, { recursive: true, force: true });
  };
}

type Description = Record<string, string>;

/** Never fails: those who wait for a stack are told. */
async function startStacks(
  count: number,
  describe: (number: number, description: Description) => Promise<void>,
): Promise<RunningStack[]> {
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const directories = count > 1 ? makeDirectories(count) : Promise.resolve([undefined]);
  const stacks = numbers.map(async (number) => {
    try {
      const directory = (await directories)[number - 1];
      const stack = await runStack(directory === undefined ? {} : { directory });
      await describe(number, listVariables(stack.facts));
      return [stack];
    } catch (error) {
      await describe(number, { error: (error as Error).message });
      return [];
    }
  });
  return (await Promise.all(stacks)).flat();
}

/** The directory of a stack that has published the sample, and copies of it: a copy takes less than another publication. */
async function makeDirectories(count: number): Promise<string[]> {
  const { directory, kill, exited } = await runStack();
  kill("SIGINT");
  await exited;
  const copies = Array.from({ length: count - 1 }, async (_, index) => {
    const copy = `${directory}-${index + 2}`;
    await promisify(execFile)("cp", ["-a", directory, copy]);
    return copy;
  });
  return [directory, ...(await Promise.all(copies))];
}

const listVariables = (facts: StackFacts): Description => ({
  API_URL: facts.base_url,
  APP_URL: facts.app_url,
  DATABASE_URL: facts.database_url,
  POSTGREST_URL: facts.postgrest_url,
  DEMO_KEY: facts.keys.demo,
  INDIVIDUAL_KEY: facts.keys.individual,
  TRIBAL_KEY: facts.keys.tribal,
});

async function describeStack(file: string, description: Description): Promise<void> {
  await writeFile(`${file}.part`, JSON.stringify(description));
  await rename(`${file}.part`, file);
}
