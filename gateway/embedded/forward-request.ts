import { Readable } from "node:stream";
import { Agent, type Dispatcher } from "undici";
import type { Headers } from "./headers.ts";
import { longestUpstreamHeaders, repeatTimeout, upstreamIdleTimeout } from "./kong-env.ts";
import type { Reply } from "./plugin.ts";
import type { GatewayConfig } from "./read-config.ts";
import { Refusal } from "./refusal.ts";
import { removeHopByHop } from "./upstream-request.ts";

const REPEATABLE = new Set(["GET", "HEAD", "OPTIONS"]);
/** The request has not been sent. */
const NOT_CONNECTED = new Set(
  "ENOTFOUND EAI_AGAIN ECONNREFUSED EHOSTUNREACH UND_ERR_CONNECT_TIMEOUT".split(" "),
);

/** Keeps connections to upstreams open between requests. undici closes one that receives data between requests. */
export function createConnectionPool({ connect_timeout, read_timeout }: GatewayConfig["service"]): Agent {
  return new Agent({
    connect: { timeout: connect_timeout },
    headersTimeout: read_timeout,
    bodyTimeout: read_timeout,
    keepAliveTimeout: upstreamIdleTimeout,
    maxHeaderSize: longestUpstreamHeaders,
  });
}

/**
 * Sends a request and returns the response once its headers arrive. Sends it again up to `retries` times within a
 * second, if no connection was made or the method is safe. Stops if the client leaves.
 * @throws Refusal 503, or 504 after a timeout
 */
export async function forwardRequest(
  connections: Dispatcher,
  request: Dispatcher.RequestOptions,
  retries: number,
  left: AbortSignal,
): Promise<Reply> {
  const repeatUntil = performance.now() + repeatTimeout;
  for (let tries = retries; ; tries--) {
    try {
      return readResponse(await connections.request({ ...request, signal: left }));
    } catch (error) {
      const cause = error as NodeJS.ErrnoException;
      const mayRepeat = REPEATABLE.has(request.method) || NOT_CONNECTED.has(cause.code ?? "");
      const isOver = left.aborted || tries === 0 || performance.now() > repeatUntil;
      if (isOver || !mayRepeat) {
        const status = cause.code === "UND_ERR_HEADERS_TIMEOUT" ? 504 : 503;
        throw new Refusal(status, cause.message, { cause });
      }
    }
  }
}

function readResponse({ statusCode: status, headers: given, body }: Dispatcher.ResponseData): Reply {
  // undici has read the bytes as UTF-8.
  const asBytes = (value: string) => Buffer.from(value).toString("latin1");
  const headers: Headers = new Map();
  for (const [name, value = []] of Object.entries(given)) headers.set(name, [value].flat().map(asBytes));
  removeHopByHop(headers);
  // Tells nginx's cache how long to keep the response.
  headers.delete("x-accel-expires");
  // nginx drops all but the first. PostgREST sends two with some errors.
  headers.get("content-type")?.splice(1);
  // Keeps an error from ending the process if nothing reads the body, as after an error in a plugin.
  body.on("error", () => {});
  // A 304 may have a Content-Length, after which undici waits in vain for a body.
  return { source: "service", status, headers, body: status === 304 ? Readable.from([]) : body };
}
