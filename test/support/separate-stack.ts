import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { type RunningStack, runStack } from "./run-stack.ts";
import { makeSmallSample } from "./small-sample.ts";
import { templateVariable } from "./workers.ts";

/** Less than a hook may take. */
const patienceMilliseconds = 150_000;

/** A stack for one file: a copy of what the run has made, where it makes one (start-stack.ts), or with a small sample. */
export async function runSeparateStack(env: Record<string, string> = {}): Promise<RunningStack> {
  const template = process.env[templateVariable];
  if (template === undefined) return await runSmallStack(env);
  await waitForTemplate(template);
  const directory = await mkdtemp(path.join(tmpdir(), "single-audit-stack-"));
  await promisify(execFile)("cp", ["-a", `${template}/.`, directory]);
  return await runStack({ directory, env });
}

async function runSmallStack(env: Record<string, string>): Promise<RunningStack> {
  const sample = await makeSmallSample();
  try {
    return await runStack({ args: ["--data", sample.directory], env });
  } finally {
    await sample.remove();
  }
}

/** @throws Error with the reason why there will be none */
async function waitForTemplate(template: string): Promise<void> {
  const giveUpAt = Date.now() + patienceMilliseconds;
  while (!existsSync(template)) {
    const reason = await readFile(`${template}.error`, "utf8").catch(() => "");
    if (reason !== "") throw new Error(reason);
    if (Date.now() > giveUpAt) throw new Error("The stack that is to be copied has not been made in time.");
    await setTimeout(100);
  }
}
