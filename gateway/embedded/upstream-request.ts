import type { Dispatcher } from "undici";
import { flattenHeaders, getHeader, type Headers, setHeaders } from "./headers.ts";
import type { Exchange } from "./plugin.ts";

/** Headers that nginx removes from requests and responses. */
const HOP_BY_HOP = ["connection", "keep-alive", "transfer-encoding", "trailer", "upgrade"];
/** Headers that nginx removes from requests or, like `X-Forwarded-*`, replaces. PostgREST does not read the latter. */
const REQUEST_ONLY = /^(expect|proxy|proxy-connection|content-length|x-real-ip|x-forwarded-.*)$/;

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
  body: Buffer,
  url: string,
): Dispatcher.RequestOptions {
  const { method, path, query, headers, upstream, target, readTimeout } = exchange;
  const { origin, host } = new URL(upstream === undefined ? url : `http://${upstream}`);
  const wantsTrailers = /(^|,)\s*trailers\s*(,|$)/.test(getHeader(headers, "te") ?? "");
  removeHopByHop(headers);
  for (const name of headers.keys()) if (REQUEST_ONLY.test(name)) headers.delete(name);
  setHeaders(headers, { te: wantsTrailers && "trailers", host });
  return {
    origin,
    method: method as Dispatcher.HttpMethod,
    path: path + (query !== "" || target.endsWith("?") ? `?${query}` : ""),
    headers: flattenHeaders(headers),
    body: body.length > 0 ? body : null,
    ...(readTimeout !== undefined && { headersTimeout: readTimeout, bodyTimeout: readTimeout }),
  };
}
