import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { writeSample } from "../../scripts/sample/write-sample.ts";

/**
 * Source files with public and suppressed submissions, few enough that a stack publishes them, with a PDF of each, in a
 * moment.
 */
export async function makeSmallSample(
  submissions = 60,
): Promise<{ directory: string; remove: () => Promise<void> }> {
  const parent = await mkdtemp(path.join(tmpdir(), "single-audit-sample-"));
  const directory = path.join(parent, "csv");
  await writeSample({ directory, submissions });
  return { directory, remove: () => rm(parent, { recursive: true, force: true }) };
}
