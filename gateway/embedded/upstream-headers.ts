import type { IncomingMessage } from "node:http";
import { plainAddress, type TrustCheck } from "./client-address.ts";
import { getHeader, type Headers, setHeader } from "./headers.ts";
import type { Exchange } from "./plugin.ts";
import type { Route } from "./route.ts";

/** What nginx passes on in neither direction; the framing of a body is written anew. */
const HOP_BY_HOP = ["connection", "keep-alive", "transfer-encoding", "trailer", "upgrade"];
const OF_REQUESTS = ["te", "expect", "proxy", "proxy-connection", "content-length"];

/** Removes headers that are not passed on, and those that Connection names. */
export function removeHopByHop(headers: Headers): Headers {
  for (const name of (headers.get("connection")?.values ?? []).join(",").split(",")) {
    headers.delete(name.trim().toLowerCase());
  }
  for (const name of HOP_BY_HOP) headers.delete(name);
  return headers;
}

/**
 * Turns what the plugins left of the client's headers into what the upstream gets, with Kong's `X-Forwarded-*`, which a
 * client can only set through a trusted hop.
 *
 * The body's length is what Node read, whatever the headers say: what the upstream takes for the end of a request must be
 * what is sent as its end (RFC 9112, 6.3), or the rest is the next client's request.
 */
export function buildUpstreamHeaders(
  { id, headers, address, rawPath, body }: Exchange,
  client: IncomingMessage,
  { service }: Route,
  isTrusted: TrustCheck,
): Headers {
  const peer = plainAddress(client.socket.remoteAddress ?? "");
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
  setHeader(headers, "X-Kong-Request-Id", id);

  removeHopByHop(headers);
  for (const name of OF_REQUESTS) headers.delete(name);
  setHeader(headers, "Host", new URL(service.url).host);
  const length = body?.length ?? client.headers["content-length"];
  if (length !== undefined) setHeader(headers, "Content-Length", length);
  else if (client.headers["transfer-encoding"] !== undefined)
    setHeader(headers, "Transfer-Encoding", "chunked");
  return headers;
}
