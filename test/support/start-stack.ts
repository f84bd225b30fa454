import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { writePrivateJson } from "../../scripts/stack/secrets.ts";
import type { StackFacts } from "../../scripts/stack/start-stack.ts";
import { type RunningStack, runStack } from "./run-stack.ts";
import { countWorkers, stacksVariable, templateVariable } from "./workers.ts";

/**
 * Starts a stack for each worker, once for all projects, unless BASE_URL names a deployment to test. Files that need none
 * run meanwhile; the others wait for it (wait-for-stack.ts, separate-stack.ts).
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
  const template = count > 1 ? path.join(directory, "template") : undefined;
  if (template !== undefined) process.env[templateVariable] = template;
  const started = startStacks(files, template);
  return async () => {
    delete process.env[stacksVariable];
    delete process.env[templateVariable];
    await Promise.all((await started).map((stack) => stack.dispose()));
    await rm(directory, { recursive: true, force: true });
  };
}

/** Starts a stack for each file, and writes into it where the stack serves, or why it does not. */
async function startStacks(files: string[], template: string | undefined): Promise<RunningStack[]> {
  const directories = files.map((file) => `${file}-stack`);
  const prepared =
    template === undefined ? undefined : makeTemplate(template).then(() => copy(template, directories));
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

/** A stack that has published the sample: to copy it takes less than another publication. */
async function makeTemplate(template: string): Promise<void> {
  try {
    await makeStack(`${template}.part`);
    await rename(`${template}.part`, template);
  } catch (error) {
    await writeFile(`${template}.error`, (error as Error).message);
    throw error;
  }
}

async function makeStack(directory: string): Promise<void> {
  const { kill, exited } = await runStack({ directory });
  kill("SIGINT");
  if ((await exited) !== 0 || existsSync(path.join(directory, "postgres/postmaster.pid")))
    throw new Error("The first stack did not stop as it should, so it was not copied.");
  // Its copies have logs of their own.
  await rm(path.join(directory, "stack.log"));
}

const copy = (template: string, directories: string[]) =>
  Promise.all(directories.map((directory) => promisify(execFile)("cp", ["-a", template, directory])));

const listVariables = (facts: StackFacts): Record<string, string> => ({
  API_URL: facts.base_url,
  APP_URL: facts.app_url,
  DATABASE_URL: facts.database_url,
  POSTGREST_URL: facts.postgrest_url,
  DEMO_KEY: facts.keys.demo,
  INDIVIDUAL_KEY: facts.keys.individual,
  TRIBAL_KEY: facts.keys.tribal,
});
