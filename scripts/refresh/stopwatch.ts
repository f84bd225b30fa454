export type Stopwatch = ReturnType<typeof createStopwatch>;

/** Adds up how long named steps take: seconds by step, to the millisecond. */
export function createStopwatch() {
  const seconds: Record<string, number> = {};
  return {
    seconds,
    /** Times a step that has just started. */
    time: async <Result>(step: string, work: Promise<Result>): Promise<Result> => {
      const start = performance.now();
      const result = await work;
      const spent = (seconds[step] ?? 0) + (performance.now() - start) / 1000;
      seconds[step] = Math.round(spent * 1000) / 1000;
      return result;
    },
  };
}
