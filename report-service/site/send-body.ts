import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";

/** What is sent again and again is hashed and compressed once. */
const prepared = new WeakMap<Buffer, { etag: string; zipped: Buffer | undefined }>();

function prepare(body: Buffer): { etag: string; zipped: Buffer | undefined } {
  const found = prepared.get(body);
  if (found !== undefined) return found;
  const hash = createHash("sha256").update(body).digest("base64url").slice(0, 27);
  const made = { etag: `"${hash}"`, zipped: undefined };
  prepared.set(body, made);
  return made;
}

/** Sends a text, compressed for whoever takes gzip, or 304 to who has it already. */
export function sendBody(
  request: FastifyRequest,
  reply: FastifyReply,
  { body: text, type }: { body: string | Buffer; type: string },
): FastifyReply {
  const body = Buffer.isBuffer(text) ? text : Buffer.from(text);
  const found = prepare(body);
  const { etag } = found;
  reply.headers({ etag, vary: "Accept-Encoding" }).type(type);
  const known = (request.headers["if-none-match"] ?? "")
    .split(",")
    .map((tag) => tag.trim().replace(/^W\//, ""));
  if (known.includes(etag)) return reply.code(304).send();
  const isCompressed = /(^|[\s,])gzip\s*(,|$)/i.test(String(request.headers["accept-encoding"] ?? ""));
  if (isCompressed) found.zipped ??= gzipSync(body);
  const sent = isCompressed ? (found.zipped ?? body) : body;
  // One tag for one representation (RFC 9110, 8.8.3).
  if (isCompressed) reply.headers({ "content-encoding": "gzip", etag: `W/${etag}` });
  reply.header("content-length", sent.length);
  return request.method === "HEAD" ? reply.send() : reply.send(sent);
}
