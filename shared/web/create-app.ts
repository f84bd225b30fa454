import type { FastifyBaseLogger, FastifyInstance, onRequestHookHandler } from "fastify";
import type { Pool } from "pg";
import type { Registry } from "prom-client";
import { StorageUnavailable } from "./call-storage.ts";
import { DatabaseUnavailable, NotServing, requireService } from "./database.ts";
import {
  type ErrorResponse,
  ErrorWithResponse,
  failed,
  incomplete,
  lacksRight,
  makeUnavailable,
  methodNotAllowed,
  noSuchPage,
  securityHeaders,
  sendError,
} from "./error-responses.ts";
import { limitDownloads } from "./limit-downloads.ts";
import { createAppMetrics, createReadinessCheck, type PartStates } from "./metrics.ts";
import { createQuietApp } from "./quiet-logging.ts";
import { repairUrl } from "./repair-url.ts";

/** What routes need. */
interface AppParts {
  pool: Pool;
  /** Throws while the service is switched off or has no data set. Resolves to the ID of the live data set. */
  whileOn: () => Promise<string>;
  /** Refuses a download beyond the limits of a client IP and of this process. */
  limit: onRequestHookHandler;
}
export type AddRoutes = (app: FastifyInstance, parts: AppParts) => void;

interface AppOptions {
  pool: Pool;
  /** Checks of the parts without which this process cannot answer. */
  checks: Record<string, () => Promise<void>>;
  /** The response for a path without a route. */
  describeUnknownPath?: (target?: string) => ErrorResponse;
  trustedIps?: string[] | undefined;
  logger: FastifyBaseLogger;
}

/** Creates an app that answers GET, with errors as JSON, health checks and metrics. The caller adds routes, and closes the pool. */
export function createApp({
  pool,
  checks,
  describeUnknownPath = () => noSuchPage,
  trustedIps = [],
  logger,
}: AppOptions): { app: FastifyInstance; registry: Registry; parts: AppParts } {
  const app = createQuietApp(logger, {
    // Node.js already limits the length of a URL. For a longer parameter, the route's own page says that nothing was found.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 16_384 },
    rewriteUrl: ({ url = "/" }) => repairUrl(url),
    trustProxy: trustedIps.length > 0 && trustedIps,
  });
  const checkParts = createReadinessCheck(checks, app.log);
  const registry = countRequests(app, pool, checkParts);
  discardBodies(app);
  refuseOtherMethods(app);
  app.setNotFoundHandler((request, reply) => sendError(reply, describeUnknownPath(request.raw.url)));
  describeErrors(app);
  serveHealth(app, checkParts);
  return { app, registry, parts: { pool, whileOn: requireService(pool), limit: limitDownloads() } };
}

function countRequests(app: FastifyInstance, pool: Pool, checkParts: () => Promise<PartStates>): Registry {
  const metrics = createAppMetrics({
    checkParts,
    countConnections: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
  });
  app.addHook("onResponse", async (request, reply) => {
    const route = request.routeOptions.url ?? "(none)";
    metrics.requests.inc({ route, status: reply.statusCode });
    metrics.requestSeconds.observe({ route }, reply.elapsedTime / 1000);
  });
  return metrics.registry;
}

/** Bodies of every content type are accepted and discarded, unless a route adds a parser. */
function discardBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, body, done) => {
    body.resume();
    done(null);
  });
}

/** Allows HEAD, OPTIONS and POST only if the route does, because programs that preview a link must not redeem its token. */
function refuseOtherMethods(app: FastifyInstance): void {
  app.addHook("onRequest", async (request, reply) => {
    reply.headers(securityHeaders).header("x-request-id", request.id);
    const isKnown =
      ["HEAD", "OPTIONS", "POST"].includes(request.method) && request.routeOptions.url !== undefined;
    if (request.method !== "GET" && !isKnown) return sendError(reply, methodNotAllowed);
  });
}

function describeErrors(app: FastifyInstance): void {
  app.setErrorHandler((err, request, reply) => {
    if (isPermissionDenied(err)) {
      request.log.error({ err }, "the database role lacks a right: deploy again (npm run db:deploy)");
      return sendError(reply, lacksRight);
    }
    if (err instanceof ErrorWithResponse) {
      if (!(err instanceof NotServing)) request.log.warn({ err }, "refused");
      return sendError(reply, err.response);
    }
    if (err instanceof StorageUnavailable || err instanceof DatabaseUnavailable) {
      request.log.error({ err }, "storage or the database is unavailable");
      return sendError(reply, makeUnavailable());
    }
    if ((err as { code?: unknown }).code === "ECONNRESET" && !request.raw.complete) {
      request.log.info("the client left before it had sent its request");
      return sendError(reply, incomplete);
    }
    request.log.error({ err }, "unexpected error");
    return sendError(reply, failed);
  });
}

/** Whether PostgreSQL refused a statement, because a role lacks a right. */
const isPermissionDenied = (error: unknown): boolean =>
  error instanceof Error &&
  ((error as { code?: unknown }).code === "42501" || isPermissionDenied(error.cause));

/** `/healthz`: the process is running. `/readyz`: every part that it needs is ready. */
function serveHealth(app: FastifyInstance, checkParts: () => Promise<PartStates>): void {
  app.get("/healthz", async () => ({ status: "ok" }));
  app.get("/readyz", async (_request, reply) => {
    const states = await checkParts();
    const isReady = Object.values(states).every((state) => state === "ok");
    return isReady ? states : reply.code(503).header("retry-after", "5").send(states);
  });
}
