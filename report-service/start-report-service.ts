import type { FastifyBaseLogger } from "fastify";
import type { ReportServiceConfig } from "./config.ts";
import { createReportService } from "./create-report-service.ts";
import { createStorage } from "./create-storage.ts";
import { createPool } from "./database.ts";
import { listen, type RunningServer } from "./listen.ts";
import { openPublicFiles } from "./public-files.ts";
import { relayStorage } from "./relay-storage.ts";

/**
 * Starts the report service with a pool and a storage of its own. It starts without either being reachable:
 * `/readyz` says whether they are.
 *
 * @throws Error if the port cannot be listened on
 */
export async function startReportService({
  host,
  port,
  database,
  storage: storageConfig,
  publicData,
  logger,
}: ReportServiceConfig & { logger: FastifyBaseLogger }): Promise<RunningServer> {
  const storage = await createStorage(storageConfig);
  const pool = createPool(database, logger);
  const app = createReportService({
    pool,
    storage,
    publicFiles: publicData && openPublicFiles(publicData.location, publicData),
    logger,
  });
  if (storageConfig.kind === "s3" && storageConfig.forcePathStyle) {
    const { endpoint, publicEndpoint } = storageConfig;
    if (endpoint !== undefined && publicEndpoint !== undefined) {
      relayStorage(app, { ...storageConfig, endpoint, publicEndpoint });
    }
  }
  return listen(app, { host, port, portVariable: "APP_PORT" }, async () => {
    storage.close();
    await pool.end();
  });
}
