import path from "node:path";
import { type SampleOptions, writeSample } from "../../scripts/sample/write-sample.ts";
import { makeDirectory } from "./make-directory.ts";
import { findOwnServer } from "./scratch-database.ts";

/** Writes a sample, on this worker's server if it has one. */
export const writeTestSample = (options: SampleOptions) =>
  writeSample({ ...options, serverUrl: findOwnServer() });

/** Source files with public and suppressed submissions, few enough to be published in a moment. */
export async function makeSmallSample(submissions = 60): Promise<string> {
  const directory = path.join(await makeDirectory(), "csv");
  await writeTestSample({ directory, submissions });
  return directory;
}
