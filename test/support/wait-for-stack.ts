import { readFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { findWorkerNumber, ofWorker, stacksVariable } from "./workers.ts";

// Before each file of a project that asks a stack: the addresses and keys of this worker's own.
const directory = process.env[stacksVariable];
const worker = findWorkerNumber();
if (directory !== undefined && process.env[ofWorker("API_URL", worker)] === undefined) {
  const { error, ...variables } = await readDescription(path.join(directory, String(worker)));
  if (error !== undefined) throw new Error(error);
  for (const [name, value] of Object.entries(variables)) process.env[ofWorker(name, worker)] = value;
}

/** @throws Error when there is no such stack, as where more files were added to a run that began with fewer */
async function readDescription(file: string): Promise<Record<string, string>> {
  for (;;) {
    const text = await readFile(file, "utf8");
    if (text !== "") return JSON.parse(text);
    await setTimeout(100);
  }
}
