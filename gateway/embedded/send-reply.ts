import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import Negotiator from "negotiator";
import { flattenHeaders, getHeader, type Headers, readHeaders, setHeaders } from "./headers.ts";
import { compressedTypes } from "./kong-env.ts";
import type { BodyFilter, Reply } from "./plugin.ts";

/** What nginx compresses. */
const GZIP_STATUSES = new Set([200, 403, 404]);
const GZIP_MIN_BYTES = 20;

/** Sends a reply, compressed if the client accepts gzip. Rejects if the body breaks off or the client disconnects. */
export async function sendReply(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  filters: BodyFilter[],
): Promise<void> {
  const { status, headers } = reply;
  const body = filterBody(reply, filters);
  // nginx treats the upstream's response to HEAD like a response to GET, but does not compress its own.
  const isOwnHead = request.method === "HEAD" && Buffer.isBuffer(body);
  const isCompressible = !isOwnHead && mayCompress(status, headers);
  const compress = isCompressible && acceptsGzip(request);
  if (isCompressible) headers.set("vary", ["Accept-Encoding", ...(headers.get("vary") ?? [])]);
  if (compress) describeCompression(headers);
  response.writeHead(status, flattenHeaders(headers));
  if (compress)
    await pipeline(Buffer.isBuffer(body) ? Readable.from(body) : body, createGzip({ level: 1 }), response);
  else if (Buffer.isBuffer(body)) response.end(body);
  else await pipeline(body, response);
}

/** Sets Content-Length if the body is complete, and removes it if filters may change the length. */
function filterBody({ body, headers }: Reply, filters: BodyFilter[]): Reply["body"] {
  const filter: BodyFilter = (chunk, isLast) => filters.reduce((bytes, next) => next(bytes, isLast), chunk);
  if (Buffer.isBuffer(body)) {
    const filtered = filter(body, true);
    setHeaders(headers, { "content-length": filtered.length });
    return filtered;
  }
  if (filters.length === 0) return body;
  headers.delete("content-length");
  return Readable.from(filterChunks(body, filter));
}

async function* filterChunks(body: AsyncIterable<Buffer>, filter: BodyFilter): AsyncGenerator<Buffer> {
  for await (const chunk of body) yield filter(chunk, false);
  yield filter(Buffer.alloc(0), true);
}

function mayCompress(status: number, headers: Headers): boolean {
  // Like nginx, ignores a charset, but no other parameter.
  const type = (getHeader(headers, "content-type") ?? "").replace(/; *charset=.*$/i, "");
  return (
    compressedTypes.includes(type.toLowerCase()) &&
    GZIP_STATUSES.has(status) &&
    !headers.has("content-encoding") &&
    Number(getHeader(headers, "content-length") ?? GZIP_MIN_BYTES) >= GZIP_MIN_BYTES
  );
}

/** Like nginx, reads only the first Accept-Encoding. */
function acceptsGzip({ httpVersion, rawHeaders }: IncomingMessage): boolean {
  const accept = getHeader(readHeaders(rawHeaders), "accept-encoding") ?? "identity";
  const negotiator = new Negotiator({ headers: { "accept-encoding": accept } });
  return httpVersion === "1.1" && negotiator.encodings(["gzip"]).length > 0;
}

function describeCompression(headers: Headers): void {
  setHeaders(headers, { "content-length": false, "accept-ranges": false, "content-encoding": "gzip" });
  const etag = getHeader(headers, "etag");
  if (etag?.startsWith('"')) setHeaders(headers, { etag: `W/${etag}` });
}
