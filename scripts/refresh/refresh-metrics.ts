import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";

/** What the service last saw. */
export interface ScheduleState {
  isRunning: boolean;
  isDatabaseConnected: boolean;
  publishedAt: Date | undefined;
  /** Why the last comparison with the ledger failed. */
  ledgerProblem: string | undefined;
  /** When the oldest entry that waits to be written to the ledger was recorded. */
  ledgerWaitingSince: Date | undefined;
}

export type RefreshMetrics = ReturnType<typeof createRefreshMetrics>;

/** The schedule's metrics for Prometheus. */
export function createRefreshMetrics(state: ScheduleState, longestAge: number | undefined) {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  /** Adds a gauge. With `read`, it is read when it is scraped, and absent while its value is undefined. */
  const addGauge = (name: string, help: string, read?: () => number | undefined) => {
    function collect(this: Gauge): void {
      const value = read?.();
      if (value === undefined) this.remove();
      else this.set(value);
    }
    return new Gauge({ name, help, registers, ...(read && { collect }) });
  };
  addGauge(
    "refresh_data_set_published",
    "1 if a data set is published. Alert if it is 0: requests get 503. Absent while the database does not answer.",
    () => (state.isDatabaseConnected ? Number(state.publishedAt !== undefined) : undefined),
  );
  addGauge(
    "refresh_data_set_age_seconds",
    "Time since the live data set became live. Alert if it exceeds refresh_data_set_age_limit_seconds.",
    () => state.publishedAt && (Date.now() - state.publishedAt.getTime()) / 1000,
  );
  addGauge(
    "refresh_data_set_age_limit_seconds",
    "How old the live data set may become: the longest time between scheduled refreshes plus a day. Absent if none are scheduled.",
    () => longestAge,
  );
  addGauge(
    "refresh_database_connected",
    "1 if the database answered the last query. It is queried every 15 seconds.",
    () => Number(state.isDatabaseConnected),
  );
  addGauge(
    "refresh_ledger_compared",
    "1 if the last comparison with the ledger succeeded. It is made every 5 seconds. Alert if it stays 0: publications are refused, and after a restart of PostgreSQL, requests get 503.",
    () => Number(state.ledgerProblem === undefined),
  );
  addGauge(
    "refresh_ledger_waiting_seconds",
    "How long a suppression, release or revocation has waited to be written to the ledger; 0 if none waits. Alert if it grows.",
    () =>
      state.ledgerWaitingSince === undefined ? 0 : (Date.now() - state.ledgerWaitingSince.getTime()) / 1000,
  );
  addGauge("refresh_running", "1 while this service runs a refresh.", () => Number(state.isRunning));
  const lastSuccess = addGauge(
    "refresh_last_success_timestamp_seconds",
    "When this service last published files, or found that they were already published. Absent until then.",
  );
  lastSuccess.remove();
  const lastDuration = addGauge(
    "refresh_last_duration_seconds",
    "Duration of the last refresh that published a data set.",
  );
  const leaks = addGauge(
    "refresh_leaks",
    "Number of leaks that publication.find_leaks() found: ways to see suppressed data without Tribal access. Checked at the start and once an hour. Alert if it is not 0.",
  );
  const leaksCheckedAt = addGauge(
    "refresh_leaks_checked_timestamp_seconds",
    "When publication.find_leaks() last answered. 0 until then.",
  );
  const runs = new Counter({
    name: "refresh_runs_total",
    help: "Refresh attempts by outcome: published, skipped (the files are already live, or were rolled back), busy (another refresh was running), failed.",
    labelNames: ["outcome"],
    registers,
  });
  // Each outcome starts at 0, so that the first one shows as an increase.
  for (const outcome of ["published", "skipped", "busy", "failed"]) runs.inc({ outcome }, 0);
  const prunedTokens = new Counter({
    name: "refresh_pruned_access_tokens_total",
    help: "Removed one-time tokens, redeemed or expired.",
    registers,
  });
  return { registry, lastSuccess, lastDuration, leaks, leaksCheckedAt, runs, prunedTokens };
}
