import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";

/** What the schedule knows of the world when it is asked. */
export interface ScheduleState {
  /** When the live data set became live; undefined while that is not known. */
  publishedAt: Date | undefined;
  isRunning: boolean;
  nextRun: Date | undefined;
}

export type RefreshMetrics = ReturnType<typeof createRefreshMetrics>;

/** What Prometheus is told of the schedule. The age of the live data set is the one to alert on. */
export function createRefreshMetrics(readState: () => ScheduleState) {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: "refresh_data_set_age_seconds",
    help: "Since when the live data set is live. Alert when it is older than the timetable allows.",
    registers,
    collect() {
      const { publishedAt } = readState();
      if (publishedAt === undefined) this.remove();
      else this.set((Date.now() - publishedAt.getTime()) / 1000);
    },
  });
  new Gauge({
    name: "refresh_running",
    help: "1 while a refresh of this service runs.",
    registers,
    collect() {
      this.set(readState().isRunning ? 1 : 0);
    },
  });
  new Gauge({
    name: "refresh_next_run_timestamp_seconds",
    help: "When the next refresh begins; absent where there is no timer.",
    registers,
    collect() {
      const { nextRun } = readState();
      if (nextRun === undefined) this.remove();
      else this.set(nextRun.getTime() / 1000);
    },
  });
  return {
    registry,
    runs: new Counter({
      name: "refresh_runs_total",
      help: "Attempts by what came of them: published, skipped, busy (another refresh was running), failed.",
      labelNames: ["outcome"],
      registers,
    }),
    lastDuration: new Gauge({
      name: "refresh_last_duration_seconds",
      help: "How long the last refresh that published took.",
      registers,
    }),
    prunedTokens: new Counter({
      name: "refresh_pruned_access_tokens_total",
      help: "Spent and expired one-time tokens that were removed.",
      registers,
    }),
  };
}
