import type { FastifyBaseLogger } from "fastify";
import { asMetrics, serveState } from "../service/serve-state.ts";
import type { ReportServiceConfig } from "./config.ts";
import { type AddSite, createReportService } from "./create-report-service.ts";
import { createStorage } from "./create-storage.ts";
import { createPool } from "./database.ts";
import { listen, type RunningServer } from "./listen.ts";
import { openPublicFiles } from "./public-files.ts";
import { recordKeyUse } from "./record-key-use.ts";
import { relayStorage } from "./relay-storage.ts";

/**
 * Starts the report service with a pool and a storage of its own. It starts without either being reachable:
 * `/readyz` says whether they are. It also records when keys were used. Serves `/metrics` on a port of its own, if one is given, because the main port is public.
 *
 * @throws Error if the port cannot be listened on
 */
export async function startReportService({
  host,
  port,
  metrics: metricsListener,
  database,
  storage: storageConfig,
  publicData,
  addSite,
  trustedIps,
  logger,
}: ReportServiceConfig & { logger: FastifyBaseLogger; addSite?: AddSite | undefined }): Promise<
  RunningServer & { metricsUrl?: string }
> {
  const storage = await createStorage(storageConfig);
  const pool = createPool(database, logger);
  const { app, metrics } = createReportService({
    pool,
    storage,
    publicFiles: publicData && openPublicFiles(publicData.location, publicData),
    addSite,
    trustedIps,
    logger,
  });
  if (storageConfig.kind === "s3" && storageConfig.forcePathStyle) {
    const { endpoint, publicEndpoint } = storageConfig;
    if (endpoint !== undefined && publicEndpoint !== undefined) {
      relayStorage(app, { ...storageConfig, endpoint, publicEndpoint });
    }
  }
  let metricsServer: Awaited<ReturnType<typeof serveState>> | undefined;
  const keyUse = recordKeyUse(database, logger);
  const release = async () => {
    await metricsServer?.close();
    storage.close();
    await Promise.all([keyUse.close(), pool.end()]);
  };
  const server = await listen(app, { host, port, portVariable: "APP_PORT" }, release);
  if (metricsListener === undefined) return server;
  try {
    metricsServer = await serveState({
      ...metricsListener,
      portVariable: "APP_METRICS_PORT",
      answers: { "/metrics": () => asMetrics(metrics.registry) },
    });
  } catch (error) {
    await server.close();
    throw error;
  }
  return { ...server, metricsUrl: `${metricsServer.url}/metrics` };
}
