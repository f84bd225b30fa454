import type { IncomingMessage } from "node:http";
import type { TrustCheck } from "./client-address.ts";
import { getHeader, getHeaders, type HeaderList, removeHeader, setHeader } from "./headers.ts";
import type { Route } from "./match-route.ts";

/** What nginx never passes on from a request. */
const HOP_BY_HOP = [
  "connection",
  "keep-alive",
  "te",
  "trailer",
  "upgrade",
  "expect",
  "proxy",
  "proxy-connection",
];
/** What nginx never passes on from a response. */
const HOP_BY_HOP_BACK = ["connection", "keep-alive", "transfer-encoding", "upgrade", "trailer"];

export interface Hop {
  requestId: string;
  route: Route;
  /** As sent, without query. */
  path: string;
  peerAddress: string;
  clientAddress: string;
  isTrusted: TrustCheck;
}

/**
 * Turns what the plugins left of the client's headers into what the upstream gets: no hop-by-hop headers, and
 * Kong's `X-Forwarded-*`, which a client can only set through a trusted hop.
 */
export function buildUpstreamHeaders(
  client: IncomingMessage,
  headers: HeaderList,
  hop: Hop,
  body: Buffer | undefined,
): HeaderList {
  const trusted = hop.isTrusted(hop.peerAddress);
  const forwarded = (name: string, otherwise: string) =>
    setHeader(headers, name, (trusted ? getHeader(headers, name) : undefined) ?? otherwise);
  const forwardedFor = getHeaders(headers, "x-forwarded-for").join(", ");
  const host = getHeader(headers, "host") ?? "";
  const { upstream, path: matched, stripPath, preserveHost } = hop.route;

  setHeader(
    headers,
    "X-Forwarded-For",
    forwardedFor ? `${forwardedFor}, ${hop.peerAddress}` : hop.clientAddress,
  );
  forwarded("X-Forwarded-Proto", "http");
  forwarded("X-Forwarded-Host", host.toLowerCase().replace(/:\d+$/, ""));
  forwarded("X-Forwarded-Port", String(client.socket.localPort));
  forwarded("X-Forwarded-Path", hop.path);
  if (stripPath && matched !== undefined && matched !== "/") forwarded("X-Forwarded-Prefix", matched);
  else if (!trusted) removeHeader(headers, "X-Forwarded-Prefix");
  setHeader(headers, "X-Real-IP", hop.clientAddress);
  setHeader(headers, "X-Kong-Request-Id", hop.requestId);

  for (const name of namedByConnection(headers)) removeHeader(headers, name);
  for (const name of HOP_BY_HOP) removeHeader(headers, name);
  const port = upstream.port === 80 ? "" : `:${upstream.port}`;
  const upstreamHost = upstream.host.includes(":") ? `[${upstream.host}]` : upstream.host;
  setHeader(headers, "Host", preserveHost && host ? host : `${upstreamHost}${port}`);
  frameBody(client, headers, body);
  return headers;
}

/**
 * Says how long the body is that will be sent, whatever the client said of its headers: what upstream takes for the end of
 * a request must be what is sent as its end (RFC 9112, 6.3), or the rest is the next client's request.
 */
function frameBody(client: IncomingMessage, headers: HeaderList, body: Buffer | undefined): void {
  removeHeader(headers, "content-length");
  removeHeader(headers, "transfer-encoding");
  const length = body?.length ?? client.headers["content-length"];
  if (body === undefined && client.headers["transfer-encoding"] !== undefined) {
    setHeader(headers, "Transfer-Encoding", "chunked");
  } else if (length !== undefined) setHeader(headers, "Content-Length", String(length));
}

/** What a client gets of an upstream's headers. */
export function buildClientHeaders(headers: HeaderList): HeaderList {
  for (const name of namedByConnection(headers)) removeHeader(headers, name);
  for (const name of HOP_BY_HOP_BACK) removeHeader(headers, name);
  return headers;
}

function namedByConnection(headers: HeaderList): string[] {
  const names = getHeaders(headers, "connection").join(",").split(",");
  return names.map((name) => name.trim()).filter((name) => name !== "");
}
