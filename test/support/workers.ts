import type { TestProject } from "vitest/node";

/** How many test files run at a time, so how many stacks or servers a run needs. */
export const countWorkers = ({ config, vitest }: TestProject): number =>
  Math.min(config.maxWorkers, vitest.state.getPaths().length);

/** The name of an environment variable that belongs to one worker. */
export const ofWorker = (name: string, worker: string | number | undefined): string => `${name}_${worker}`;

/**
 * The number of this worker, from 1. It is unique among the workers that run at a time in the first group of projects.
 * Vitest may give the same number to two workers of a later group, so the later groups have only one worker each.
 */
export const findWorkerNumber = (): string | undefined => process.env.VITEST_POOL_ID;
