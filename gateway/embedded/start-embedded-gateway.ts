import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type Logger, pino } from "pino";
import { RateLimiterMemory } from "rate-limiter-flexible";
import { handleAdminRequest } from "./admin.ts";
import { readTrustedIps } from "./client-address.ts";
import { loadDocument } from "./declarative-config.ts";
import { openEntityFile } from "./entity-file.ts";
import { createEntityStore, type EntityStore } from "./entity-store.ts";
import { createConnectionPool } from "./forward-request.ts";
import { logRequest } from "./log-request.ts";
import { createGatewayMetrics } from "./metrics.ts";
import { handleRequest, type Outcome, type ProxyContext } from "./proxy.ts";

/** How long `close` waits for requests in flight. */
const CLOSE_GRACE_MS = 2000;
/**
 * Four buffers of 32 KB for the head, and times and numbers as scripts/stack/kong.ts has them for Kong; a request with its
 * body has as long as two of Kong's reads of it.
 */
const SERVER_OPTIONS = {
  maxHeaderSize: 131_072,
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  keepAliveTimeout: 75_000,
  connectionsCheckingInterval: 1000,
};
/** Longer than any upstream may take, since a client that waits for its answer is silent, too. */
const SILENCE_MS = 75_000;
const MAX_CONNECTIONS = 8192;

export interface Listener {
  host: string;
  /** 0 takes any free port. */
  port: number;
}

export interface EmbeddedGatewayOptions {
  proxy: Listener;
  /** Loopback only: whoever reaches it and has the token decides what every key may do. */
  admin?: Listener & { token: string };
  /** A declarative document of Kong to begin with; without one every request gets 404. */
  document?: unknown;
  /** Keeps what the Admin API is given over the end of this process. */
  entityFile?: string | undefined;
  /** What PostgREST knows the gateway by: GATEWAY_TOKEN of Kong's environment. */
  gatewayToken?: string | undefined;
  /** Addresses or CIDRs of hops whose `X-Forwarded-*` are believed. */
  trustedIps?: readonly string[];
  /** Compress JSON and CSV for clients that take it. On unless false. */
  gzip?: boolean;
  logger?: Logger;
}

export interface EmbeddedGateway {
  proxyUrl: string;
  adminUrl?: string;
  /** Takes no new requests, gives those in flight 2 s, then ends them. */
  close(): Promise<void>;
}

/**
 * Starts the stand-in for Kong 3.9: the same Admin API, with its database in memory and, if asked for, in a file, and
 * the same answers.
 * @throws ConfigError for a document with anything in it that is not implemented; the listener's own error
 * (such as EADDRINUSE) when it cannot listen.
 */
export async function startEmbeddedGateway(options: EmbeddedGatewayOptions): Promise<EmbeddedGateway> {
  if (options.admin && !/^(127\.\d+\.\d+\.\d+|::1|localhost)$/.test(options.admin.host)) {
    throw new Error(`admin host "${options.admin.host}": expected a loopback address such as 127.0.0.1`);
  }
  const logger = options.logger ?? pino();
  const { entityFile } = options;
  const kept = entityFile === undefined ? undefined : await openEntityFile(entityFile, logger);
  const store = kept?.store ?? createEntityStore();
  if (options.document !== undefined) loadDocument(options.document, store);
  const context: ProxyContext = {
    get config() {
      return store.config();
    },
    gatewayToken: options.gatewayToken,
    // The limits are those of each plugin; this only counts.
    counters: new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: 1 }),
    connections: createConnectionPool(),
    isTrusted: readTrustedIps(options.trustedIps ?? []),
    gzip: options.gzip ?? true,
    metrics: createGatewayMetrics(),
  };

  const proxy = createServer(SERVER_OPTIONS, async (request, response) => {
    const startedAt = performance.now();
    const outcome = await handleRequest(context, request, response);
    const note = () => {
      logRequest(logger, request, response, outcome, startedAt);
      countRequest(context, response, outcome, startedAt);
    };
    if (response.writableFinished || response.destroyed) note();
    else response.once("close", note);
  });
  proxy.on("clientError", refuseMalformed);
  proxy.setTimeout(SILENCE_MS);
  proxy.maxConnections = MAX_CONNECTIONS;
  const servers = [proxy];
  const admin = options.admin && createAdmin(context, store, options.admin.token, logger);
  try {
    await listen(proxy, options.proxy);
    if (admin && options.admin) {
      servers.push(admin);
      await listen(admin, options.admin);
    }
  } catch (error) {
    await Promise.all(servers.filter((server) => server.listening).map(closeServer));
    throw error;
  }
  return {
    proxyUrl: urlOf(proxy),
    ...(admin ? { adminUrl: urlOf(admin) } : {}),
    async close() {
      await Promise.all(servers.map(closeServer));
      await kept?.close();
      context.connections.destroy();
    },
  };
}

function countRequest(
  { metrics }: ProxyContext,
  response: ServerResponse,
  { route, source }: Outcome,
  startedAt: number,
): void {
  if (route === undefined) return;
  const labels = { service: route.service, route: route.name };
  metrics.requests.inc({ ...labels, code: response.statusCode, source });
  metrics.latency.observe(labels, performance.now() - startedAt);
}

function createAdmin({ metrics }: ProxyContext, store: EntityStore, token: string, logger: Logger): Server {
  const context = { metrics, store, token };
  const listener: RequestListener = (request, response) => {
    handleAdminRequest(context, request, response).catch((error: unknown) => {
      logger.error({ err: error }, "admin request failed");
      response.destroy();
    });
  };
  return createServer(listener);
}

function listen(server: Server, { host, port }: Listener): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const idle = setInterval(() => server.closeIdleConnections(), 20);
  const last = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
  await closed;
  clearInterval(idle);
  clearTimeout(last);
}

function urlOf(server: Server): string {
  const { address, port, family } = server.address() as AddressInfo;
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

/** What cannot be parsed has no request to answer; the connection ends with nginx's status, and no body: it may be a HEAD. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable) return;
  const status = error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? "408 Request Timeout" : "400 Bad Request";
  socket.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
}
