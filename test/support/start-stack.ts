import type { TestProject } from "vitest/node";
import { type RunningStack, runStack } from "./run-stack.ts";
import { countWorkers, ofWorker } from "./workers.ts";

/** Starts a stack for each worker, unless BASE_URL names a deployment to test. All projects use the same stacks. */
export default async function setup({ vitest }: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (process.env.API_URL || process.env[ofWorker("API_URL", 1)]) return undefined;
  // Vitest may set up any project first, so start as many stacks as the project with the most workers needs.
  const count = Math.max(...vitest.projects.map(countWorkers));
  const started = await Promise.allSettled(Array.from({ length: count }, () => runStack()));
  const stacks = started.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  const stop = async () => void (await Promise.all(stacks.map((stack) => stack.dispose())));
  const failed = started.find((each) => each.status === "rejected");
  if (failed !== undefined) {
    await stop();
    throw failed.reason;
  }
  for (const [index, stack] of stacks.entries())
    for (const [name, value] of Object.entries(listVariables(stack)))
      process.env[ofWorker(name, index + 1)] = value;
  return stop;
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
