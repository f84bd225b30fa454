import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type SampleOptions, writeSample } from "../../scripts/sample/write-sample.ts";
import { findOwnServer } from "./scratch-database.ts";

/** Writes a sample, on this worker's server if it has one. */
export const writeTestSample = (options: SampleOptions) =>
  writeSample({ ...options, serverUrl: findOwnServer() });

/** Source files with public and suppressed submissions, few enough to be published in a moment. */
export async function makeSmallSample(
  submissions = 60,
): Promise<{ directory: string; remove: () => Promise<void> }> {
  const parent = await mkdtemp(path.join(tmpdir(), "single-audit-sample-"));
  const directory = path.join(parent, "csv");
  await writeTestSample({ directory, submissions });
  return { directory, remove: () => rm(parent, { recursive: true, force: true }) };
}
