import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { type Logger, pino } from "pino";
import { serveMetrics, serveState } from "../../shared/serve-state.ts";
import { readTrustedIps } from "./client-address.ts";
import { createConnectionPool } from "./forward-request.ts";
import { handleRequest, refuseUnreadable } from "./handle-request.ts";
import { headersTimeout, keepAliveTimeout, longestHeaders, mostConnections } from "./kong-env.ts";
import { createObserver } from "./observe-requests.ts";
import { readConfig } from "./read-config.ts";

/** How long `close` waits for requests in flight. */
const CLOSE_GRACE_MS = 2000;
const SERVER_OPTIONS = {
  maxHeaderSize: longestHeaders,
  // findRefusal answers with a body.
  requireHostHeader: false,
  headersTimeout,
  requestTimeout: 20_000,
  keepAliveTimeout,
  connectionsCheckingInterval: 1000,
};
/** How long a connection may be idle: longer than longest_wait and read_timeout together, because a client sends nothing while it waits. */
const SILENCE_MS = 90_000;

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
  const config = await readConfig(options.config, options.env);
  const isTrusted = readTrustedIps(options.trustedIps ?? []);
  const connections = createConnectionPool(config.service);
  const gateway = { config, connections, isTrusted };
  const { registry, observe } = createObserver(config, logger);

  const latest = new WeakMap<Duplex, ServerResponse<IncomingMessage>>();
  const serve = async (request: IncomingMessage, response: ServerResponse<IncomingMessage>) => {
    latest.set(request.socket, response);
    const startedAt = performance.now();
    const outcome = await handleRequest(gateway, request, response);
    const finish = () => observe(outcome, response, performance.now() - startedAt);
    if (response.writableFinished || response.destroyed) finish();
    else response.once("close", finish);
  };
  const proxy = createServer(SERVER_OPTIONS, serve);
  // Without a listener, Node answers 417 to any Expect other than 100-continue. nginx ignores it.
  proxy.on("checkExpectation", serve);
  proxy.on("clientError", (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket) => {
    const response = latest.get(socket);
    const isLast = response?.shouldKeepAlive === false;
    // These bytes follow a request, which gets its own response. Then the connection ends.
    if (response?.req.complete && (isLast || !response.writableFinished)) {
      response.shouldKeepAlive = false;
      return;
    }
    if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
    const status = error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400;
    // A request that could not be read to the end of its headers begins the packet.
    const unread = response?.req.complete === false ? response.req.method : undefined;
    const method = unread ?? error.rawPacket?.toString("latin1").match(/^[A-Z]+/)?.[0];
    refuseUnreadable(gateway, socket, status, method);
  });
  proxy.setTimeout(SILENCE_MS);
  proxy.maxConnections = mostConnections;
  proxy.listen({ host, port });
  await once(proxy, "listening");
  const close = async () => {
    await closeServer(proxy);
    await connections.destroy();
  };
  try {
    const address = { host: "127.0.0.1", port: options.metricsPort, portVariable: "--metrics-port" };
    const metrics = await serveState(address, (app) => {
      app.get("/status", async () => ({}));
      serveMetrics(app, registry);
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

async function closeServer(server: Server): Promise<void> {
  const closed = once(server, "close");
  server.close();
  const idle = setInterval(() => server.closeIdleConnections(), 20);
  const last = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
  await closed;
  clearInterval(idle);
  clearTimeout(last);
}
