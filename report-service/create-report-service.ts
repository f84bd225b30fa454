import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import type { Pool } from "pg";
import { checkDatabase, DatabaseUnavailable, NotServing, requireService } from "./database.ts";
import {
  failed,
  filesNotLive,
  makeUnavailable,
  methodNotAllowed,
  notServing,
  securityHeaders,
  sendError,
  unknownPathError,
} from "./error-responses.ts";
import { limitDownloads } from "./limit-downloads.ts";
import { createReadinessCheck, createReportMetrics, measureStorage, type ReportMetrics } from "./metrics.ts";
import { FilesNotLive, type PublicFiles, requireLive } from "./public-files.ts";
import { createQuietApp } from "./quiet-logging.ts";
import { serveDownloads } from "./redeem-token.ts";
import { servePublicData } from "./serve-public-data.ts";
import { servePublicReports } from "./serve-public-reports.ts";
import { type Storage, StorageUnavailable } from "./storage.ts";

/**
 * Adds the site's routes to the app, with its connection pool and bulk files. Routes that return data call `whileOn`,
 * which throws while the service is switched off or has no data set.
 */
export type AddSite = (
  app: FastifyInstance,
  parts: { pool: Pool; publicFiles: PublicFiles | undefined; whileOn: () => Promise<unknown> },
) => void;

interface ReportServiceParts {
  pool: Pool;
  storage: Storage;
  /** Absent if this process serves no bulk files. */
  publicFiles?: PublicFiles | undefined;
  /** Absent if this process serves no pages. */
  addSite?: AddSite | undefined;
  trustedIps?: string[] | undefined;
  logger: FastifyBaseLogger;
}

/** Creates the service and its metrics. The caller closes the pool and the storage. */
export function createReportService({
  pool,
  storage: plainStorage,
  publicFiles,
  addSite,
  trustedIps = [],
  logger,
}: ReportServiceParts): { app: FastifyInstance; metrics: ReportMetrics } {
  const app = createQuietApp(logger, {
    routerOptions: { ignoreTrailingSlash: true },
    trustProxy: trustedIps.length > 0 && trustedIps,
    // Answers requests whose URL cannot be decoded.
    frameworkErrors: (_error, request, reply) => {
      reply.header("x-request-id", request.id);
      void sendError(reply, request.method === "GET" ? unknownPathError(request.raw.url) : methodNotAllowed);
    },
  });
  const checkParts = createReadinessCheck(
    { database: () => checkDatabase(pool), storage: () => storage.check() },
    app.log,
  );
  const metrics = createReportMetrics({
    checkParts,
    countConnections: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
  });
  const storage = measureStorage(plainStorage, metrics);
  app.addHook("onResponse", async (request, reply) => {
    const route = request.routeOptions.url ?? "(none)";
    metrics.requests.inc({ route, status: reply.statusCode });
    metrics.requestSeconds.observe({ route }, reply.elapsedTime / 1000);
  });

  // No route reads a body, so bodies of every content type are accepted and discarded.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, body, done) => {
    body.resume();
    done(null);
  });
  // Allows HEAD and OPTIONS only if the route does, because programs that preview a link must not redeem its token.
  app.addHook("onRequest", async (request, reply) => {
    reply.headers(securityHeaders).header("x-request-id", request.id);
    const isKnown = ["HEAD", "OPTIONS"].includes(request.method) && request.routeOptions.url !== undefined;
    if (request.method !== "GET" && !isKnown) return sendError(reply, methodNotAllowed);
  });
  app.setNotFoundHandler((request, reply) => sendError(reply, unknownPathError(request.raw.url)));
  app.setErrorHandler((err, request, reply) => {
    if (err instanceof NotServing) return sendError(reply, notServing[err.reason]);
    if (err instanceof FilesNotLive) {
      request.log.warn({ err }, "the bulk files are not those of the live data set");
      return sendError(reply, filesNotLive);
    }
    if (err instanceof StorageUnavailable || err instanceof DatabaseUnavailable) {
      request.log.error({ err }, "storage or the database is unavailable");
      return sendError(reply, makeUnavailable());
    }
    request.log.error({ err }, "unexpected error");
    return sendError(reply, failed);
  });

  serveDownloads(app, { pool, storage, metrics });
  servePublicReports(app, { pool, storage, metrics });
  const whileOn = requireService(pool);
  const limit = limitDownloads();
  const liveFiles = publicFiles && requireLive(publicFiles, whileOn);
  if (liveFiles !== undefined) servePublicData(app, liveFiles, [limit]);
  storage.addRoutes(app, [limit, whileOn]);
  addSite?.(app, { pool, publicFiles: liveFiles, whileOn });
  // `/healthz`: the process is running. `/readyz`: it can redeem tokens now.
  app.get("/healthz", async () => ({ status: "ok" }));
  app.get("/readyz", async (_request, reply) => {
    const states = await checkParts();
    const isReady = Object.values(states).every((state) => state === "ok");
    return isReady ? states : reply.code(503).header("retry-after", "5").send(states);
  });
  return { app, metrics };
}
