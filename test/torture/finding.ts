/** The outcome of one part of the torture run. */
export interface Finding {
  /** How much was done, and what was measured. */
  figures: string;
  /** What went wrong. Empty if the part passed. */
  faults: string[];
}

/** Counts things by name. Prints the most frequent first. */
export function createTally() {
  const counts = new Map<string, number>();
  return {
    add: (name: string | number) => void counts.set(String(name), (counts.get(String(name)) ?? 0) + 1),
    toString: () =>
      [...counts]
        .sort(([, one], [, other]) => other - one)
        .map(([name, count]) => `${count.toLocaleString("en-US")} × ${name}`)
        .join(", "),
  };
}
