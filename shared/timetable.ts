import { Cron } from "croner";

export const environments = ["production", "staging", "development", "preview"] as const;
export type EnvironmentName = (typeof environments)[number];

/** The time zone of the schedules, including daylight saving time. */
export const timeZone = "America/New_York";

/**
 * When each environment refreshes, as cron patterns. Production refreshes on Wednesdays, which leaves two working days
 * to check the result. Staging refreshes daily. Development has no schedule, because the pipeline refreshes it after
 * each merge (`npm run refresh -- --from …`). Previews are refreshed by hand.
 */
export const timetable: Record<EnvironmentName, string | undefined> = {
  production: "0 5 * * 3",
  staging: "0 5 * * *",
  development: undefined,
  preview: undefined,
};

/** Returns undefined if the environment has no schedule. */
function readTimetable(environment: EnvironmentName): Cron | undefined {
  const pattern = timetable[environment];
  return pattern === undefined ? undefined : new Cron(pattern, { timezone: timeZone });
}

/** Calls `work` on the environment's schedule until the timer is stopped. Returns undefined if there is no schedule. */
export const startTimer = (environment: EnvironmentName, work: () => void): Cron | undefined =>
  readTimetable(environment)?.schedule(work);

/** Returns the next times at which an environment refreshes. */
export const listNextRuns = (environment: EnvironmentName, count: number, after = new Date()): Date[] =>
  readTimetable(environment)?.nextRuns(count, after) ?? [];

/** Returns when an environment was last due to refresh, or undefined if it has no schedule. */
export const findLastRun = (environment: EnvironmentName, before = new Date()): Date | undefined =>
  readTimetable(environment)?.previousRuns(1, before)[0];

const daySeconds = 86_400;

/**
 * Returns the age in seconds at which an environment's data set is too old: the time between two refreshes, plus a day
 * in case one fails. Returns undefined if there is no schedule.
 */
export function findLongestAge(environment: EnvironmentName): number | undefined {
  const [first, second] = listNextRuns(environment, 2);
  if (first === undefined || second === undefined) return undefined;
  return (second.getTime() - first.getTime()) / 1000 + daySeconds;
}
