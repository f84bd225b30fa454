import { type FastifyBaseLogger, type FastifyInstance, fastify } from "fastify";
import type { Pool } from "pg";
import {
  answerUnknown,
  failed,
  methodNotAllowed,
  securityHeaders,
  sendAnswer,
  unavailable,
  uncertain,
} from "./answers.ts";
import { makePartsCheck } from "./check-parts.ts";
import { checkDatabase, DatabaseUnavailable } from "./database.ts";
import { createReportMetrics, measureStorage, type ReportMetrics } from "./metrics.ts";
import type { PublicFiles } from "./public-files.ts";
import { addQuietLogging, quietServerOptions } from "./quiet-logging.ts";
import { RedemptionUncertain } from "./redeem-token.ts";
import { serveDownloads } from "./serve-downloads.ts";
import { servePublicData } from "./serve-public-data.ts";
import { servePublicReports } from "./serve-public-reports.ts";
import { type Storage, StorageUnavailable } from "./storage.ts";

/** Adds routes to the app. They use its connection pool and read which bulk files there are. */
export type AddSite = (
  app: FastifyInstance,
  parts: { pool: Pool; publicFiles: PublicFiles | undefined },
) => void;

export interface ReportServiceParts {
  pool: Pool;
  storage: Storage;
  /** The bulk files, if they are served here. */
  publicFiles?: PublicFiles | undefined;
  /** Adds the pages for people, if the same process serves them. */
  addSite?: AddSite | undefined;
  /** Addresses, or ranges of them, whose X-Forwarded-For is believed. */
  trustedIps?: string[] | undefined;
  logger: FastifyBaseLogger;
}

/**
 * Makes the service that redeems a one-time token for a redirect to the file, and its metrics. Neither the pool nor
 * the storage is closed with it.
 */
export function createReportService({
  pool,
  storage: plainStorage,
  publicFiles,
  addSite,
  trustedIps = [],
  logger,
}: ReportServiceParts): { app: FastifyInstance; metrics: ReportMetrics } {
  const app = fastify({
    ...quietServerOptions(logger),
    exposeHeadRoutes: false,
    trustProxy: trustedIps.length > 0 && trustedIps,
    requestTimeout: 10_000,
    // A target that cannot be decoded.
    frameworkErrors: (_error, request, reply) => {
      reply.header("x-request-id", request.id);
      void sendAnswer(reply, request.method === "GET" ? answerUnknown(request.raw.url) : methodNotAllowed);
    },
  });
  addQuietLogging(app);
  const checkParts = makePartsCheck(
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

  // Nothing here has a use for a body, whatever it is called.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, body, done) => {
    body.resume();
    done(null);
  });
  // HEAD and OPTIONS only where a route says so: a token must survive whatever previews a link.
  app.addHook("onRequest", async (request, reply) => {
    reply.headers(securityHeaders).header("x-request-id", request.id);
    const isKnown = ["HEAD", "OPTIONS"].includes(request.method) && request.routeOptions.url !== undefined;
    if (request.method !== "GET" && !isKnown) return sendAnswer(reply, methodNotAllowed);
  });
  app.setNotFoundHandler((request, reply) => sendAnswer(reply, answerUnknown(request.raw.url)));
  app.setErrorHandler((error, request, reply) => {
    if (error instanceof StorageUnavailable || error instanceof DatabaseUnavailable) {
      request.log.error({ err: error }, "a token could not be redeemed");
      return sendAnswer(reply, error instanceof RedemptionUncertain ? uncertain : unavailable);
    }
    request.log.error({ err: error }, "unexpected error");
    return sendAnswer(reply, failed);
  });

  serveDownloads(app, { pool, storage, metrics });
  servePublicReports(app, { pool, storage, metrics });
  if (publicFiles !== undefined) servePublicData(app, publicFiles);
  addSite?.(app, { pool, publicFiles });
  // `/healthz`: the process runs. `/readyz`: it could redeem a token now.
  app.get("/healthz", async () => ({ status: "ok" }));
  app.get("/readyz", async (_request, reply) => {
    const states = await checkParts();
    const isReady = Object.values(states).every((state) => state === "ok");
    return isReady ? states : reply.code(503).header("retry-after", "5").send(states);
  });
  return { app, metrics };
}
