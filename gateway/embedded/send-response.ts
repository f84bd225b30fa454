import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { getHeader, type HeaderList, removeHeader, setHeader } from "./headers.ts";

/** As nginx with gzip on, `gzip_proxied any`, `gzip_vary on` and the types of scripts/stack/kong.ts. */
const GZIP_TYPES = new Set([
  "application/json",
  "text/csv",
  "application/vnd.pgrst.object+json",
  "application/openapi+json",
  "text/html",
]);
const GZIP_STATUSES = new Set([200, 403, 404]);
const GZIP_MIN_BYTES = 20;
const GZIP_LEVEL = 1;

export interface Reply {
  status: number;
  reason: string | undefined;
  headers: HeaderList;
  body: Readable | string;
}

/** Sends a reply, compressed if that is on and the client takes it. Resolves when the last byte is out. */
export async function sendResponse(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  gzip: boolean,
): Promise<void> {
  const { status, reason, headers, body } = reply;
  const compress = gzip && mayCompress(request, reply);
  if (compress) {
    removeHeader(headers, "content-length");
    removeHeader(headers, "accept-ranges");
    setHeader(headers, "Content-Encoding", "gzip");
    const etag = getHeader(headers, "etag");
    if (etag?.startsWith('"')) setHeader(headers, "ETag", `W/${etag}`);
  }
  response.writeHead(status, reason, headers.flat());
  if (typeof body === "string" && !compress) {
    response.end(body);
    return;
  }
  const source = typeof body === "string" ? Readable.from([Buffer.from(body)]) : body;
  if (compress) await pipeline(source, createGzip({ level: GZIP_LEVEL }), response);
  else await pour(source, response);
}

/**
 * As `pipeline(source, response)`, which makes an error, and its stack, to end each answer that goes well: a tenth of what
 * this gateway does for a request.
 */
function pour(source: Readable, response: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      source.destroy();
      reject(new Error("The client went away."));
    };
    if (response.destroyed) return leave();
    source.once("error", reject);
    source.once("close", () => {
      if (!source.readableEnded) reject(new Error("The answer was cut off."));
    });
    response.once("error", reject);
    response.once("finish", resolve);
    response.once("close", () => {
      if (!response.writableFinished) leave();
    });
    source.pipe(response);
  });
}

/** Also marks a reply that depends on `Accept-Encoding`. */
function mayCompress(request: IncomingMessage, { status, headers }: Reply): boolean {
  const type = getHeader(headers, "content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
  const length = getHeader(headers, "content-length");
  if (
    !GZIP_TYPES.has(type) ||
    !GZIP_STATUSES.has(status) ||
    getHeader(headers, "content-encoding") !== undefined ||
    (length !== undefined && Number(length) < GZIP_MIN_BYTES)
  ) {
    return false;
  }
  headers.push(["Vary", "Accept-Encoding"]);
  return (
    request.method !== "HEAD" &&
    request.httpVersion === "1.1" &&
    acceptsGzip(request.headers["accept-encoding"])
  );
}

function acceptsGzip(accept: string | string[] | undefined): boolean {
  const entry = /(?:^|,)\s*gzip\s*(?:;\s*q=([\d.]+))?\s*(?=,|$)/i.exec(String(accept ?? ""));
  return entry !== null && Number(entry[1] ?? 1) > 0;
}
