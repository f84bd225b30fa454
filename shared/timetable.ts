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
export function readTimetable(environment: EnvironmentName): Cron | undefined {
  const pattern = timetable[environment];
  return pattern === undefined ? undefined : new Cron(pattern, { timezone: timeZone });
}
