/** Adds up how long named steps take. */
export interface Stopwatch {
  /** Seconds by step, to the millisecond. */
  seconds: Record<string, number>;
  /** Waits for a step that has begun just now. */
  time: <Result>(step: string, work: Promise<Result>) => Promise<Result>;
}

export function createStopwatch(): Stopwatch {
  const seconds: Record<string, number> = {};
  return {
    seconds,
    time: async (step, work) => {
      const start = performance.now();
      const result = await work;
      const spent = (seconds[step] ?? 0) + (performance.now() - start) / 1000;
      seconds[step] = Math.round(spent * 1000) / 1000;
      return result;
    },
  };
}
