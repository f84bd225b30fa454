import { performance } from "node:perf_hooks";
import { type CpuTime, readCpuTime } from "./process-time.ts";

/** Something to be compared: does it once. */
export type Arm = () => Promise<unknown>;

export interface Summary {
  median: number;
  min: number;
  max: number;
}

/** A comparison's outcome by arm, in milliseconds: as a client sees it, and the CPU time of the service's programs. */
export interface Comparison {
  name: string;
  arms: Record<string, { wall: Summary; cpu: CpuTime }>;
}

export interface Measuring {
  turns: number;
  /** The stack's process. */
  pid: number;
  /** What the times are multiplied by, where an arm does several times, or a part, of what its name says. */
  factors?: Record<string, number>;
}

/** Runs the arms in turns, so that whatever else the machine does meets all of them. The first turn is not counted. */
export async function compare(
  name: string,
  arms: Record<string, Arm>,
  { turns, pid, factors = {} }: Measuring,
): Promise<Comparison> {
  const measured = new Map<string, { wall: number; cpu: CpuTime }[]>();
  for (let turn = 0; turn <= turns; turn += 1) {
    for (const [arm, run] of Object.entries(arms)) {
      const before = readCpuTime(pid);
      const start = performance.now();
      await run();
      const wall = performance.now() - start;
      const after = readCpuTime(pid);
      if (turn === 0) continue;
      const factor = factors[arm] ?? 1;
      const cpu = {
        postgres: (after.postgres - before.postgres) * factor,
        postgrest: (after.postgrest - before.postgrest) * factor,
        node: (after.node - before.node) * factor,
      };
      measured.set(arm, [...(measured.get(arm) ?? []), { wall: wall * factor, cpu }]);
    }
  }
  const outcome: Comparison["arms"] = {};
  for (const [arm, all] of measured) {
    const median = (read: (cpu: CpuTime) => number) => summarize(all.map(({ cpu }) => read(cpu))).median;
    outcome[arm] = {
      wall: summarize(all.map(({ wall }) => wall)),
      cpu: {
        postgres: median(({ postgres }) => postgres),
        postgrest: median(({ postgrest }) => postgrest),
        node: median(({ node }) => node),
      },
    };
  }
  const lines = Object.entries(outcome).map(
    ([arm, { wall, cpu }]) => `${arm} ${wall.median.toFixed(1)} ms (PostgreSQL ${cpu.postgres.toFixed(1)})`,
  );
  process.stderr.write(`${name}: ${lines.join(", ")}\n`);
  return { name, arms: outcome };
}

export function summarize(values: number[]): Summary {
  const sorted = values.toSorted((a, b) => a - b);
  return { median: at(sorted, 0.5), min: at(sorted, 0), max: at(sorted, 1) };
}

/** The value below which this share of the sorted values lies. */
export function at(sorted: number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
