import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";

/** Sends a text, compressed for whoever takes gzip, or 304 to who has it already. */
export function sendBody(
  request: FastifyRequest,
  reply: FastifyReply,
  { body, type }: { body: string | Buffer; type: string },
): FastifyReply {
  const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 27)}"`;
  reply.headers({ etag, vary: "Accept-Encoding" }).type(type);
  const known = (request.headers["if-none-match"] ?? "")
    .split(",")
    .map((tag) => tag.trim().replace(/^W\//, ""));
  if (known.includes(etag)) return reply.code(304).send();
  const isCompressed = /(^|[\s,])gzip\s*(,|$)/i.test(String(request.headers["accept-encoding"] ?? ""));
  const sent = isCompressed ? gzipSync(body) : Buffer.from(body);
  // One tag for one representation (RFC 9110, 8.8.3).
  if (isCompressed) reply.headers({ "content-encoding": "gzip", etag: `W/${etag}` });
  reply.header("content-length", sent.length);
  return request.method === "HEAD" ? reply.send() : reply.send(sent);
}
