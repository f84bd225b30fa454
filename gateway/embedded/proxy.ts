import { randomBytes } from "node:crypto";
import type { Agent, IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { text as readText } from "node:stream/consumers";
import type { RateLimiterMemory } from "rate-limiter-flexible";
import type { GatewayConfig } from "./build-config.ts";
import { findClientAddress, plainAddress, type TrustCheck } from "./client-address.ts";
import { type Answer, answerError, answerProxyError } from "./error-answers.ts";
import { ForwardError, forwardRequest, hasBodyOf } from "./forward-request.ts";
import {
  getHeader,
  getHeaders,
  type HeaderList,
  readRawHeaders,
  removeHeader,
  setHeader,
} from "./headers.ts";
import { buildUpstreamPath, matchRoute, type Route } from "./match-route.ts";
import type { GatewayMetrics } from "./metrics.ts";
import { escapePath, normalizePath } from "./normalize-path.ts";
import { PLUGINS } from "./plugins/index.ts";
import type { Exchange, PluginHandler } from "./plugins/plugin.ts";
import { holdsUtf8, refuseRequestLine, splitTarget } from "./request-target.ts";
import { sendResponse } from "./send-response.ts";
import { buildClientHeaders, buildUpstreamHeaders } from "./upstream-headers.ts";

/** What lives longer than a request. */
export interface ProxyContext {
  readonly config: GatewayConfig;
  /** GATEWAY_TOKEN of Kong's environment. */
  readonly gatewayToken: string | undefined;
  readonly counters: RateLimiterMemory;
  readonly connections: Agent;
  readonly isTrusted: TrustCheck;
  readonly gzip: boolean;
  readonly metrics: GatewayMetrics;
}

/** What became of a request, for the log and the metrics. */
export interface Outcome {
  /** Kong's own, which nobody chooses but the gateway. */
  kongRequestId: string;
  /** What the answer says in X-Request-Id, if correlation-id says anything there. */
  requestId?: string | undefined;
  route?: Route;
  source: "exit" | "service";
  consumer?: string;
  error?: unknown;
}

/** Serves one request under the configuration of this moment. Never rejects. */
export async function handleRequest(
  context: ProxyContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Outcome> {
  const { config } = context;
  const [path, query] = splitTarget(request.url ?? "/");
  const peerAddress = plainAddress(request.socket.remoteAddress ?? "");
  const exchange = createExchange(context, request, peerAddress, normalizePath(path), query);
  const outcome: Outcome = { kongRequestId: exchange.requestId, source: "exit" };
  let handlers: PluginHandler[] = [...config.globalPlugins.values()];
  const reply = async (
    answer: { status: number; headers: HeaderList; body: IncomingMessage | string },
    reason?: string,
  ) => {
    const { status, headers, body } = answer;
    if (typeof body === "string") setHeader(headers, "Content-Length", String(Buffer.byteLength(body)));
    for (const [name, value] of exchange.response) setHeader(headers, name, value);
    for (const handler of handlers) handler.filterHeaders?.(exchange, headers, status, outcome.source);
    setHeader(headers, "X-Kong-Request-Id", exchange.requestId);
    outcome.requestId = getHeader(headers, "x-request-id");
    const content = typeof body === "string" ? body : rewriteBody(body, status, headers, handlers);
    await sendResponse(request, response, { status, reason, headers, body: content }, context.gzip);
  };

  try {
    const early = refuseRequestLine(exchange, request.url ?? "");
    const normalized = exchange.path;
    // Kong's router knows no path that is not UTF-8.
    const route =
      early || !holdsUtf8(normalized) ? undefined : matchRoute(config.routes, exchange.method, normalized);
    if (!route) {
      await reply(early ?? answerNoRoute(exchange, config.routes.length > 0));
      return outcome;
    }
    outcome.route = route;
    const result = await runPlugins(route, exchange);
    handlers = result.handlers;
    const consumer = exchange.identity?.consumer;
    if (consumer) outcome.consumer = consumer.customId ?? consumer.name;
    if (result.answer) {
      await reply(result.answer);
      return outcome;
    }
    const { isTrusted } = context;
    const { requestId, clientAddress } = exchange;
    const hop = { requestId, route, path, peerAddress, clientAddress, isTrusted };
    const mark = exchange.query !== "" || request.url?.endsWith("?") ? `?${exchange.query}` : "";
    const upstreamResponse = await forwardRequest(
      request,
      response,
      {
        upstream: route.upstream,
        method: exchange.method,
        path: escapePath(buildUpstreamPath(route, normalized)) + mark,
        headers: buildUpstreamHeaders(request, [...exchange.request], hop, exchange.body),
        body: exchange.body,
      },
      context.connections,
    );
    outcome.source = "service";
    const back = buildClientHeaders(readRawHeaders(upstreamResponse.rawHeaders));
    const status = upstreamResponse.statusCode ?? 502;
    await reply({ status, headers: back, body: upstreamResponse }, upstreamResponse.statusMessage);
  } catch (error) {
    outcome.error = error;
    if (response.headersSent || response.destroyed) response.destroy();
    else await reply(describeFailure(exchange, error)).catch(() => response.destroy());
  }
  return outcome;
}

/** Holds the body back until it is whole, if a plugin changes it. It then goes out with no length, as in Kong. */
function rewriteBody(
  body: IncomingMessage,
  status: number,
  headers: HeaderList,
  handlers: PluginHandler[],
): Readable {
  const rewrites = handlers.flatMap((handler) => handler.rewriteBody?.(status) ?? []);
  if (rewrites.length === 0) return body;
  removeHeader(headers, "content-length");
  return Readable.from(
    (async function* () {
      let text = await readText(body);
      for (const rewrite of rewrites) text = rewrite(text);
      if (text !== "") yield text;
    })(),
  );
}

function createExchange(
  context: ProxyContext,
  request: IncomingMessage,
  peerAddress: string,
  path: string,
  query: string,
): Exchange {
  const headers = readRawHeaders(request.rawHeaders);
  const forwardedFor = getHeaders(headers, "x-forwarded-for");
  const exchange: Exchange = {
    requestId: randomBytes(16).toString("hex"),
    method: request.method ?? "",
    clientAddress: findClientAddress(peerAddress, forwardedFor, context.isTrusted),
    path,
    query,
    request: headers,
    response: [],
    credentials: context.config.credentials,
    counters: context.counters,
    gatewayToken: context.gatewayToken,
    identity: undefined,
    body: undefined,
    readBody: async (limit) => {
      if (!hasBodyOf(request)) return Buffer.alloc(0);
      exchange.body = await readUpTo(request, limit);
      return exchange.body;
    },
  };
  return exchange;
}

/** The whole body, or nothing once it is longer than `limit` bytes; the rest is then thrown away as it comes. */
async function readUpTo(request: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  return await new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else resolve(undefined);
    });
    request.once("end", () => resolve(Buffer.concat(chunks)));
    request.once("close", () => reject(new Error("the client went away")));
  });
}

/**
 * Runs the plugins of a route in Kong's order. Once a consumer is known, its own plugin replaces the route's
 * of that name. After an answer the rest is not run, but still sees the headers that go out.
 */
async function runPlugins(route: Route, exchange: Exchange) {
  const handlers: PluginHandler[] = [];
  let answer: Answer | undefined;
  for (const { name } of PLUGINS) {
    const handler = exchange.identity?.consumer.plugins.get(name) ?? route.plugins.get(name);
    if (!handler) continue;
    handlers.push(handler);
    answer ??= await handler.access?.(exchange);
  }
  return { handlers, answer };
}

function describeFailure(exchange: Exchange, error: unknown): Answer {
  if (!(error instanceof ForwardError)) {
    return answerProxyError(exchange, 500, "An unexpected error occurred");
  }
  if (error.status === 503) return answerError(exchange, 503, error.message);
  return answerProxyError(exchange, error.status, error.message);
}

/**
 * As Kong, but for one without any route: it waits for the sync, and 404 would say that there is no such report.
 */
function answerNoRoute(exchange: Parameters<typeof answerError>[0], hasRoutes: boolean) {
  if (hasRoutes) return answerError(exchange, 404, "no Route matched with those values");
  return answerError(exchange, 503, "The gateway waits for its configuration", [["Retry-After", "1"]]);
}
