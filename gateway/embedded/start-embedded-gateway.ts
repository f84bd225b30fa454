import { once } from "node:events";
import { createServer, IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type Logger, pino } from "pino";
import { asJson, asMetrics, serveState } from "../../service/serve-state.ts";
import { readTrustedIps } from "./client-address.ts";
import { createConnectionPool } from "./forward-request.ts";
import { createGatewayMetrics } from "./metrics.ts";
import { handleRequest, type Outcome } from "./proxy.ts";
import { readConfig } from "./read-config.ts";

/** How long `close` waits for requests in flight. */
const CLOSE_GRACE_MS = 2000;
/** The limits and timeouts of gateway/kong.env. proxy.ts refuses requests without a Host header, as nginx does. */
const SERVER_OPTIONS = {
  maxHeaderSize: 131_072,
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  keepAliveTimeout: 75_000,
  connectionsCheckingInterval: 1000,
  requireHostHeader: false,
};
/** How long a connection may be idle: longer than read_timeout, because a client sends nothing while it waits. */
const SILENCE_MS = 75_000;
const MAX_CONNECTIONS = 8192;
/** nginx's status for a client that disconnected. */
const CLIENT_CLOSED = 499;

export interface EmbeddedGatewayOptions {
  host: string;
  /** 0 for any free port. */
  port: number;
  /** Port of /metrics and /status on 127.0.0.1. */
  metricsPort: number;
  /** The text of gateway/kong.yml. */
  config: string;
  /** Must contain POSTGREST_URL and GATEWAY_TOKEN. */
  env: Readonly<Record<string, string | undefined>>;
  /** Addresses or CIDRs of proxies whose `X-Forwarded-*` headers are trusted. */
  trustedIps?: readonly string[];
  logger?: Logger;
}

export interface EmbeddedGateway {
  url: string;
  metricsUrl: string;
  /** Refuses new requests, and ends those in progress after 2 s. */
  close(): Promise<void>;
}

/**
 * Starts the gateway that replaces Kong 3.9. It reads gateway/kong.yml and gives the same responses.
 * @throws Error if the configuration needs something that is not implemented, or if a port is taken
 */
export async function startEmbeddedGateway(options: EmbeddedGatewayOptions): Promise<EmbeddedGateway> {
  const { host, port, logger = pino() } = options;
  const { registry, requests, latency } = createGatewayMetrics();
  const config = await readConfig(options.config, options.env);
  const isTrusted = readTrustedIps(options.trustedIps ?? []);
  const context = { config, connections: createConnectionPool(), isTrusted };

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const startedAt = performance.now();
    const outcome = await handleRequest(context, request, response);
    const note = () => {
      const milliseconds = performance.now() - startedAt;
      logger.info(describeRequest(outcome, response, milliseconds), "request");
      if (outcome.route === undefined) return;
      const labels = { service: outcome.route.service.name, route: outcome.route.name };
      requests.inc({ ...labels, code: response.statusCode, source: outcome.source });
      latency.observe(labels, milliseconds);
    };
    if (response.writableFinished || response.destroyed) note();
    else response.once("close", note);
  };
  const proxy = createServer(SERVER_OPTIONS, serve);
  proxy.on("clientError", (error, socket: Socket) => refuseMalformed(error, socket, serve));
  proxy.setTimeout(SILENCE_MS);
  proxy.maxConnections = MAX_CONNECTIONS;
  proxy.listen({ host, port });
  await once(proxy, "listening");
  const close = async () => {
    const closed = once(proxy, "close");
    proxy.close();
    const idle = setInterval(() => proxy.closeIdleConnections(), 20);
    const last = setTimeout(() => proxy.closeAllConnections(), CLOSE_GRACE_MS);
    await closed;
    clearInterval(idle);
    clearTimeout(last);
    context.connections.destroy();
  };
  try {
    const metrics = await serveState({
      host: "127.0.0.1",
      port: options.metricsPort,
      portVariable: "--metrics-port",
      answers: { "/status": async () => asJson(true, {}), "/metrics": () => asMetrics(registry) },
    });
    const url = `http://${host.includes(":") ? `[${host}]` : host}:${(proxy.address() as AddressInfo).port}`;
    return {
      url,
      metricsUrl: metrics.url,
      close: async () => void (await Promise.all([close(), metrics.close()])),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The log line of a request. It never contains a key, a token or a query string. */
function describeRequest({ exchange, ...outcome }: Outcome, response: ServerResponse, milliseconds: number) {
  const { error } = outcome;
  const cause = error instanceof Error ? (error.cause ?? error) : undefined;
  return {
    request_id: outcome.requestId,
    kong_request_id: exchange.id,
    method: exchange.method,
    path: exchange.loggedPath ?? "-",
    status: response.writableFinished ? response.statusCode : CLIENT_CLOSED,
    durationMs: Math.round(milliseconds * 10) / 10,
    ...(cause instanceof Error ? { error: (cause as NodeJS.ErrnoException).code ?? cause.message } : {}),
  };
}

/** Answers 400 to a request that Node cannot parse. Disconnects a client that takes too long. */
function refuseMalformed(
  error: NodeJS.ErrnoException & { rawPacket?: Buffer },
  socket: Socket & { _httpMessage?: unknown },
  serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): void {
  const isUnderWay = socket._httpMessage !== undefined && socket._httpMessage !== null;
  if (!socket.writable || isUnderWay || !error.code?.startsWith("HPE_")) return void socket.destroy();
  const request = new IncomingMessage(socket);
  request.httpVersion = "1.1";
  request.method = error.rawPacket?.toString("latin1", 0, 5) === "HEAD " ? "HEAD" : "GET";
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once("finish", () => socket.end());
  void serve(request, response);
}
