import type { FastifyBaseLogger } from "fastify";
import { asMetrics, serveState } from "../service/serve-state.ts";
import type { ReportServiceConfig } from "./config.ts";
import { type AddSite, createReportService } from "./create-report-service.ts";
import { createPool } from "./database.ts";
import { listen, type RunningServer } from "./listen.ts";
import { createLocalStore } from "./local-store.ts";
import { openPublicFiles } from "./public-files.ts";
import { recordKeyUse } from "./record-key-use.ts";

/**
 * Starts the report service with its own pool and storage, even if they are unreachable: `/readyz` says so. It also records
 * when keys are used. If `metrics` is set, it serves `/metrics` on a separate port, because the main port is public.
 *
 * @throws Error if a port is taken
 */
export async function startReportService(
  config: ReportServiceConfig & { logger: FastifyBaseLogger; addSite?: AddSite | undefined },
): Promise<RunningServer & { metricsUrl?: string }> {
  const { host, port, database, publicData, logger } = config;
  const storage =
    config.storage.kind === "local"
      ? createLocalStore(config.storage)
      : // The AWS SDK is large, so it is loaded only where it is used.
        (await import("./s3-store.ts")).createS3Store(config.storage);
  const pool = createPool(database, logger);
  const publicFiles = publicData && openPublicFiles(publicData.location, publicData);
  const { app, metrics } = createReportService({
    ...config,
    pool,
    storage,
    publicFiles,
    relayed: config.storage.kind === "s3" ? config.storage : undefined,
  });
  const metricsServer =
    config.metrics &&
    (await serveState({
      ...config.metrics,
      portVariable: "APP_METRICS_PORT",
      answers: { "/metrics": () => asMetrics(metrics.registry) },
    }));
  const keyUse = recordKeyUse(database, logger);
  const server = await listen(app, { host, port, portVariable: "APP_PORT" }, async () => {
    await metricsServer?.close();
    storage.close();
    await Promise.all([keyUse.close(), pool.end()]);
  });
  return { ...server, ...(metricsServer && { metricsUrl: `${metricsServer.url}/metrics` }) };
}
