import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestProject } from "vitest/node";
import { type RunningStack, runStack } from "./run-stack.ts";
import { countWorkers, ofWorker } from "./workers.ts";

/**
 * Starts a stack for each worker that has none by another project of this run, unless BASE_URL names a deployment to test.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const workerNumbers = await mkdtemp(path.join(tmpdir(), "single-audit-workers-"));
  project.provide("workerNumbers", workerNumbers);
  const stacks = await startStacks(project);
  return async () => {
    await Promise.all(stacks.map(({ dispose }) => dispose()));
    await rm(workerNumbers, { recursive: true, force: true });
  };
}

// Vitest sets projects up in whatever order their files are found.
async function startStacks(project: TestProject): Promise<RunningStack[]> {
  if (process.env.API_URL) return [];
  const workers = Array.from({ length: countWorkers(project) }, (_, index) => index + 1);
  const without = workers.filter((worker) => !process.env[ofWorker("API_URL", worker)]);
  const stacks = await Promise.all(without.map(() => runStack()));
  for (const [index, { facts }] of stacks.entries()) {
    const variables = {
      API_URL: facts.base_url,
      APP_URL: facts.app_url,
      DATABASE_URL: facts.database_url,
      POSTGREST_URL: facts.postgrest_url,
      DEMO_KEY: facts.keys.demo,
      INDIVIDUAL_KEY: facts.keys.individual,
      TRIBAL_KEY: facts.keys.tribal,
    };
    for (const [name, value] of Object.entries(variables))
      process.env[ofWorker(name, without[index])] = value;
  }
  return stacks;
}
