import { randomUUID } from "node:crypto";
import type { Agent, IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { buildUpstreamRequest, removeHopByHop } from "./build-upstream-request.ts";
import { findClientAddress, normalizeAddress, type TrustCheck } from "./client-address.ts";
import { ForwardError, forwardRequest } from "./forward-request.ts";
import { getHeader, type Headers, readHeaders, setHeader } from "./headers.ts";
import { normalizePath } from "./normalize-path.ts";
import type { Exchange, Plugin, Source } from "./plugin.ts";
import type { GatewayConfig, Route } from "./read-config.ts";
import { matchRoute } from "./route.ts";
import { sendResponse } from "./send-response.ts";

/** nginx's `large_client_header_buffers`: the longest request line in bytes. */
const MAX_REQUEST_LINE = 32_768;
/** `client_max_body_size` of gateway/kong.env, in bytes. */
const MAX_BODY = 16_384;
/** Headers that nginx refuses if they are sent twice. */
const UNIQUE_HEADERS = [
  ...["host", "authorization", "content-length", "content-range", "expect", "transfer-encoding"],
  ...["if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since"],
];

/** State that all requests share. */
interface ProxyContext {
  readonly config: GatewayConfig;
  readonly connections: Agent;
  readonly isTrusted: TrustCheck;
}

/** The result of a request, for the log and the metrics. */
export interface Outcome {
  exchange: Exchange;
  /** The response's X-Request-Id. */
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
    const filtered = await filterAnswer(plugins, exchange, { status, headers, source: outcome.source }, body);
    outcome.requestId = getHeader(headers, "x-request-id");
    await sendResponse(request, response, { status, reason, headers, body: filtered });
    return outcome;
  };

  try {
    const refused = refuseLikeNginx(exchange, request);
    if (refused !== undefined) return await reply(refused, new Map(), "");
    for (const plugin of plugins) plugin.rewrite?.(exchange);
    const route = matchRoute(context.config.routes, exchange.path, exchange.headers);
    outcome.source = "exit";
    if (!route) return await reply(404, new Map(), "");
    outcome.route = route;
    plugins = route.plugins;
    for (const plugin of plugins) {
      const answer = plugin.access?.(exchange);
      if (answer) return await reply(answer.status, answer.headers ?? new Map(), answer.body ?? "");
    }
    outcome.source = "error";
    const body = await readBody(request);
    if (body === undefined) return await reply(413, new Map(), "");
    const options = buildUpstreamRequest(exchange, request, body, route.service, context.isTrusted);
    const agent = context.connections;
    const upstream = await forwardRequest(response, route.service, { ...options, agent }, body);
    outcome.source = "service";
    const headers = removeHopByHop(readHeaders(upstream.rawHeaders));
    return await reply(upstream.statusCode ?? 502, headers, upstream, upstream.statusMessage);
  } catch (error) {
    Object.assign(outcome, { error, source: "error" });
    const status = error instanceof ForwardError ? error.status : 500;
    if (response.headersSent || response.destroyed) response.destroy();
    else await reply(status, new Map(), "").catch(() => void response.writeHead(500).end());
  } finally {
    for (const plugin of plugins) plugin.forget?.(exchange);
  }
  return outcome;
}

/** Runs the plugins' response phases, which change the headers. Returns the body. */
async function filterAnswer(
  plugins: Plugin[],
  exchange: Exchange,
  answer: { status: number; headers: Headers; source: Source },
  body: Readable | string,
): Promise<Readable | string> {
  for (const [name, header] of exchange.answerHeaders) answer.headers.set(name, header);
  const held = plugins.filter((plugin) => plugin.filterHeaders?.(exchange, answer));
  setHeader(answer.headers, "X-Kong-Request-Id", exchange.id);
  if (held.length === 0) return body;
  const whole = typeof body === "string" ? body : (await buffer(body)).toString("latin1");
  return held.reduce((text, plugin) => plugin.filterBody?.(exchange, text) ?? text, whole);
}

function createExchange(context: ProxyContext, request: IncomingMessage): Exchange {
  const headers = readHeaders(request.rawHeaders);
  // nginx's variables do not distinguish a_header from a-header, so nginx drops such names.
  for (const name of headers.keys()) if (!/^[a-z0-9-]+$/.test(name)) headers.delete(name);
  const target = (request.url ?? "").replace(/^https?:\/\/[^/?]*/i, "");
  const [, rawPath = "", query = ""] = /^([^?]*)\??(.*)$/s.exec(target) ?? [];
  const peer = normalizeAddress(request.socket.remoteAddress ?? "");
  return {
    id: randomUUID().replaceAll("-", ""),
    method: request.method ?? "",
    path: normalizePath(rawPath || "/") ?? "",
    rawPath: rawPath || "/",
    query,
    address: findClientAddress(peer, headers.get("x-forwarded-for")?.values ?? [], context.isTrusted),
    headers,
    answerHeaders: new Map(),
  };
}

/** Returns the status with which nginx refuses a request before Kong routes it, or undefined if nginx accepts it. */
function refuseLikeNginx({ method, path, headers }: Exchange, { url = "", httpVersion }: IncomingMessage) {
  const isTooLong = method.length + url.length + " HTTP/1.1\r\n".length + 1 > MAX_REQUEST_LINE;
  if (!isTooLong && method === "TRACE") return 405;
  const isTooLarge = Number(getHeader(headers, "content-length") ?? 0) > MAX_BODY;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for control characters
  const isMalformed = path === "" || /[\x00-\x20\x7f]/.test(url);
  const hasDuplicate = UNIQUE_HEADERS.some((name) => (headers.get(name)?.values.length ?? 0) > 1);
  const isWithoutHost = httpVersion === "1.1" && !headers.has("host");
  if (!isTooLong && !isMalformed && !hasDuplicate && !isWithoutHost) return isTooLarge ? 413 : undefined;
  // Kong's plugins do not see the headers of such a request.
  headers.clear();
  return isTooLong ? 414 : 400;
}

/** Reads the whole body. Returns undefined if it is too long, and discards the rest. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const { "content-length": length, "transfer-encoding": encoding } = request.headers;
  if (!length && !encoding) return Buffer.alloc(0);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += chunk.length;
    if (size > MAX_BODY) return void request.resume();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
