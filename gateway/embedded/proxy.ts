import { isUtf8 } from "node:buffer";
import { randomBytes } from "node:crypto";
import type { Agent, IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { findClientAddress, plainAddress, type TrustCheck } from "./client-address.ts";
import { ForwardError, forwardRequest, hasBodyOf } from "./forward-request.ts";
import { getHeader, type Headers, readHeaders, setHeader } from "./headers.ts";
import { normalizePath } from "./normalize-path.ts";
import type { Exchange, Plugin, Source } from "./plugin.ts";
import type { GatewayConfig } from "./read-config.ts";
import { matchRoute, type Route } from "./route.ts";
import { sendResponse } from "./send-response.ts";
import { buildUpstreamHeaders, removeHopByHop } from "./upstream-headers.ts";

/** nginx's `large_client_header_buffers`: the longest request line in bytes. */
const MAX_REQUEST_LINE = 32_768;

/** What lives longer than a request. */
export interface ProxyContext {
  readonly config: GatewayConfig;
  readonly connections: Agent;
  readonly isTrusted: TrustCheck;
  readonly gzip: boolean;
}

/** What became of a request, for the log and the metrics. */
export interface Outcome {
  exchange: Exchange;
  /** What the answer says in X-Request-Id. */
  requestId?: string | undefined;
  route?: Route;
  source: Source;
  error?: unknown;
}

/** Serves one request. Never rejects. */
export async function handleRequest(
  context: ProxyContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Outcome> {
  const exchange = createExchange(context, request);
  const outcome: Outcome = { exchange, source: "error" };
  let { plugins } = context.config;
  const reply = async (status: number, headers: Headers, body: Readable | string, reason?: string) => {
    const held: Plugin[] = [];
    for (const [name, header] of exchange.answerHeaders) headers.set(name, header);
    for (const plugin of plugins) {
      if (plugin.filterHeaders?.(exchange, { status, headers, source: outcome.source })) held.push(plugin);
    }
    setHeader(headers, "X-Kong-Request-Id", exchange.id);
    outcome.requestId = getHeader(headers, "x-request-id");
    let content = body;
    if (held.length > 0) {
      const whole = typeof body === "string" ? body : (await buffer(body)).toString("latin1");
      content = held.reduce((text, plugin) => plugin.filterBody?.(exchange, text) ?? text, whole);
    }
    // As in Kong, a body that was held back goes out in chunks.
    if (typeof content === "string" && (held.length === 0 || content === "")) {
      setHeader(headers, "Content-Length", content.length);
    }
    await sendResponse(request, response, { status, reason, headers, body: content }, context.gzip);
  };

  try {
    const refused = refuseRequestLine(request);
    if (refused !== undefined) {
      await reply(refused, new Map(), "");
      return outcome;
    }
    for (const plugin of plugins) plugin.rewrite?.(exchange);
    const route = matchRoute(context.config.routes, exchange.path, exchange.headers);
    // Kong's router knows no path that is not UTF-8.
    if (!route || !isUtf8(Buffer.from(exchange.path, "latin1"))) {
      outcome.source = "exit";
      await reply(404, new Map(), "");
      return outcome;
    }
    outcome.route = route;
    plugins = route.plugins;
    for (const plugin of plugins) {
      const answer = await plugin.access?.(exchange);
      if (!answer) continue;
      outcome.source = "exit";
      await reply(answer.status, answer.headers ?? new Map(), answer.body ?? "");
      return outcome;
    }
    const headers = buildUpstreamHeaders(exchange, request, route, context.isTrusted);
    const upstream = await forwardRequest(request, response, exchange, headers, route, context.connections);
    outcome.source = "service";
    const back = removeHopByHop(readHeaders(upstream.rawHeaders));
    await reply(upstream.statusCode ?? 502, back, upstream, upstream.statusMessage);
  } catch (error) {
    outcome.error = error;
    outcome.source = "error";
    const status = error instanceof ForwardError ? error.status : 500;
    if (response.headersSent || response.destroyed) response.destroy();
    else await reply(status, new Map(), "").catch(() => void response.writeHead(500).end());
  } finally {
    for (const plugin of plugins) plugin.forget?.(exchange);
  }
  return outcome;
}

function createExchange(context: ProxyContext, request: IncomingMessage): Exchange {
  const headers = readHeaders(request.rawHeaders);
  // nginx's variables do not tell a_header from a-header, so it drops such names.
  for (const name of headers.keys()) if (!/^[a-z0-9-]+$/.test(name)) headers.delete(name);
  const target = (request.url ?? "").replace(/^https?:\/\/[^/?]*/i, "");
  const [rawPath = "", ...query] = target.split("?");
  const peer = plainAddress(request.socket.remoteAddress ?? "");
  const exchange: Exchange = {
    id: randomBytes(16).toString("hex"),
    method: request.method ?? "",
    path: normalizePath(rawPath || "/"),
    rawPath: rawPath || "/",
    query: query.join("?"),
    address: findClientAddress(peer, headers.get("x-forwarded-for")?.values ?? [], context.isTrusted),
    headers,
    answerHeaders: new Map(),
    body: undefined,
    async readBody(limit) {
      if (!hasBodyOf(request)) return Buffer.alloc(0);
      exchange.body = await readUpTo(request, limit);
      return exchange.body;
    },
  };
  return exchange;
}

/** The status of what nginx refuses before Kong sees it: a long request line, or a target or host that it cannot read. */
function refuseRequestLine({
  method = "",
  url = "",
  httpVersion,
  rawHeaders,
}: IncomingMessage): number | undefined {
  if (method.length + url.length + " HTTP/1.1\r\n".length + 1 > MAX_REQUEST_LINE) return 414;
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && /^host$/i.test(name)).length;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  const isMalformed = /[\x00-\x20\x7f]/.test(url) || url === "*" || /^[^?]*%00/.test(url);
  return isMalformed || hosts > 1 || (hosts === 0 && httpVersion === "1.1") ? 400 : undefined;
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
