import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";

/** What the schedule knows of the world when it is asked. */
export interface ScheduleState {
  /** When the live data set became live; undefined while that is not known. */
  publishedAt: Date | undefined;
  isRunning: boolean;
  isDatabaseThere: boolean;
  /** Seconds; undefined where there is no timer. */
  longestAge: number | undefined;
  nextRun: Date | undefined;
}

export type RefreshMetrics = ReturnType<typeof createRefreshMetrics>;

/** What Prometheus is told of the schedule. The age of the live data set is the one to alert on. */
export function createRefreshMetrics(readState: () => ScheduleState) {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  addStateGauges(registers, readState);
  const lastSuccess = new Gauge({
    name: "refresh_last_success_timestamp_seconds",
    help: "When a refresh of this service last published, or found that the source has not changed; absent until then.",
    registers,
  });
  lastSuccess.remove();
  const runs = new Counter({
    name: "refresh_runs_total",
    help: "Attempts by what came of them: published, skipped, busy (another refresh was running), failed.",
    labelNames: ["outcome"],
    registers,
  });
  // From 0 on, so that the first of a kind shows as an increase.
  for (const outcome of ["published", "skipped", "busy", "failed"]) runs.inc({ outcome }, 0);
  return {
    registry,
    lastSuccess,
    runs,
    lastDuration: new Gauge({
      name: "refresh_last_duration_seconds",
      help: "How long the last refresh that published took.",
      registers,
    }),
    leaks: new Gauge({
      name: "refresh_leaks",
      help: "Ways in which suppressed data could be seen without Tribal access, as publication.find_leaks() told last. Asked when the service starts and once an hour. Alert when it is not 0.",
      registers,
    }),
    leaksChecked: new Gauge({
      name: "refresh_leaks_checked_timestamp_seconds",
      help: "When publication.find_leaks() answered last; 0 until then.",
      registers,
    }),
    prunedTokens: new Counter({
      name: "refresh_pruned_access_tokens_total",
      help: "Spent and expired one-time tokens that were removed.",
      registers,
    }),
  };
}

/** Gauges that look at the state whenever Prometheus asks. */
function addStateGauges(registers: Registry[], readState: () => ScheduleState): void {
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
    name: "refresh_data_set_age_limit_seconds",
    help: "How old the live data set may become before someone should look: a day longer than the timetable's longest pause. Absent where there is no timer.",
    registers,
    collect() {
      const { longestAge } = readState();
      if (longestAge === undefined) this.remove();
      else this.set(longestAge);
    },
  });
  new Gauge({
    name: "refresh_database_connected",
    help: "1 if the database answered when it was last asked, every 15 seconds.",
    registers,
    collect() {
      this.set(readState().isDatabaseThere ? 1 : 0);
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
}
