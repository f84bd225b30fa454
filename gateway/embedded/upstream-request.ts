import type { IncomingMessage } from "node:http";
import type { Dispatcher } from "undici";
import { normalizeAddress, type TrustCheck } from "./client-address.ts";
import { flattenHeaders, getHeader, type Headers, setHeaders } from "./headers.ts";
import { escapePath } from "./normalize-path.ts";
import type { Exchange } from "./plugin.ts";

/** Headers that nginx removes from requests and responses. */
const HOP_BY_HOP = ["connection", "keep-alive", "transfer-encoding", "trailer", "upgrade"];
const REQUEST_ONLY = ["expect", "proxy", "proxy-connection", "content-length"];

/** Removes hop-by-hop headers, and the headers that Connection names. */
export function removeHopByHop(headers: Headers): void {
  const named = headers.get("connection")?.join(",").toLowerCase().split(",") ?? [];
  for (const name of [...named, ...HOP_BY_HOP]) headers.delete(name.trim());
}

/**
 * Builds the request to the upstream. undici adds the Content-Length: always the body's length, whatever the client
 * sent. Otherwise the upstream could mistake the end of the body for the next client's request (RFC 9112, 6.3).
 */
export function buildUpstreamRequest(
  exchange: Exchange,
  client: IncomingMessage,
  body: Buffer,
  isTrusted: TrustCheck,
  url: string,
): Dispatcher.RequestOptions {
  const { method, path, query, headers, upstream, target, readTimeout } = exchange;
  const { origin, host } = new URL(upstream === undefined ? url : `http://${upstream}`);
  addForwardedHeaders(exchange, client, isTrusted);
  const wantsTrailers = /(^|,)\s*trailers\s*(,|$)/.test(getHeader(headers, "te") ?? "");
  removeHopByHop(headers);
  for (const name of REQUEST_ONLY) headers.delete(name);
  setHeaders(headers, { te: wantsTrailers && "trailers", host });
  return {
    origin,
    method: method as Dispatcher.HttpMethod,
    path: escapePath(path) + (query !== "" || target.endsWith("?") ? `?${query}` : ""),
    headers: flattenHeaders(headers),
    body: body.length > 0 ? body : null,
    ...(readTimeout !== undefined && { headersTimeout: readTimeout, bodyTimeout: readTimeout }),
  };
}

/** Adds Kong's `X-Forwarded-*`. Only trusted proxies can set those headers. */
function addForwardedHeaders(
  { headers, address, rawPath }: Exchange,
  { socket }: IncomingMessage,
  isTrusted: TrustCheck,
): void {
  const isFromProxy = isTrusted(socket.remoteAddress);
  const forwarded = {
    "x-forwarded-proto": "http",
    "x-forwarded-host": (getHeader(headers, "host") ?? "").toLowerCase().replace(/:\d+$/, ""),
    "x-forwarded-port": socket.localPort ?? 0,
    "x-forwarded-path": rawPath,
    "x-forwarded-prefix": false as const,
  };
  for (const [name, value] of Object.entries(forwarded))
    if (!isFromProxy || !headers.has(name)) setHeaders(headers, { [name]: value });
  const addresses = headers.get("x-forwarded-for");
  const peer = normalizeAddress(socket.remoteAddress);
  setHeaders(headers, {
    "x-forwarded-for": addresses ? [...addresses, peer].join(", ") : address,
    "x-real-ip": address,
  });
}
