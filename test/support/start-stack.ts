import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestProject } from "vitest/node";
import { runStack } from "./run-stack.ts";
import { countWorkers } from "./workers.ts";

/** Where each stack is described, when it serves or has failed to. */
export const stacksVariable = "STACKS_DIRECTORY";

/**
 * Starts a stack for each worker, once for all projects, unless BASE_URL names a deployment to test. Other files run
 * meanwhile: who needs the stack waits for it (wait-for-stack.ts).
 */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (process.env.API_URL || process.env[stacksVariable]) return undefined;
  const directory = await mkdtemp(path.join(tmpdir(), "single-audit-stacks-"));
  process.env[stacksVariable] = directory;
  const stacks = Array.from({ length: countWorkers(project) }, (_, index) => {
    const stack = runStack();
    const describe = stack.then(
      ({ facts }) => ({
        API_URL: facts.base_url,
        APP_URL: facts.app_url,
        DATABASE_URL: facts.database_url,
        POSTGREST_URL: facts.postgrest_url,
        DEMO_KEY: facts.keys.demo,
        INDIVIDUAL_KEY: facts.keys.individual,
        TRIBAL_KEY: facts.keys.tribal,
      }),
      ({ message }: Error) => ({ error: message }),
    );
    const file = path.join(directory, String(index + 1));
    const written = describe.then(async (description) => {
      await writeFile(`${file}.part`, JSON.stringify(description));
      await rename(`${file}.part`, file);
    });
    return { stack, written };
  });
  return async () => {
    await Promise.all(
      stacks.map(async ({ stack, written }) => {
        await written;
        await stack.then(({ dispose }) => dispose()).catch(() => {});
      }),
    );
    await rm(directory, { recursive: true, force: true });
  };
}
