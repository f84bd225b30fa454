import type { FastifyInstance, onRequestHookHandler } from "fastify";

const anyOrigin = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers":
    "Accept-Ranges, Content-Length, Content-Range, Data-Set, ETag, Retry-After, X-Request-Id",
};
const preflight = {
  ...anyOrigin,
  "access-control-allow-headers": "Range, If-Match, If-Modified-Since, If-None-Match, If-Range",
  "access-control-max-age": "86400",
};

/**
 * Answers browsers' preflight requests for a path. Returns a hook that lets scripts on any site read the path's responses,
 * including errors. It must come before hooks that may refuse the request.
 */
export function allowAnyOrigin(app: FastifyInstance, url: string): onRequestHookHandler {
  app.options(url, (_request, reply) => reply.code(204).headers(preflight).send());
  return async (_request, reply) => void reply.headers(anyOrigin);
}
