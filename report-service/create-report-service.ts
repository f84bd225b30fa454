import { type FastifyBaseLogger, type FastifyInstance, fastify } from "fastify";
import type { Pool } from "pg";
import {
  failed,
  methodNotAllowed,
  notFound,
  securityHeaders,
  sendAnswer,
  tokenMissing,
  unavailable,
} from "./answers.ts";
import { checkDatabase, DatabaseUnavailable } from "./database.ts";
import type { PublicFiles } from "./public-files.ts";
import { addQuietLogging, quietServerOptions } from "./quiet-logging.ts";
import { redeemToken } from "./redeem-token.ts";
import { publicData, servePublicData } from "./serve-public-data.ts";
import { type Storage, StorageUnavailable } from "./storage.ts";

export interface ReportServiceParts {
  pool: Pool;
  storage: Storage;
  /** The bulk files, if they are served here. */
  publicFiles?: PublicFiles | undefined;
  logger: FastifyBaseLogger;
}

const downloads = "/dissemination/report/pdf/ota";
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Makes the service that redeems a one-time token for a redirect to the file. Neither the pool nor the storage
 * is closed with it.
 */
export function createReportService({
  pool,
  storage,
  publicFiles,
  logger,
}: ReportServiceParts): FastifyInstance {
  const app = fastify({
    ...quietServerOptions(logger),
    exposeHeadRoutes: false,
    requestTimeout: 10_000,
    // A target that cannot be decoded.
    frameworkErrors: (_error, request, reply) => {
      void sendAnswer(reply, request.method === "GET" ? notFound : methodNotAllowed);
    },
  });
  addQuietLogging(app);

  // HEAD included: a token must survive whatever previews a link.
  app.addHook("onRequest", async (request, reply) => {
    reply.headers(securityHeaders);
    const isHeadOfFile = request.method === "HEAD" && request.routeOptions.url === `${publicData}:name`;
    if (request.method !== "GET" && !isHeadOfFile) return sendAnswer(reply, methodNotAllowed);
  });
  app.setNotFoundHandler((_request, reply) => sendAnswer(reply, notFound));
  app.setErrorHandler((error, request, reply) => {
    if (error instanceof StorageUnavailable || error instanceof DatabaseUnavailable) {
      request.log.error({ err: error }, "a token could not be redeemed");
      return sendAnswer(reply, unavailable);
    }
    request.log.error({ err: error }, "unexpected error");
    return sendAnswer(reply, failed);
  });

  for (const path of [downloads, `${downloads}/`]) {
    app.get(path, (_request, reply) => sendAnswer(reply, tokenMissing));
  }
  app.get<{ Params: { token: string } }>(`${downloads}/:token`, async (request, reply) => {
    const { token } = request.params;
    const { socket } = request.raw;
    if (!uuid.test(token)) return sendAnswer(reply, notFound);
    const isClientWaiting = () => !socket.destroyed && socket.writable;
    const address = await redeemToken({ pool, storage }, token, isClientWaiting);
    return address === null ? sendAnswer(reply, notFound) : reply.redirect(address, 302);
  });

  if (publicFiles !== undefined) servePublicData(app, publicFiles);
  addHealth(app, { database: () => checkDatabase(pool), storage: () => storage.check() });
  return app;
}

/** `/healthz`: the process runs. `/readyz`: it could redeem a token now. */
function addHealth(app: FastifyInstance, checks: Record<string, () => Promise<void>>): void {
  let running: Promise<Record<string, string>> | undefined;
  const runChecks = async () =>
    Object.fromEntries(
      await Promise.all(
        Object.entries(checks).map(async ([name, check]) => {
          try {
            await check();
            return [name, "ok"];
          } catch (err) {
            app.log.warn({ err }, `not ready: ${name}`);
            return [name, "unavailable"];
          }
        }),
      ),
    );

  app.get("/healthz", async () => ({ status: "ok" }));
  app.get("/readyz", async (_request, reply) => {
    // However many ask, one look at a time.
    running ??= runChecks().finally(() => {
      running = undefined;
    });
    const states = await running;
    const isReady = Object.values(states).every((state) => state === "ok");
    return isReady ? states : reply.code(503).header("retry-after", "5").send(states);
  });
}
