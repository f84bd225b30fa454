import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Runs files that need no stack first, while the stacks start. A worker that goes to another project begins anew, so each
 * does that once.
 */
export default class StacksLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [
      ...sorted.filter(({ project }) => project.name === "alone"),
      ...sorted.filter(({ project }) => project.name !== "alone"),
    ];
  }
}
