import type { Logger } from "pino";
import { repeat } from "../../shared/repeat.ts";
import { serveMetrics, serveState } from "../../shared/serve-state.ts";
import { readTimetable, timetable, timeZone } from "../../shared/timetable.ts";
import { createReadinessCheck } from "../../shared/web/metrics.ts";
import { withPublisher } from "./connect-publisher.ts";
import type { RefreshConfig } from "./refresh-config.ts";
import { createRefreshMetrics, type ScheduleState } from "./refresh-metrics.ts";
import {
  checkStorage,
  compareLedger,
  readLiveDataSet,
  refreshWithRetries,
  type ScheduleParts,
  workHourly,
} from "./scheduled-refresh.ts";

export interface Schedule {
  url: string;
  /** Runs a scheduled refresh now. */
  refreshNow: () => Promise<void>;
  close: () => Promise<void>;
}

const hourMilliseconds = 3_600_000;
const pollMilliseconds = 15_000;
const ledgerMilliseconds = 5_000;

/** Until an operator has switched a preview on or off, it answers no requests. */
const switchPreviewOff = "update publication.settings set is_switched_on = false where changed_at is null";

/**
 * Starts the service that refreshes by the environment's timetable, one refresh at a time. It serves `/healthz`, `/readyz` and
 * `/metrics`. Every 5 seconds it compares the database with the ledger. Once an hour it looks for leaks, and removes one-time tokens
 * that were redeemed or have expired. It keeps running while the database is unreachable. If a refresh was due while the service did
 * not run, it refreshes at once.
 *
 * @param options.minute milliseconds in a minute between attempts; tests use fewer
 * @throws Error if the port is taken, or the timetable has no source
 */
export async function startSchedule(
  config: RefreshConfig,
  logger: Logger,
  { minute = 60_000 }: { minute?: number } = {},
): Promise<Schedule> {
  const { environment, source, publicData } = config;
  const timer = readTimetable(environment);
  if (timer !== undefined && source === undefined)
    throw new Error(`${environment} has a refresh schedule, so it needs a source. Set REFRESH_SOURCE.`);
  const stop = new AbortController();
  const state: ScheduleState = {
    isRunning: false,
    isDatabaseConnected: false,
    publishedAt: undefined,
    ledgerProblem: undefined,
    ledgerWaitingSince: undefined,
  };
  const metrics = createRefreshMetrics(state, findLongestAge(timer?.nextRuns(2)));
  const parts = { config, logger, metrics, state, stop: stop.signal, minute };
  const refreshNow = () => refreshWithRetries(parts);
  const describe = () => describeState(parts, timer?.nextRun() ?? null);

  if (environment === "preview")
    await withPublisher(config.database, (client) => client.query(switchPreviewOff), config.limits);
  await Promise.all([readLiveDataSet(parts), workHourly(parts), compareLedger(parts)]);
  const server = await serveSchedule(parts, describe);
  timer?.schedule(refreshNow);
  const intervals = [
    repeat(() => readLiveDataSet(parts), pollMilliseconds),
    repeat(() => workHourly(parts), hourMilliseconds),
    repeat(() => compareLedger(parts), ledgerMilliseconds),
  ];
  const [due] = timer?.previousRuns(1) ?? [];
  if (due !== undefined && (state.publishedAt === undefined || state.publishedAt < due)) {
    logger.info(
      { due, published_at: state.publishedAt },
      "The data set is overdue for a refresh. Starting one.",
    );
    void refreshNow();
  }
  logger.info(
    { url: server.url, environment, timer: timetable[environment], timeZone, publicData },
    timer === undefined
      ? `${environment} has no timer: npm run refresh -- --from <place> refreshes it`
      : "waiting for the next refresh",
  );
  return {
    url: server.url,
    refreshNow,
    close: async () => {
      stop.abort();
      timer?.stop();
      for (const interval of intervals) clearInterval(interval);
      await server.close();
    },
  };
}

/** The time between two refreshes in seconds, plus a day in case one fails. */
function findLongestAge([first, second]: Date[] = []): number | undefined {
  return first && second && (second.getTime() - first.getTime()) / 1000 + 86_400;
}

const describeState = ({ config, state }: ScheduleParts, nextRun: Date | null) => ({
  database: state.isDatabaseConnected ? "ok" : "unavailable",
  environment: config.environment,
  refreshing: state.isRunning,
  next_run: nextRun?.toISOString() ?? null,
  published_at: state.publishedAt?.toISOString() ?? null,
});

function serveSchedule(parts: ScheduleParts, describe: () => ReturnType<typeof describeState>) {
  const { host, port } = parts.config;
  const check = createReadinessCheck({ storage: () => checkStorage(parts.config) }, parts.logger);
  return serveState({ host, port, portVariable: "REFRESH_PORT" }, (app) => {
    app.get("/healthz", async () => describe());
    app.get("/readyz", async (_request, reply) => {
      const { storage } = await check();
      const isReady = parts.state.isDatabaseConnected && storage === "ok";
      return reply.code(isReady ? 200 : 503).send({ ...describe(), storage });
    });
    serveMetrics(app, parts.metrics.registry);
  });
}
