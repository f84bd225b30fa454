import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import type { Pool } from "pg";
import type { Registry } from "prom-client";
import { type AddRoutes, createApp } from "../shared/web/create-app.ts";
import { checkRedemption } from "./check-redemption.ts";
import { unknownPathError } from "./error-responses.ts";
import { createReportMetrics, measureStorage } from "./metrics.ts";
import { serveDownloads } from "./redeem-token.ts";
import { servePublicReports } from "./serve-public-reports.ts";
import type { Storage } from "./storage.ts";

interface ReportServiceParts {
  pool: Pool;
  storage: Storage;
  /** Adds the site's routes. Absent if this process only hands out PDFs. */
  addSite?: AddRoutes | undefined;
  trustedIps?: string[] | undefined;
  logger: FastifyBaseLogger;
}

/** Creates the service and its metrics. The caller closes the pool and the storage. */
export function createReportService({
  pool,
  storage: plainStorage,
  addSite,
  trustedIps,
  logger,
}: ReportServiceParts): { app: FastifyInstance; registry: Registry } {
  const { app, registry, parts } = createApp({
    pool,
    checks: { database: () => checkRedemption(pool), storage: () => storage.check() },
    describeUnknownPath: unknownPathError,
    trustedIps,
    logger,
  });
  const metrics = createReportMetrics(registry);
  const storage = measureStorage(plainStorage, metrics);
  serveDownloads(app, { pool, storage, metrics });
  servePublicReports(app, { pool, storage, metrics });
  storage.addRoutes(app, [parts.limit, parts.whileOn]);
  addSite?.(app, parts);
  return { app, registry };
}
