import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import { findLastRun, findLongestAge, startTimer } from "../../service/timetable.ts";
import { withPublisher } from "./connect-publisher.ts";
import { explainFailure } from "./explain-failure.ts";
import type { RefreshConfig } from "./refresh-config.ts";
import { refreshDataSet } from "./refresh-data-set.ts";
import { createRefreshMetrics, type RefreshMetrics, type ScheduleState } from "./refresh-metrics.ts";
import { runWithRetries } from "./run-with-retries.ts";
import { serveSchedule } from "./serve-schedule.ts";
import { closeUnlessDecided } from "./switch-requests.ts";

export interface Schedule {
  url: string;
  /** Does now what the timer does. */
  refreshNow: () => Promise<void>;
  close: () => Promise<void>;
}

const hourMilliseconds = 3_600_000;
const lookMilliseconds = 15_000;

/**
 * Starts the service that refreshes by the environment's timetable: one refresh at a time, `/healthz`, `/readyz`,
 * `/metrics`, and once an hour the search for leaks and the removal of tokens that are spent or expired. It outlives the
 * database. A refresh that
 * was due while nobody ran is made up for at once.
 *
 * @throws Error if the port is taken, or a timetable has no source to refresh from
 */
export async function startSchedule(
  config: RefreshConfig,
  logger: Logger,
  { minute = 60_000 }: { minute?: number } = {},
): Promise<Schedule> {
  const { environment, source, database } = config;
  const stop = new AbortController();
  const state: ScheduleState = {
    publishedAt: undefined,
    isRunning: false,
    isDatabaseThere: false,
    nextRun: undefined,
    longestAge: findLongestAge(environment),
  };
  const readState = () => ({ ...state, nextRun: timer?.nextRun() ?? undefined });
  const metrics = createRefreshMetrics(readState);

  const look = () => lookAtDatabase(config, state, logger);
  const refreshNow = makeRefresh(config, { state, metrics, logger, signal: stop.signal, minute, look });
  const timer = startTimer(environment, () => void refreshNow());
  if (timer !== undefined && source === undefined) {
    timer.stop();
    throw new Error(`REFRESH_SOURCE is missing: ${environment} refreshes by itself. Set it, or name --from.`);
  }
  if (environment === "preview") await withPublisher(database, closeUnlessDecided);
  const eachHour = () =>
    Promise.all([findLeaks(config, metrics, logger), pruneTokens(config, metrics, logger)]);
  await Promise.all([look(), eachHour()]);
  const server = await serveSchedule(config, { state: readState, metrics, logger }).catch((error: Error) => {
    timer?.stop();
    throw error;
  });
  const lastRun = findLastRun(environment);
  if (lastRun !== undefined && (state.publishedAt === undefined || state.publishedAt < lastRun)) {
    logger.info(
      { due: lastRun, published_at: state.publishedAt },
      "nothing was published since a refresh was due",
    );
    void refreshNow();
  }
  const clocks = [
    setInterval(() => void look(), lookMilliseconds),
    setInterval(() => void eachHour(), hourMilliseconds),
  ];
  return {
    url: server.url,
    refreshNow,
    close: async () => {
      stop.abort();
      timer?.stop();
      for (const clock of clocks) clearInterval(clock);
      await server.close();
    },
  };
}

/** Makes what the timer does: one refresh with its further attempts, unless one is under way. */
function makeRefresh(
  { source, database, publicData }: RefreshConfig,
  parts: {
    state: ScheduleState;
    metrics: RefreshMetrics;
    logger: Logger;
    signal: AbortSignal;
    minute: number;
    look: () => Promise<void>;
  },
): () => Promise<void> {
  const { state, metrics, logger, signal, minute } = parts;
  return async () => {
    if (source === undefined) return;
    if (state.isRunning) {
      metrics.runs.inc({ outcome: "busy" });
      logger.warn("the last refresh is still running: this one is left out");
      return;
    }
    state.isRunning = true;
    // What ties the lines of one run and its further attempts together.
    const run = logger.child({ run_id: randomUUID() });
    try {
      await runWithRetries({
        signal,
        minute,
        refresh: async () => {
          const start = performance.now();
          const report = (line: string) => run.info(line);
          const done = await withPublisher(database, (client) =>
            refreshDataSet(client, { from: source, publicData, report }),
          );
          if (done.outcome === "published") metrics.lastDuration.set((performance.now() - start) / 1000);
          return done;
        },
        note: (outcome, err) => {
          metrics.runs.inc({ outcome });
          if (outcome === "published" || outcome === "skipped") metrics.lastSuccess.set(Date.now() / 1000);
          if (outcome === "failed") run.error({ err }, `refresh: failed. ${explainFailure(err)}`);
          else run.info({ err }, `refresh: ${outcome}`);
        },
      });
    } finally {
      state.isRunning = false;
      await parts.look();
    }
  };
}

/** Notes whether the database is there, and since when its data set is live. */
async function lookAtDatabase(
  { database }: RefreshConfig,
  state: ScheduleState,
  logger: Logger,
): Promise<void> {
  try {
    state.publishedAt = await withPublisher(database, async (client) => {
      const { rows } = await client.query<{ published_at: Date }>(
        "select published_at from publication.data_sets where state = 'live'",
      );
      return rows[0]?.published_at;
    });
    state.isDatabaseThere = true;
  } catch (err) {
    state.isDatabaseThere = false;
    logger.warn({ err }, "the database cannot be asked");
  }
}

/** Asks whether suppressed data can be seen now, since rights and rows may change between publications. */
async function findLeaks(
  { database }: RefreshConfig,
  metrics: RefreshMetrics,
  logger: Logger,
): Promise<void> {
  try {
    const { rows } = await withPublisher(database, (client) =>
      client.query<{ leak: string }>("select find_leaks as leak from publication.find_leaks(true)"),
    );
    for (const { leak } of rows) logger.error({ leak }, "suppressed data can be seen without Tribal access");
    metrics.leaks.set(rows.length);
    metrics.leaksChecked.setToCurrentTime();
  } catch (err) {
    logger.warn({ err }, "the database cannot be asked for leaks");
  }
}

async function pruneTokens(
  { database }: RefreshConfig,
  metrics: RefreshMetrics,
  logger: Logger,
): Promise<void> {
  try {
    await withPublisher(database, async (client) => {
      const { rows } = await client.query("select access.prune_access_tokens() as pruned");
      metrics.prunedTokens.inc(Number(rows[0].pruned));
    });
  } catch (err) {
    logger.warn({ err }, "tokens could not be pruned");
  }
}
