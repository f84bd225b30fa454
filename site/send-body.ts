import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";

/** Sends a body, compressed if the client accepts gzip, or 304 if the client has it already. */
export function sendBody(
  { method, headers }: FastifyRequest,
  reply: FastifyReply,
  { body, type }: { body: string | Buffer; type: string },
): FastifyReply {
  const bytes = Buffer.from(body);
  const hash = createHash("sha256").update(bytes).digest("base64url").slice(0, 27);
  // The tag is weak because both encodings share it (RFC 9110, 8.8.3).
  reply.headers({ etag: `W/"${hash}"`, vary: "Accept-Encoding" }).type(type);
  if (headers["if-none-match"]?.includes(`"${hash}"`)) return reply.code(304).send();
  const isCompressed = /\bgzip\b/i.test(String(headers["accept-encoding"] ?? ""));
  const sent = isCompressed ? gzipSync(bytes) : bytes;
  if (isCompressed) reply.header("content-encoding", "gzip");
  reply.header("content-length", sent.length);
  return method === "HEAD" ? reply.send() : reply.send(sent);
}
