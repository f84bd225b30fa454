import type { TestProject } from "vitest/node";

/** How many files run at the same time: a run of one file needs one stack, or one server. */
export const countWorkers = ({ config, vitest }: TestProject): number =>
  Math.min(config.maxWorkers, vitest.state.getPaths().length);
