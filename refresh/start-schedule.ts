import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Logger } from "pino";
import { withPublisher } from "./connect-publisher.ts";
import type { RefreshConfig } from "./refresh-config.ts";
import { refreshDataSet } from "./refresh-data-set.ts";
import { createRefreshMetrics, type ScheduleState } from "./refresh-metrics.ts";
import { runWithRetries } from "./run-with-retries.ts";
import { closeUnlessDecided } from "./switch-requests.ts";
import { startTimer } from "./timetable.ts";

export interface Schedule {
  url: string;
  /** Does now what the timer does. */
  refreshNow: () => Promise<void>;
  close: () => Promise<void>;
}

const upkeepMilliseconds = 3_600_000;
const lookMilliseconds = 15_000;

/**
 * Starts the service that refreshes by the environment's timetable: one refresh at a time, `/healthz`, `/metrics`, and
 * once an hour the removal of tokens that are spent or expired. It outlives the database.
 *
 * @throws Error if the port is taken, or a timetable has no source to refresh from
 */
export async function startSchedule(
  config: RefreshConfig,
  logger: Logger,
  { minute = 60_000 }: { minute?: number } = {},
): Promise<Schedule> {
  const { environment, source, database, publicData } = config;
  const stop = new AbortController();
  const state: ScheduleState = { publishedAt: undefined, isRunning: false, nextRun: undefined };
  let isDatabaseThere = false;
  const metrics = createRefreshMetrics(() => ({ ...state, nextRun: timer?.nextRun() ?? undefined }));

  const refreshNow = async () => {
    if (source === undefined) return;
    if (state.isRunning) {
      metrics.runs.inc({ outcome: "busy" });
      logger.warn("the last refresh is still running: this one is left out");
      return;
    }
    state.isRunning = true;
    try {
      await runWithRetries({
        signal: stop.signal,
        minute,
        refresh: async () => {
          const start = performance.now();
          const report = (line: string) => logger.info(line);
          const done = await withPublisher(database, (client) =>
            refreshDataSet(client, { from: source, publicData, report }),
          );
          if (done.outcome === "published") metrics.lastDuration.set((performance.now() - start) / 1000);
          return done;
        },
        note: (outcome, err) => {
          metrics.runs.inc({ outcome });
          logger[outcome === "failed" ? "error" : "info"]({ err }, `refresh: ${outcome}`);
        },
      });
    } finally {
      state.isRunning = false;
      await look();
    }
  };

  const look = async () => {
    try {
      state.publishedAt = await withPublisher(database, async (client) => {
        const { rows } = await client.query<{ published_at: Date }>(
          "select published_at from publication.data_sets where state = 'live'",
        );
        return rows[0]?.published_at;
      });
      isDatabaseThere = true;
    } catch (err) {
      isDatabaseThere = false;
      logger.warn({ err }, "the database cannot be asked");
    }
  };
  const pruneTokens = async () => {
    try {
      await withPublisher(database, async (client) => {
        const { rows } = await client.query("select access.prune_access_tokens() as pruned");
        metrics.prunedTokens.inc(Number(rows[0].pruned));
      });
    } catch (err) {
      logger.warn({ err }, "tokens could not be pruned");
    }
  };

  const timer = startTimer(environment, () => void refreshNow());
  if (timer !== undefined && source === undefined) {
    timer.stop();
    throw new Error(`REFRESH_SOURCE is missing: ${environment} refreshes by itself. Set it, or name --from.`);
  }
  if (environment === "preview") await withPublisher(database, closeUnlessDecided);
  const answers: Record<string, () => Promise<{ status: number; type: string; body: string }>> = {
    "/healthz": async () => ({
      status: isDatabaseThere ? 200 : 503,
      type: "application/json",
      body: `${JSON.stringify({
        database: isDatabaseThere ? "ok" : "unavailable",
        environment,
        refreshing: state.isRunning,
        next_run: timer?.nextRun()?.toISOString() ?? null,
        published_at: state.publishedAt?.toISOString() ?? null,
      })}\n`,
    }),
    "/metrics": async () => ({
      status: 200,
      type: metrics.registry.contentType,
      body: await metrics.registry.metrics(),
    }),
  };
  await Promise.all([look(), pruneTokens()]);
  const server = createServer(async (request, response) => {
    const answer = request.method === "GET" ? answers[request.url?.split("?")[0] ?? ""] : undefined;
    const { status, type, body } = (await answer?.()) ?? {
      status: 404,
      type: "text/plain",
      body: "Not found\n",
    };
    response.writeHead(status, { "content-type": type }).end(body);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      timer?.stop();
      const reason = cause.code === "EADDRINUSE" ? "is taken" : `cannot be used (${cause.code})`;
      reject(new Error(`Port ${config.port} ${reason}. Set REFRESH_PORT to another port.`, { cause }));
    });
    server.listen(config.port, config.host, resolve);
  });
  const clocks = [
    setInterval(() => void look(), lookMilliseconds),
    setInterval(() => void pruneTokens(), upkeepMilliseconds),
  ];
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${config.host}:${port}`,
    refreshNow,
    close: async () => {
      stop.abort();
      timer?.stop();
      for (const clock of clocks) clearInterval(clock);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
