import type { IncomingMessage, RequestOptions } from "node:http";
import { normalizeAddress, type TrustCheck } from "./client-address.ts";
import { flattenHeaders, getHeader, type Headers, setHeader } from "./headers.ts";
import { escapePath } from "./normalize-path.ts";
import type { Exchange } from "./plugin.ts";
import type { Service } from "./read-config.ts";

/** Headers that nginx removes from requests and responses. */
const HOP_BY_HOP = ["connection", "keep-alive", "transfer-encoding", "trailer", "upgrade"];
const REQUEST_ONLY = ["te", "expect", "proxy", "proxy-connection", "content-length"];

/** Removes hop-by-hop headers, and the headers that Connection names. */
export function removeHopByHop(headers: Headers): Headers {
  const named = headers.get("connection")?.values.join(",").toLowerCase().split(",") ?? [];
  for (const name of [...named, ...HOP_BY_HOP]) headers.delete(name.trim());
  return headers;
}

/**
 * Builds the request to the upstream, with Kong's `X-Forwarded-*`. Only trusted proxies can set those headers.
 *
 * Content-Length is always the body's length, whatever the client sent. Otherwise the upstream could mistake the end of
 * the body for the next client's request (RFC 9112, 6.3).
 */
export function buildUpstreamRequest(
  { method, path, rawPath, query, address, headers, target }: Exchange,
  client: IncomingMessage,
  body: Buffer,
  service: Service,
  isTrusted: TrustCheck,
): RequestOptions {
  const peer = normalizeAddress(client.socket.remoteAddress ?? "");
  const forward = (name: string, value: string | number) => {
    if (!isTrusted(peer) || !headers.has(name.toLowerCase())) setHeader(headers, name, value);
  };
  const forwardedFor = headers.get("x-forwarded-for")?.values.join(", ");
  setHeader(headers, "X-Forwarded-For", forwardedFor ? `${forwardedFor}, ${peer}` : address);
  forward("X-Forwarded-Proto", "http");
  forward("X-Forwarded-Host", (getHeader(headers, "host") ?? "").toLowerCase().replace(/:\d+$/, ""));
  forward("X-Forwarded-Port", client.socket.localPort ?? 0);
  forward("X-Forwarded-Path", rawPath);
  if (!isTrusted(peer)) headers.delete("x-forwarded-prefix");
  setHeader(headers, "X-Real-IP", address);

  const wantsTrailers = /(^|,)\s*trailers\s*(,|$)/.test(getHeader(headers, "te") ?? "");
  removeHopByHop(headers);
  for (const name of REQUEST_ONLY) headers.delete(name);
  if (wantsTrailers) setHeader(headers, "TE", "trailers");
  const { host, hostname, port } = new URL(target ? `http://${target}` : service.url);
  setHeader(headers, "Host", host);
  const hasLength = client.headers["content-length"] !== undefined;
  if (body.length > 0 || hasLength) setHeader(headers, "Content-Length", body.length);
  const mark = query !== "" || client.url?.endsWith("?") ? `?${query}` : "";
  return {
    method,
    host: hostname.replace(/^\[|\]$/g, ""),
    port,
    path: escapePath(path) + mark,
    headers: flattenHeaders(headers),
    // PostgREST repeats the URL in Content-Location.
    maxHeaderSize: 131_072,
  };
}
