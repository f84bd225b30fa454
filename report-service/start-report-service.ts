import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyBaseLogger } from "fastify";
import { asMetrics, serveState } from "../shared/serve-state.ts";
import type { ReportServiceConfig } from "./config.ts";
import { type AddSite, createReportService } from "./create-report-service.ts";
import { createPool } from "./database.ts";
import { createLocalStore } from "./local-store.ts";
import { openPublicFiles } from "./public-files.ts";
import { keyUsePath, recordKeyUse } from "./record-key-use.ts";

export interface RunningReportService {
  /** Its base URL, with no slash at the end. */
  url: string;
  metricsUrl?: string;
  /** Stops accepting requests, waits up to 10 s for responses in progress, then closes everything it has opened. */
  close(): Promise<void>;
}

const drainMilliseconds = 10_000;
const releaseMilliseconds = 2000;

/**
 * Starts the report service, even if its database or storage is down (`/readyz` then returns 503). If `metrics` is set, it
 * serves `/metrics` and records which keys are used on a separate port, because the main port is public.
 *
 * @throws Error if a port is taken
 */
export async function startReportService(
  config: ReportServiceConfig & { logger: FastifyBaseLogger; addSite?: AddSite | undefined },
): Promise<RunningReportService> {
  const { host, port, database, publicData, logger } = config;
  const storage =
    config.storage.kind === "local"
      ? createLocalStore(config.storage.directory)
      : // The AWS SDK is large, so it is loaded only where it is used.
        (await import("./s3-store.ts")).createS3Store(config.storage);
  const pool = createPool(database, logger);
  const publicFiles = publicData && openPublicFiles(publicData.location, publicData);
  const { app, metrics } = createReportService({ ...config, pool, storage, publicFiles });
  const keyUse = recordKeyUse(database, logger);
  const metricsServer =
    config.metrics &&
    (await serveState({
      ...config.metrics,
      portVariable: "APP_METRICS_PORT",
      answers: { "/metrics": () => asMetrics(metrics.registry) },
      calls: { [keyUsePath]: keyUse.record },
    }));
  const release = async () => {
    await metricsServer?.close();
    storage.close();
    await Promise.all([keyUse.close(), pool.end()]);
  };
  const close = async () => {
    const timer = setTimeout(() => app.server.closeAllConnections(), drainMilliseconds);
    await app.close();
    clearTimeout(timer);
    // A database that does not answer must not keep the process alive.
    await Promise.race([release(), sleep(releaseMilliseconds, undefined, { ref: false })]);
  };
  const url = await app.listen({ host, port }).catch(async (cause: NodeJS.ErrnoException) => {
    await close();
    const reason = cause.code === "EADDRINUSE" ? "is taken" : `cannot be used at ${host} (${cause.code})`;
    const advice = "Set APP_PORT to another port, or to 0 for any free one.";
    throw new Error(`Port ${port} ${reason}. ${advice}`, { cause });
  });
  return { url, close, ...(metricsServer && { metricsUrl: `${metricsServer.url}/metrics` }) };
}
