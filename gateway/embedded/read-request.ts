import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { findClientAddress, type TrustCheck } from "./client-address.ts";
import { readHeaders } from "./headers.ts";
import { bodyTimeout, longestBody, longestLine } from "./kong-env.ts";
import { normalizePath } from "./normalize-path.ts";
import type { Exchange } from "./plugin.ts";
import { Refusal } from "./refusal.ts";

/** Headers that nginx refuses if they are sent twice. */
const UNIQUE_HEADERS = [
  ...["host", "authorization", "content-length", "content-range", "expect", "transfer-encoding"],
  ...["if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since"],
];

export function readRequest(
  request: IncomingMessage,
  response: ServerResponse,
  isTrusted: TrustCheck,
): Exchange {
  const headers = readHeaders(request.rawHeaders);
  // nginx's variables do not distinguish a_header from a-header, so nginx drops such names.
  for (const name of headers.keys()) if (!/^[a-z0-9-]+$/.test(name)) headers.delete(name);
  const target = (request.url ?? "").replace(/^https?:\/\/[^/?]*/i, "");
  const [, rawPath = "", query = ""] = /^([^?]*)\??(.*)$/s.exec(target) ?? [];
  const left = new AbortController();
  // Also after a complete response, because the gateway may not have read the upstream's, for example after an error.
  response.once("close", () => left.abort());
  let body: Promise<Buffer> | undefined;
  return {
    id: randomUUID().replaceAll("-", ""),
    method: request.method ?? "",
    target,
    path: normalizePath(rawPath || "/") ?? "",
    rawPath: rawPath || "/",
    query,
    address: findClientAddress(request, isTrusted),
    headers,
    responseHeaders: new Map(),
    left: left.signal,
    readBody: () => {
      body ??= readBody(request);
      return body;
    },
  };
}

/** Returns the status with which nginx refuses a request before Kong's plugins see it, or undefined. */
export function findRefusal(
  { method, path, headers }: Exchange,
  { url = "", httpVersion, headers: { "content-length": length = "0" } }: IncomingMessage,
): number | undefined {
  const isTooLong = ([name, values]: [string, string[]]) =>
    values.some((value) => name.length + value.length + ": \r\n".length > longestLine);
  if (method.length + url.length + " HTTP/1.1\r\n".length + 1 > longestLine) return 414;
  if ([...headers].some(isTooLong)) return 400;
  if (UNIQUE_HEADERS.some((name) => (headers.get(name)?.length ?? 0) > 1)) return 400;
  if (path === "" || (httpVersion === "1.1" && !headers.has("host"))) return 400;
  if (method === "TRACE") return 405;
  return Number(length) > longestBody ? 413 : undefined;
}

/**
 * Reads the whole body.
 * @throws Refusal 413 if it is too long, and 408 if it comes too slowly; discards the rest
 */
async function readBody(request: IncomingMessage): Promise<Buffer> {
  const { "content-length": length, "transfer-encoding": encoding } = request.headers;
  if (!length && !encoding) return Buffer.alloc(0);
  const chunks: Buffer[] = [];
  let size = 0;
  const reading = request.iterator({ destroyOnReturn: false });
  const isLate = sleep(bodyTimeout, undefined, { ref: false });
  try {
    for (;;) {
      const chunk = await Promise.race([reading.next(), isLate]);
      if (chunk === undefined) throw new Refusal(408, "The body did not arrive in time.");
      if (chunk.done) return Buffer.concat(chunks);
      size += chunk.value.length;
      if (size > longestBody) throw new Refusal(413, "The body is too long.");
      chunks.push(chunk.value);
    }
  } catch (error) {
    request.resume();
    throw error;
  }
}
