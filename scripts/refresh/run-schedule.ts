import { pino } from "pino";
import { closeOnSignal } from "../../service/run-until-signal.ts";
import { timetable, timeZone } from "../../service/timetable.ts";
import type { RefreshConfig } from "./refresh-config.ts";
import { startSchedule } from "./start-schedule.ts";

/** Runs the schedule's service as this process's one job, until SIGINT or SIGTERM. */
export async function runSchedule(config: RefreshConfig): Promise<void> {
  const logger = pino({ name: "refresh" });
  const schedule = await startSchedule(config, logger);
  const { environment } = config;
  const timer = timetable[environment];
  logger.info(
    { url: schedule.url, environment, timer, timeZone },
    timer === undefined
      ? `${environment} has no timer: npm run refresh -- --from <place> refreshes it`
      : "waiting for the next refresh",
  );
  // A refresh under way is given up: its transaction is rolled back, and the live data set stays.
  closeOnSignal(schedule);
}
