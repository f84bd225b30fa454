import type { FastifyReply, FastifyRequest } from "fastify";
import { sendBody } from "./send-body.ts";

/** Sends a chart. It has no script and loads nothing, and other sites may show it. */
export function sendSvg(request: FastifyRequest, reply: FastifyReply, body: string): FastifyReply {
  reply.headers({
    "cache-control": "public, no-cache",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
  });
  return sendBody(request, reply, { body, type: "image/svg+xml; charset=utf-8" });
}
