import type { LogFollower } from "./follow-logs.ts";
import type { KeyRing } from "./key-ring.ts";
import type { LeakWatch } from "./leak-watch.ts";
import type { OwnStack } from "./own-stack.ts";

/** What is tortured: the deployment that the environment names, or a stack of torture's own. */
export interface Target {
  baseUrl: string;
  /** Report services that redeem the same tokens. */
  appUrls: [string, ...string[]];
  /** As the database's superuser. */
  databaseUrl: string;
  keys: KeyRing;
  leaks: LeakWatch;
  /** Undefined where the deployment is somebody else's: then no process is killed and no log is read. */
  own: OwnStack | undefined;
  /** A compose project on this machine whose containers may be killed. */
  project?: string | undefined;
  logs: LogFollower | undefined;
}

export interface PartOptions {
  seed: number;
  /** Is told of progress, a line at a time. */
  report: (line: string) => void;
}

/** What came of a part. */
export interface Finding {
  /** How much was done, and the figures measured. */
  figures: string;
  /** What must not be; empty if the part is passed. */
  faults: string[];
}

/** Counts things by name, the most frequent first when it is printed. */
export function createTally() {
  const counts = new Map<string, number>();
  return {
    add: (name: string | number) => void counts.set(String(name), (counts.get(String(name)) ?? 0) + 1),
    count: (name: string | number) => counts.get(String(name)) ?? 0,
    toString: () =>
      [...counts]
        .sort(([, one], [, other]) => other - one)
        .map(([name, count]) => `${count.toLocaleString("en-US")} × ${name}`)
        .join(", "),
  };
}
