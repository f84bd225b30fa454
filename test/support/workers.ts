import type { TestProject } from "vitest/node";

/** How many files run at the same time: a run of one file needs one stack, or one server. */
export const countWorkers = ({ config, vitest }: TestProject): number =>
  Math.min(config.maxWorkers, vitest.state.getPaths().length);

/** The name of a variable for one worker alone. */
export const ofWorker = (name: string, worker: string | number | undefined): string => `${name}_${worker}`;

/**
 * The number of this worker, from 1. No other that runs at the same time has it, of its group of projects. (Vitest may give
 * two workers of a later group the same number, so such a group has one worker.)
 */
export const findWorkerNumber = (): string | undefined => process.env.VITEST_POOL_ID;
