import type { FastifyBaseLogger } from "fastify";
import type { AddRoutes } from "../shared/web/create-app.ts";
import { createPool } from "../shared/web/database.ts";
import { type RunningApp, startApp } from "../shared/web/start-app.ts";
import type { ReportServiceConfig } from "./config.ts";
import { createReportService } from "./create-report-service.ts";
import { createLocalStore } from "./local-store.ts";
import { recordKeyUse } from "./record-key-use.ts";

/**
 * Starts the report service. If `metrics` is set, it also records which keys are used, on the port of the metrics.
 *
 * @throws Error if a port is taken
 */
export async function startReportService(
  config: ReportServiceConfig & { logger: FastifyBaseLogger; addSite?: AddRoutes | undefined },
): Promise<RunningApp> {
  const { database, logger } = config;
  const storage =
    config.storage.kind === "local"
      ? createLocalStore(config.storage.directory)
      : // The AWS SDK is large, so it is loaded only where it is used.
        (await import("./s3-store.ts")).createS3Store(config.storage);
  const pool = createPool(database, logger, "report-service");
  const { app, registry } = createReportService({ ...config, pool, storage });
  const keyUse = recordKeyUse(database, logger);
  const release = async () => {
    storage.close();
    await Promise.all([keyUse.close(), pool.end()]);
  };
  return await startApp(config, { app, registry, addCalls: keyUse.addCall, release });
}
