import type { IncomingMessage } from "node:http";
import type { Dispatcher } from "undici";
import { normalizeAddress, type TrustCheck } from "./client-address.ts";
import { flattenHeaders, getHeader, type Headers, setHeader } from "./headers.ts";
import { escapePath } from "./normalize-path.ts";
import type { Exchange } from "./plugin.ts";

/** Headers that nginx removes from requests and responses. */
const HOP_BY_HOP = ["connection", "keep-alive", "transfer-encoding", "trailer", "upgrade"];
const REQUEST_ONLY = ["te", "expect", "proxy", "proxy-connection", "content-length"];

/** Removes hop-by-hop headers, and the headers that Connection names. */
export function removeHopByHop(headers: Headers): void {
  const named = headers.get("connection")?.values.join(",").toLowerCase().split(",") ?? [];
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
  const { method, path, query, headers, upstream, target } = exchange;
  const { origin, host } = new URL(upstream === undefined ? url : `http://${upstream}`);
  addForwardedHeaders(exchange, client, isTrusted);
  const wantsTrailers = /(^|,)\s*trailers\s*(,|$)/.test(getHeader(headers, "te") ?? "");
  removeHopByHop(headers);
  for (const name of REQUEST_ONLY) headers.delete(name);
  if (wantsTrailers) setHeader(headers, "TE", "trailers");
  setHeader(headers, "Host", host);
  return {
    origin,
    method: method as Dispatcher.HttpMethod,
    path: escapePath(path) + (query !== "" || target.endsWith("?") ? `?${query}` : ""),
    headers: flattenHeaders(headers),
    body: body.length > 0 ? body : null,
  };
}

/** Adds Kong's `X-Forwarded-*`. Only trusted proxies can set those headers. */
function addForwardedHeaders(
  { headers, address, rawPath }: Exchange,
  { socket }: IncomingMessage,
  isTrusted: TrustCheck,
): void {
  const isFromProxy = isTrusted(socket.remoteAddress);
  const forward = (name: string, value: string | number) => {
    if (!isFromProxy || !headers.has(name.toLowerCase())) setHeader(headers, name, value);
  };
  const addresses = headers.get("x-forwarded-for")?.values ?? [];
  const peer = normalizeAddress(socket.remoteAddress);
  setHeader(headers, "X-Forwarded-For", addresses.length > 0 ? [...addresses, peer].join(", ") : address);
  forward("X-Forwarded-Proto", "http");
  forward("X-Forwarded-Host", (getHeader(headers, "host") ?? "").toLowerCase().replace(/:\d+$/, ""));
  forward("X-Forwarded-Port", socket.localPort ?? 0);
  forward("X-Forwarded-Path", rawPath);
  if (!isFromProxy) headers.delete("x-forwarded-prefix");
  setHeader(headers, "X-Real-IP", address);
}
