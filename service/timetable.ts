import { Cron } from "croner";

export const environments = ["production", "staging", "development", "preview"] as const;
export type EnvironmentName = (typeof environments)[number];

/** Where 5 a.m. is meant: summer time included. */
export const timeZone = "America/New_York";

/**
 * When each environment refreshes by itself. Production on Wednesdays, so that two working days are left
 * to look at what came. Staging daily. In development a refresh follows each
 * merge (`npm run refresh -- --from …` in the pipeline), and a preview is refreshed by whoever uses it.
 */
export const timetable: Record<EnvironmentName, string | undefined> = {
  production: "0 5 * * 3",
  staging: "0 5 * * *",
  development: undefined,
  preview: undefined,
};

/** Calls `work` at the environment's times until it is stopped. Undefined where there are none. */
export function startTimer(environment: EnvironmentName, work: () => void): Cron | undefined {
  const pattern = timetable[environment];
  return pattern === undefined ? undefined : new Cron(pattern, { timezone: timeZone }, work);
}

/** The next times at which an environment refreshes by itself. */
export function listNextRuns(environment: EnvironmentName, count: number, after = new Date()): Date[] {
  const pattern = timetable[environment];
  return pattern === undefined ? [] : new Cron(pattern, { timezone: timeZone }).nextRuns(count, after);
}

/** When an environment should have refreshed last. Undefined where it does not by itself. */
export function findLastRun(environment: EnvironmentName, before = new Date()): Date | undefined {
  const pattern = timetable[environment];
  return pattern === undefined
    ? undefined
    : new Cron(pattern, { timezone: timeZone }).previousRuns(1, before)[0];
}

const daySeconds = 86_400;

/**
 * Seconds after which the data set of an environment is too old: the longest time between two of its refreshes, and a
 * day for what may go wrong in one. Undefined where there is no timer.
 */
export function findLongestAge(environment: EnvironmentName): number | undefined {
  const [first, second] = listNextRuns(environment, 2);
  if (first === undefined || second === undefined) return undefined;
  return (second.getTime() - first.getTime()) / 1000 + daySeconds;
}
