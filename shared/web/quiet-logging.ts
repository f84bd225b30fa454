import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyServerOptions,
  fastify,
  LogController,
} from "fastify";
import { type Logger, pino } from "pino";

/** Describes an error without what libraries attach to it, such as the request and its URL. */
function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: "not an error", type: typeof error };
  const { name: type, message, stack, code, cause } = error as NodeJS.ErrnoException;
  return { type, message, stack, code, ...(cause !== undefined && { cause: describeError(cause) }) };
}

const serializers = { err: describeError, error: describeError, req: () => undefined, res: () => undefined };

/** Creates a logger that writes JSON lines to standard output. */
export function createLogger({ name, level = "info" }: { name: string; level?: string }): Logger {
  return pino({ base: { name }, level, serializers });
}

/** Creates an app that logs a line for each response: the route, never a URL, a header or the raw request. */
export function createQuietApp(logger: FastifyBaseLogger, options: FastifyServerOptions): FastifyInstance {
  const app: FastifyInstance = fastify({
    ...options,
    loggerInstance: logger.child({}, { serializers }),
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "request_id" }),
    requestIdHeader: false,
    genReqId: () => randomUUID(),
    exposeHeadRoutes: false,
    requestTimeout: 10_000,
    // Closes idle connections, such as those of clients that have stopped reading a download.
    connectionTimeout: 60_000,
    // Fastify's own handler logs the bytes that it could not parse.
    clientErrorHandler: refuseUnreadableRequest,
    // While the server drains, requests on open connections are still answered.
    return503OnClosing: false,
  });
  app.addHook("onResponse", async (request, reply) => {
    const { method, routeOptions } = request;
    const route = routeOptions.url ?? "(none)";
    const milliseconds = Math.round(reply.elapsedTime);
    request.log.info({ method, route, status: reply.statusCode, milliseconds }, "answered");
  });
  return app;
}

function refuseUnreadableRequest(_error: Error, socket: Socket): void {
  if (socket.writable)
    socket.write("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  socket.destroy();
}
