import path from "node:path";
import type { Reporter, TestModule } from "vitest/node";

const shown = 10;

/** Prints the files that took longest, at the end of a run of more than these. */
export default class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    if (modules.length <= shown) return;
    const files = modules
      .map((module) => ({ name: path.relative("", module.moduleId), seconds: measureSeconds(module) }))
      .sort((one, other) => other.seconds - one.seconds)
      .slice(0, shown);
    const lines = files.map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${name}`);
    process.stdout.write(`\nSlowest files\n${lines.join("\n")}\n`);
  }
}

function measureSeconds(module: TestModule): number {
  const { collectDuration, duration } = module.diagnostic();
  return (collectDuration + duration) / 1000;
}
