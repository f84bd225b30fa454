import { randomUUID } from "node:crypto";
import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyServerOptions,
  fastify,
  LogController,
} from "fastify";
import { type Logger, pino } from "pino";
import { makeError } from "./error-responses.ts";

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
  const latest = new WeakMap<Socket, ServerResponse>();
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
    clientErrorHandler: (error, socket) => {
      const response = latest.get(socket);
      const refuse = () => refuseUnreadableRequest(error, socket);
      // Bytes that follow a request are refused after its response.
      if (response?.req.complete && !response.closed) response.once("close", refuse);
      else refuse();
    },
    // While the server drains, requests on open connections are still answered.
    return503OnClosing: false,
  });
  app.server.prependListener("request", (_request, response) => latest.set(response.req.socket, response));
  app.addHook("onResponse", async (request, reply) => {
    const { method, routeOptions } = request;
    const route = routeOptions.url ?? "(none)";
    const milliseconds = Math.round(reply.elapsedTime);
    request.log.info({ method, route, status: reply.statusCode, milliseconds }, "answered");
  });
  return app;
}

interface UnreadableRequest {
  code: string;
  /** A Buffer. Fastify's type is another. */
  rawPacket: unknown;
}

function refuseUnreadableRequest({ code, rawPacket }: UnreadableRequest, socket: Socket): void {
  const { status, body } = code === "HPE_HEADER_OVERFLOW" ? tooLong : unreadable;
  const isHead = String(rawPacket).startsWith("HEAD ");
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(text)}`,
    "Connection: close",
  ];
  if (socket.writable) socket.write(`${head.join("\r\n")}\r\n\r\n${isHead ? "" : text}`);
  socket.destroySoon();
}

const tooLong = makeError(431, "request_too_long", {
  message: "The address and the headers of the request are longer than 16 KB.",
  hint: "Shorten the address. Long lists can be pasted on the page /check.",
});

const unreadable = makeError(400, "bad_request", { message: "The request is not valid HTTP." });
