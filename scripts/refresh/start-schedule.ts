import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import type { Logger } from "pino";
import { asJson, asMetrics, serveState } from "../../service/serve-state.ts";
import { findLastRun, findLongestAge, startTimer, timetable, timeZone } from "../../service/timetable.ts";
import { withPublisher } from "./connect-publisher.ts";
import { explainFailure } from "./explain-failure.ts";
import { RefreshIsRunning } from "./lock-publication.ts";
import { openStorage } from "./open-storage.ts";
import type { RefreshConfig } from "./refresh-config.ts";
import { refreshDataSet } from "./refresh-data-set.ts";
import { createRefreshMetrics } from "./refresh-metrics.ts";

export interface Schedule {
  url: string;
  /** Runs a scheduled refresh now. */
  refreshNow: () => Promise<void>;
  close: () => Promise<void>;
}

/** Minutes to wait before each retry of a failed refresh. */
const retryMinutes = [1, 5, 15, 60];
const hourMilliseconds = 3_600_000;
const pollMilliseconds = 15_000;
const storageTimeoutMilliseconds = 3_000;

/** Unix time in seconds. */
const now = () => Date.now() / 1000;

/**
 * Starts the service that refreshes by the environment's timetable, one refresh at a time. It serves `/healthz`, `/readyz` and
 * `/metrics`. Once an hour it looks for leaks, and removes one-time tokens that were redeemed or have expired. It keeps running while
 * the database is unreachable. If a refresh was due while the service did not run, it refreshes at once.
 *
 * @param options.minute milliseconds in a minute between attempts; tests use fewer
 * @throws Error if the port is taken, or the timetable has no source
 */
export async function startSchedule(
  config: RefreshConfig,
  logger: Logger,
  { minute = 60_000 }: { minute?: number } = {},
): Promise<Schedule> {
  const { environment, source, publicData, database, host, port } = config;
  const stop = new AbortController();
  const longestAge = findLongestAge(environment);
  let isRunning = false;
  let isDatabaseConnected = false;
  let lastDuration = 0;
  let leaks = 0;
  let leaksCheckedAt = 0;
  let publishedAt: Date | undefined;
  let lastSuccess: number | undefined;
  const metrics = createRefreshMetrics(() => ({
    refresh_data_set_age_seconds: publishedAt && now() - publishedAt.getTime() / 1000,
    refresh_data_set_age_limit_seconds: longestAge,
    refresh_database_connected: Number(isDatabaseConnected),
    refresh_running: Number(isRunning),
    refresh_last_success_timestamp_seconds: lastSuccess,
    refresh_last_duration_seconds: lastDuration,
    refresh_leaks: leaks,
    refresh_leaks_checked_timestamp_seconds: leaksCheckedAt,
  }));

  /** @returns the rows, or undefined if the database did not answer */
  const query = async (what: string, sql: string) => {
    const ask = async (client: Client) => (await client.query(sql)).rows;
    return await withPublisher(database, ask).catch((err: unknown) => {
      logger.warn({ err }, `The database cannot be queried for ${what}.`);
      return undefined;
    });
  };
  const poll = async () => {
    const live = "select published_at from publication.data_sets where state = 'live'";
    const rows = await query("the live data set", live);
    isDatabaseConnected = rows !== undefined;
    publishedAt = rows?.[0]?.published_at ?? publishedAt;
  };
  const everyHour = async () => {
    // Rights and rows may change between publications.
    const found = await query("leaks", "select find_leaks as leak from publication.find_leaks(true)");
    for (const { leak } of found ?? [])
      logger.error({ leak }, "Suppressed data can be seen without Tribal access.");
    if (found !== undefined) [leaks, leaksCheckedAt] = [found.length, now()];
    const pruned = await query("expired tokens", "select access.prune_access_tokens() as pruned");
    metrics.prunedTokens.inc(Number(pruned?.[0]?.pruned ?? 0));
  };

  /** @returns whether to try again */
  const attempt = async (from: string, run: Logger): Promise<boolean> => {
    const start = now();
    const report = (line: string) => run.info(line);
    try {
      const { outcome } = await withPublisher(database, (client) =>
        refreshDataSet(client, { from, publicData, report }),
      );
      if (outcome === "published") lastDuration = now() - start;
      lastSuccess = now();
      metrics.runs.inc({ outcome });
      run.info(`refresh: ${outcome}`);
      return false;
    } catch (err) {
      const isBusy = err instanceof RefreshIsRunning;
      metrics.runs.inc({ outcome: isBusy ? "busy" : "failed" });
      if (isBusy) run.info({ err }, "refresh: skipped, because another one is running");
      else run.error({ err }, `refresh: failed. ${explainFailure(err)}`);
      return !isBusy;
    }
  };
  const refreshNow = async () => {
    if (source === undefined) return;
    if (isRunning) {
      metrics.runs.inc({ outcome: "busy" });
      logger.warn("refresh: skipped, because the last one is still running");
      return;
    }
    isRunning = true;
    // Connects the log lines of all attempts.
    const run = logger.child({ run_id: randomUUID() });
    for (const minutes of [...retryMinutes, 0]) {
      if (stop.signal.aborted || !(await attempt(source, run))) break;
      await sleep(minutes * minute, undefined, { signal: stop.signal }).catch(() => {});
    }
    isRunning = false;
    await poll();
  };

  const describeState = () => ({
    database: isDatabaseConnected ? "ok" : "unavailable",
    environment,
    refreshing: isRunning,
    next_run: timer?.nextRun()?.toISOString() ?? null,
    published_at: publishedAt?.toISOString() ?? null,
  });
  // The first refresh creates the directory of the bulk files.
  const places = [source, publicData?.startsWith("s3://") ? publicData : undefined];
  const checkStorage = async (): Promise<"ok" | "unavailable"> => {
    try {
      for (const place of places.filter((one) => one !== undefined))
        await (await openStorage(place)).check(AbortSignal.timeout(storageTimeoutMilliseconds));
      return "ok";
    } catch (err) {
      logger.warn({ err }, "Storage cannot be reached.");
      return "unavailable";
    }
  };

  if (longestAge !== undefined && source === undefined)
    throw new Error(`${environment} has a refresh schedule, so it needs a source. Set REFRESH_SOURCE.`);
  // A preview answers no requests until someone switches it on.
  const close = "update publication.settings set is_switched_on = false where changed_at is null";
  if (environment === "preview") await withPublisher(database, (client) => client.query(close));
  await Promise.all([poll(), everyHour()]);
  const server = await serveState({
    host,
    port,
    portVariable: "REFRESH_PORT",
    answers: {
      "/healthz": async () => asJson(true, describeState()),
      "/readyz": async () => {
        const storage = await checkStorage();
        return asJson(isDatabaseConnected && storage === "ok", { ...describeState(), storage });
      },
      "/metrics": () => asMetrics(metrics.registry),
    },
  });
  const timer = startTimer(environment, () => void refreshNow());
  const due = findLastRun(environment);
  if (due !== undefined && (publishedAt === undefined || publishedAt < due)) {
    logger.info({ due, published_at: publishedAt }, "The data set is overdue for a refresh. Starting one.");
    void refreshNow();
  }
  const intervals = [
    setInterval(() => void poll(), pollMilliseconds),
    setInterval(() => void everyHour(), hourMilliseconds),
  ];
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
