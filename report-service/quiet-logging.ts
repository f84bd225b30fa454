import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { type FastifyBaseLogger, type FastifyInstance, LogController } from "fastify";
import { type Logger, pino } from "pino";

/** What is logged of an error: never what a library attached to it, such as the request with its address. */
function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: "not an error", type: typeof error };
  const { code } = error as NodeJS.ErrnoException;
  return {
    type: error.name,
    message: error.message,
    stack: error.stack,
    ...(code === undefined ? {} : { code }),
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}

const serializers = { err: describeError, error: describeError, req: () => undefined, res: () => undefined };

/** Makes a logger that writes JSON lines to standard output. */
export function createLogger({ name, level = "info" }: { name: string; level?: string }): Logger {
  return pino({ base: { name }, level, serializers });
}

/** Fastify options under which no address, header or raw request reaches the log. Goes with addQuietLogging. */
export function quietServerOptions(logger: FastifyBaseLogger) {
  return {
    loggerInstance: logger.child({}, { serializers }),
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "request_id" }),
    requestIdHeader: false,
    genReqId: chooseRequestId,
    // Fastify's own handler logs the bytes that could not be parsed.
    clientErrorHandler: refuseUnreadableRequest,
    // Requests that arrive on open connections while the server drains are still answered.
    return503OnClosing: false,
  } as const;
}

/** Logs a line for each answer: which route it was, not which address. */
export function addQuietLogging(app: FastifyInstance): void {
  app.addHook("onResponse", async (request, reply) => {
    request.log.info(
      {
        method: request.method,
        route: request.routeOptions.url ?? "(none)",
        status: reply.statusCode,
        milliseconds: Math.round(reply.elapsedTime),
      },
      "answered",
    );
  });
}

/**
 * Keeps the request's own X-Request-Id, unless it is malformed, repeats a part of the URL or could hold a key.
 * db/api/request/decide.sql has the same rule.
 */
function chooseRequestId({ headers, url = "" }: IncomingMessage): string {
  const sent = headers["x-request-id"];
  const isSane = typeof sent === "string" && /^(?!.*[A-Za-z0-9]{40})[\w.:-]{1,63}$/.test(sent);
  return isSane && !url.toLowerCase().includes(sent.toLowerCase()) ? sent : randomUUID();
}

function refuseUnreadableRequest(_error: Error, socket: Socket): void {
  if (socket.writable)
    socket.write("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  socket.destroy();
}
