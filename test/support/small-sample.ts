import path from "node:path";
import { type SampleOptions, writeSample } from "../../scripts/sample/write-sample.ts";
import { makeDirectory } from "./make-directory.ts";
import { type RunningStack, runStack } from "./run-stack.ts";
import { findOwnServer } from "./scratch-database.ts";

/** Writes sample source files. Generates the rows on this worker's server, if it has one. */
export const writeTestSample = (options: SampleOptions) =>
  writeSample({ ...options, serverUrl: findOwnServer() });

/** Writes files with public and suppressed submissions, few enough to publish quickly. Returns their directory. */
export async function makeSmallSample(submissions = 60): Promise<string> {
  const directory = path.join(await makeDirectory(), "csv");
  await writeTestSample({ directory, submissions });
  return directory;
}

/** Runs a stack with a small sample, for one test file. */
export async function runSeparateStack(env: Record<string, string> = {}): Promise<RunningStack> {
  return await runStack({ args: ["--data", await makeSmallSample()], env });
}
