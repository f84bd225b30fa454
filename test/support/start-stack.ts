import type { TestProject } from "vitest/node";
import type { StackFacts } from "../../scripts/stack/start-stack.ts";
import { runStack } from "./run-stack.ts";
import { countWorkers, ofWorker } from "./workers.ts";

/** Starts a stack for each worker, once for all projects, unless BASE_URL names a deployment to test. */
export default async function setup({ vitest }: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (process.env.API_URL || process.env[ofWorker("API_URL", 1)]) return undefined;
  // Vitest sets projects up in the order in which it finds their files.
  const count = Math.max(...vitest.projects.map(countWorkers));
  const started = await Promise.allSettled(Array.from({ length: count }, () => runStack()));
  const stacks = started.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  const stop = async () => void (await Promise.all(stacks.map((stack) => stack.dispose())));
  const failed = started.find((each) => each.status === "rejected");
  if (failed !== undefined) {
    await stop();
    throw failed.reason;
  }
  for (const [index, { facts }] of stacks.entries())
    for (const [name, value] of Object.entries(listVariables(facts)))
      process.env[ofWorker(name, index + 1)] = value;
  return stop;
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
