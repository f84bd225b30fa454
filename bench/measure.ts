import { performance } from "node:perf_hooks";

/** Something to be compared: does it once, and returns how much it did if that matters. */
export type Arm = () => Promise<unknown>;

/** A comparison's outcome: milliseconds by arm, the median and the extremes of its turns. */
export interface Comparison {
  name: string;
  arms: Record<string, { median: number; min: number; max: number }>;
}

/** Runs the arms in turns, so that whatever else the machine does meets all of them. The first turn is not counted. */
export async function compare(name: string, arms: Record<string, Arm>, turns: number): Promise<Comparison> {
  const times = new Map<string, number[]>(Object.keys(arms).map((arm) => [arm, []]));
  for (let turn = 0; turn <= turns; turn += 1) {
    for (const [arm, run] of Object.entries(arms)) {
      const start = performance.now();
      await run();
      if (turn > 0) times.get(arm)?.push(performance.now() - start);
    }
  }
  const summaries = [...times].map(([arm, all]) => {
    const sorted = all.sort((a, b) => a - b);
    const summary = { median: at(sorted, 0.5), min: at(sorted, 0), max: at(sorted, 1) };
    return [arm, summary] as const;
  });
  process.stderr.write(
    `${name}: ${summaries.map(([arm, { median }]) => `${arm} ${median.toFixed(1)} ms`).join(", ")}\n`,
  );
  return { name, arms: Object.fromEntries(summaries) };
}

function at(sorted: number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
