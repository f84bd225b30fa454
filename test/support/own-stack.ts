import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { type RunningStack, runStack } from "./run-stack.ts";
import { templateVariable } from "./workers.ts";

/** A stack for one file, with the default sample: a copy of what the run has made, where it makes one (start-stack.ts). */
export async function runOwnStack(): Promise<RunningStack> {
  const template = process.env[templateVariable];
  if (template === undefined) return await runStack();
  while (!existsSync(template)) await setTimeout(100);
  const directory = await mkdtemp(path.join(tmpdir(), "single-audit-stack-"));
  await promisify(execFile)("cp", ["-a", `${template}/.`, directory]);
  return await runStack({ directory });
}
