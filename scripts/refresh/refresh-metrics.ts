import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";

/** What the schedule's service knows. Undefined values are not known yet, or do not exist without a timer. */
export interface ScheduleState {
  publishedAt?: Date | undefined;
  isDatabaseConnected: boolean;
  isRunning: boolean;
  longestAgeSeconds?: number | undefined;
  lastSuccess?: Date;
  lastDurationSeconds: number;
  leaks: number;
  leaksChecked?: Date;
}

const toSeconds = (time: Date | undefined) => time && time.getTime() / 1000;

/** By name: the help text, and the value. Undefined values are absent. */
const gauges: Record<string, [string, (state: ScheduleState) => number | undefined]> = {
  refresh_data_set_age_seconds: [
    "Time since the live data set became live. Alert if it exceeds the limit.",
    ({ publishedAt }) => publishedAt && (Date.now() - publishedAt.getTime()) / 1000,
  ],
  refresh_data_set_age_limit_seconds: [
    "How old the live data set may become: a day longer than the timetable's longest pause. Absent without a timer.",
    ({ longestAgeSeconds }) => longestAgeSeconds,
  ],
  refresh_database_connected: [
    "1 if the database answered the last query. There is one every 15 seconds.",
    ({ isDatabaseConnected }) => Number(isDatabaseConnected),
  ],
  refresh_running: ["1 while this service refreshes.", ({ isRunning }) => Number(isRunning)],
  refresh_last_success_timestamp_seconds: [
    "When a refresh of this service last published, or found that the source has not changed. Absent until then.",
    ({ lastSuccess }) => toSeconds(lastSuccess),
  ],
  refresh_last_duration_seconds: [
    "Duration of the last refresh that published.",
    ({ lastDurationSeconds }) => lastDurationSeconds,
  ],
  refresh_leaks: [
    "Ways in which suppressed data can be seen without Tribal access, by publication.find_leaks(). Checked at the start and once an hour. Alert if it is not 0.",
    ({ leaks }) => leaks,
  ],
  refresh_leaks_checked_timestamp_seconds: [
    "When publication.find_leaks() last answered. 0 until then.",
    ({ leaksChecked }) => toSeconds(leaksChecked) ?? 0,
  ],
};

/** The schedule's metrics for Prometheus. */
export function createRefreshMetrics(state: ScheduleState) {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  for (const [name, [help, read]] of Object.entries(gauges)) {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        const value = read(state);
        if (value === undefined) this.remove();
        else this.set(value);
      },
    });
  }
  const runs = new Counter({
    name: "refresh_runs_total",
    help: "Attempts by outcome: published, skipped, busy (another refresh was running), failed.",
    labelNames: ["outcome"],
    registers,
  });
  // Starting at 0, the first of a kind shows as an increase.
  for (const outcome of ["published", "skipped", "busy", "failed"]) runs.inc({ outcome }, 0);
  const prunedTokens = new Counter({
    name: "refresh_pruned_access_tokens_total",
    help: "Spent and expired one-time tokens that were removed.",
    registers,
  });
  return { registry, runs, prunedTokens };
}
