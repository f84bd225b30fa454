import { isUtf8 } from "node:buffer";
import { randomUUID } from "node:crypto";
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { Agent } from "undici";
import type { TrustCheck } from "./client-address.ts";
import { forwardRequest } from "./forward-request.ts";
import { getHeader, setHeaders } from "./headers.ts";
import type { BodyFilter, Exchange, Plugin, Reply } from "./plugin.ts";
import type { GatewayConfig } from "./read-config.ts";
import { findRefusal, readRequest } from "./read-request.ts";
import { Refusal } from "./refusal.ts";
import { sendReply } from "./send-reply.ts";
import { buildUpstreamRequest } from "./upstream-request.ts";

/** State that all requests share. */
export interface Gateway {
  readonly config: GatewayConfig;
  readonly connections: Agent;
  readonly isTrusted: TrustCheck;
}

/** The result of a request, for the log and the metrics. */
export interface Outcome {
  exchange: Exchange;
  source: Reply["source"];
  /** The response's X-Request-Id. */
  requestId?: string | undefined;
  /** Whether the request got as far as the route. */
  isRouted: boolean;
  error?: unknown;
}

/** Serves one request. Never rejects. */
export async function handleRequest(
  gateway: Gateway,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Outcome> {
  const { plugins } = gateway.config;
  const exchange = readRequest(request, response, gateway.isTrusted);
  const outcome: Outcome = { exchange, source: "error", isRouted: false };
  try {
    const reply = await findReply(gateway, request, outcome).catch((error: unknown) => {
      outcome.error = error;
      if (exchange.left.aborted) return createError(499);
      return createError(error instanceof Refusal ? error.status : 500);
    });
    const filters = filterResponse(plugins, exchange, reply);
    outcome.source = reply.source;
    outcome.requestId = getHeader(reply.headers, "x-request-id");
    await sendReply(request, response, reply, filters);
  } catch (error) {
    Object.assign(outcome, { error, source: "error" });
    if (response.headersSent) response.destroy();
    else response.writeHead(500).end();
  } finally {
    for (const plugin of plugins) plugin.finish?.(exchange);
  }
  return outcome;
}

/**
 * Refuses bytes that are not an HTTP request, with the body that the plugins write for the status. Closes the connection.
 *
 * @param method the request's method, if its headers could be read
 */
export function refuseUnreadable(
  { config: { plugins } }: Gateway,
  socket: Duplex,
  status: number,
  method = "",
): void {
  const none = new AbortController().signal;
  const exchange: Exchange = {
    ...{ id: randomUUID().replaceAll("-", ""), method, target: "", path: "/", rawPath: "/", query: "" },
    ...{ address: "", headers: new Map(), responseHeaders: new Map(), left: none },
    readBody: async () => Buffer.alloc(0),
  };
  const reply = createError(status);
  const filters = filterResponse(plugins, exchange, reply);
  const body = filters.reduce<Buffer>((bytes, filter) => filter(bytes, true), Buffer.alloc(0));
  for (const plugin of plugins) plugin.finish?.(exchange);
  setHeaders(reply.headers, { connection: "close", "content-length": body.length });
  const lines = [...reply.headers].flatMap(([name, values]) =>
    values.map((value) => `${name}: ${value}\r\n`),
  );
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n`;
  socket.end(Buffer.concat([Buffer.from(head, "latin1"), ...(method === "HEAD" ? [] : [body])]));
}

/** Finds the response: nginx's refusal, a plugin's response, or the upstream's. */
async function findReply(
  { config: { plugins, service }, connections }: Gateway,
  request: IncomingMessage,
  outcome: Outcome,
): Promise<Reply> {
  const { exchange } = outcome;
  const refusal = findRefusal(exchange, request);
  if (refusal !== undefined) return createError(refusal);
  for (const plugin of plugins) {
    const reply = plugin.rewrite?.(exchange);
    if (reply) return reply;
  }
  // Kong's router rejects paths that are not UTF-8.
  if (!isUtf8(Buffer.from(exchange.path, "latin1"))) return createError(404, "exit");
  outcome.isRouted = true;
  for (const plugin of plugins) {
    const reply = await plugin.access?.(exchange);
    if (reply) return reply;
  }
  const forwarded = buildUpstreamRequest(exchange, await exchange.readBody(), service.url);
  return await forwardRequest(connections, forwarded, service.retries, exchange.left);
}

const createError = (status: number, source: Reply["source"] = "error"): Reply => {
  return { source, status, headers: new Map(), body: Buffer.alloc(0) };
};

/** Runs the plugins' response phases, which change the headers. Returns the filters for the body. */
function filterResponse(plugins: Plugin[], exchange: Exchange, reply: Reply): BodyFilter[] {
  for (const [name, values] of exchange.responseHeaders) reply.headers.set(name, values);
  const filters = plugins.flatMap((plugin) => plugin.filterResponse?.(exchange, reply) ?? []);
  setHeaders(reply.headers, { "x-kong-request-id": exchange.id });
  return filters;
}
