import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { StartedStack } from "./start-stack.ts";
import { findWorkerNumber, ofWorker } from "./workers.ts";

// Runs before each file: waits until this worker's stack has started, unless BASE_URL names a deployment to test.

const file = process.env[ofWorker("STACK_FILE", findWorkerNumber())];
if (file !== undefined) {
  while (!existsSync(file)) await sleep(100);
  const started: StartedStack = JSON.parse(readFileSync(file, "utf8"));
  if ("error" in started) throw new Error(`The stack of this worker did not start: ${started.error}`);
  for (const [name, value] of Object.entries(started.variables))
    process.env[ofWorker(name, findWorkerNumber())] = value;
}
