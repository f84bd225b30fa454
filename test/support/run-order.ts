import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Begun last, one of these would run alone in the end. How long files take Vitest knows only where they have run before. */
const longest = [
  "site/site",
  "examples/examples",
  "scripts/stack/start",
  "scripts/deploy/contracts",
  "scripts/deploy/deploy",
  "scripts/refresh/definitions",
  "scripts/deploy/check",
  "gateway/hostile/clients-that-hang",
  "bench/torture",
  "report-service/outage",
  "report-service/entry-points",
].map((name) => `/test/${name}.test.ts`);

/**
 * Runs files that need no stack first, while the stacks start. A worker that goes to another project begins anew, so each
 * does that once.
 */
export default class RunOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const findRank = ({ project, moduleId }: TestSpecification) => {
      const rank = longest.findIndex((name) => moduleId.endsWith(name));
      return (project.name === "alone" ? 0 : longest.length + 1) + (rank < 0 ? longest.length : rank);
    };
    // What has the same rank stays in Vitest's order.
    return (await super.sort(files)).sort((one, other) => findRank(one) - findRank(other));
  }
}
