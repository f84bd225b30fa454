import { type RunningStack, runStack } from "./run-stack.ts";
import { makeSmallSample } from "./small-sample.ts";

/** A stack for one file alone, with a small sample. */
export async function runSeparateStack(env: Record<string, string> = {}): Promise<RunningStack> {
  const sample = await makeSmallSample();
  return await runStack({ args: ["--data", sample.directory], env }).finally(sample.remove);
}
