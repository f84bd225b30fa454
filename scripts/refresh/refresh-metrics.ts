import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";

const gauges = {
  refresh_data_set_published:
    "1 if a data set is published. Alert if it is 0: requests get 503. Absent while the database does not answer.",
  refresh_data_set_age_seconds:
    "Time since the live data set became live. Alert if it exceeds refresh_data_set_age_limit_seconds.",
  refresh_data_set_age_limit_seconds:
    "How old the live data set may become: the longest time between scheduled refreshes plus a day. Absent if none are scheduled.",
  refresh_database_connected: "1 if the database answered the last query. It is queried every 15 seconds.",
  refresh_running: "1 while this service runs a refresh.",
  refresh_last_success_timestamp_seconds:
    "When this service last published files, or found that they were already published. Absent until then.",
  refresh_last_duration_seconds: "Duration of the last refresh that published a data set.",
  refresh_leaks:
    "Number of leaks that publication.find_leaks() found: ways to see suppressed data without Tribal access. Checked at the start and once an hour. Alert if it is not 0.",
  refresh_leaks_checked_timestamp_seconds: "When publication.find_leaks() last answered. 0 until then.",
};

export type RefreshMetrics = ReturnType<typeof createRefreshMetrics>;

/**
 * The schedule's metrics for Prometheus.
 *
 * @param readGauges the values of the gauges; undefined ones are absent
 */
export function createRefreshMetrics(readGauges: () => Record<keyof typeof gauges, number | undefined>) {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  for (const [name, help] of Object.entries(gauges)) {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        const value = readGauges()[name as keyof typeof gauges];
        if (value === undefined) this.remove();
        else this.set(value);
      },
    });
  }
  const runs = new Counter({
    name: "refresh_runs_total",
    help: "Refresh attempts by outcome: published, skipped (the files are already live, or were rolled back), busy (another refresh was running), failed.",
    labelNames: ["outcome"],
    registers,
  });
  // Each outcome starts at 0, so that the first one shows as an increase.
  for (const outcome of ["published", "skipped", "busy", "failed"]) runs.inc({ outcome }, 0);
  const help = "Removed one-time tokens, redeemed or expired.";
  const prunedTokens = new Counter({ name: "refresh_pruned_access_tokens_total", help, registers });
  return { registry, runs, prunedTokens };
}
