import { mkdirSync } from "node:fs";
import path from "node:path";
import { inject } from "vitest";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** A directory where each worker of a project takes a number. */
    workerNumbers: string;
  }
}

/** How many files run at the same time: a run of one file needs one stack, or one server. */
export const countWorkers = ({ config, vitest }: TestProject): number =>
  Math.min(config.maxWorkers, vitest.state.getPaths().length);

/** The name of a variable for one worker alone. */
export const ofWorker = (name: string, worker: string | number | undefined): string => `${name}_${worker}`;

const taken: { number?: number } = {};

/**
 * The number of this worker, from 1. Where one group of projects follows another, Vitest may give two workers the same
 * VITEST_POOL_ID, so that workers of the later group take a number each, for as long as they live.
 */
export function findWorkerNumber(): string | number | undefined {
  const directory = inject("workerNumbers") as string | undefined;
  if (directory === undefined) return process.env.VITEST_POOL_ID;
  for (let number = 1; taken.number === undefined; number += 1) {
    try {
      mkdirSync(path.join(directory, String(number)));
      taken.number = number;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
  return taken.number;
}
