import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that need no stack first, while the stacks start; and each worker changes from one project to another once. */
export default class StacksLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [
      ...sorted.filter(({ project }) => project.name === "alone"),
      ...sorted.filter(({ project }) => project.name !== "alone"),
    ];
  }
}
