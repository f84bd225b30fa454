import { existsSync } from "node:fs";
import { rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type SampleOptions, writeSample } from "../../scripts/sample/write-sample.ts";
import { makeDirectory } from "./make-directory.ts";
import { type RunningStack, runStack } from "./run-stack.ts";
import { findOwnServer } from "./scratch-database.ts";

/** Writes sample source files. Generates the rows on this worker's server, if it has one. */
export const writeTestSample = (options: SampleOptions) =>
  writeSample({ ...options, serverUrl: findOwnServer() });

/**
 * Writes files with public and suppressed submissions, few enough to publish quickly. Returns their directory, which all
 * tests of a run share.
 */
export async function makeSmallSample(submissions = 60): Promise<string> {
  const directory = path.join(tmpdir(), `small-sample-${submissions}`);
  if (existsSync(directory)) return directory;
  const part = path.join(await makeDirectory(), "csv");
  await writeTestSample({ directory: part, submissions });
  await rename(part, directory).catch((error: NodeJS.ErrnoException) => {
    // Another worker was faster, and its files have the same content.
    if (error.code !== "ENOTEMPTY") throw error;
  });
  return directory;
}

/** Runs a stack with a small sample, for one test file. */
export async function runSeparateStack(env: Record<string, string> = {}): Promise<RunningStack> {
  return await runStack({ args: ["--data", await makeSmallSample()], env });
}
