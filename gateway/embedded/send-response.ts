import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { flattenHeaders, getHeader, type Headers, setHeader } from "./headers.ts";

/** What nginx compresses with the settings of gateway/kong.env. */
const GZIP_TYPES = /^(application\/(json|vnd\.pgrst\.object\+json|openapi\+json)|text\/csv)\s*(;|$)/i;
const GZIP_STATUSES = new Set([200, 403, 404]);
const GZIP_MIN_BYTES = 20;

export interface Reply {
  status: number;
  reason: string | undefined;
  headers: Headers;
  /** A string if the gateway wrote or rewrote the body. Each character is a byte. */
  body: Readable | string;
}

/** Sends a reply, compressed if the client accepts gzip. Resolves when the last byte is sent. */
export async function sendResponse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, reason, headers, body }: Reply,
): Promise<void> {
  if (typeof body === "string") setHeader(headers, "Content-Length", body.length);
  // nginx treats the upstream's response to HEAD like a response to GET, but does not compress its own.
  const isOwnHead = request.method === "HEAD" && typeof body === "string";
  const isCompressible = !isOwnHead && mayCompress(status, headers);
  if (isCompressible) {
    const vary = headers.get("vary")?.values ?? [];
    headers.set("vary", { name: "Vary", values: [...vary, "Accept-Encoding"] });
  }
  const compress = isCompressible && acceptsGzip(request);
  if (compress) {
    headers.delete("content-length");
    headers.delete("accept-ranges");
    setHeader(headers, "Content-Encoding", "gzip");
    const etag = getHeader(headers, "etag");
    if (etag?.startsWith('"')) setHeader(headers, "ETag", `W/${etag}`);
  }
  response.writeHead(status, reason, flattenHeaders(headers));
  const source = typeof body === "string" ? Readable.from([Buffer.from(body, "latin1")]) : body;
  source.once("error", (error) => response.destroy(error));
  response.once("close", () => source.destroy());
  (compress ? source.pipe(createGzip({ level: 1 })) : source).pipe(response);
  await finished(response);
}

function mayCompress(status: number, headers: Headers): boolean {
  return (
    GZIP_TYPES.test(getHeader(headers, "content-type") ?? "") &&
    GZIP_STATUSES.has(status) &&
    !headers.has("content-encoding") &&
    Number(getHeader(headers, "content-length") ?? GZIP_MIN_BYTES) >= GZIP_MIN_BYTES
  );
}

function acceptsGzip({ httpVersion, headersDistinct }: IncomingMessage): boolean {
  const [accept = ""] = headersDistinct["accept-encoding"] ?? [];
  const accepted = /(?:^|,)\s*gzip\s*(?:;\s*q=([\d.]+))?\s*(?=,|$)/i.exec(accept);
  return httpVersion === "1.1" && accepted !== null && Number(accepted[1] ?? 1) > 0;
}
