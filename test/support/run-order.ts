import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Runs files that need no stack first, while the stacks start, so that each worker changes projects once. Within a project,
 * Vitest runs the files first that took longest in the last run, or the largest ones.
 */
export default class RunOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isAlone = ({ project }: TestSpecification) => project.name === "alone";
    return [...sorted.filter(isAlone), ...sorted.filter((file) => !isAlone(file))];
  }
}
