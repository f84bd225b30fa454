import type { FastifyInstance, onRequestHookHandler } from "fastify";
import { Pool } from "undici";
import { allowAnyOrigin } from "../shared/web/any-origin.ts";
import { type ErrorResponse, makeUnavailable, sendError } from "../shared/web/error-responses.ts";
import { invalidLink, notFound, unknownPathError } from "./error-responses.ts";
import type { S3StoreOptions } from "./storage.ts";

/** The headers of requests and responses that are passed on. */
const requestHeaders = /^(range|if-(match|none-match|range|modified-since|unmodified-since))$/;
const responseHeaders =
  /^(accept-ranges|cache-control|content-(disposition|length|range|type)|etag|last-modified)$/;

/**
 * Relays downloads from the S3 API to clients that cannot reach it: the public endpoint is then this service's own URL,
 * with the bucket in the path. The signature covers the host, so storage gets the public one. Only a signed `GET` below
 * the reports' prefix is relayed. Responds 403 if the URL was changed, 404 if the file has disappeared, and 503 if the
 * bucket has disappeared or storage fails.
 */
export function relayStorage(
  app: FastifyInstance,
  { bucket, keyPrefix, endpoint, publicEndpoint, forcePathStyle }: S3StoreOptions,
  onRequest: onRequestHookHandler[],
): void {
  if (!forcePathStyle || endpoint === undefined || publicEndpoint === undefined) return;
  const { host } = new URL(publicEndpoint);
  const storage = new Pool(new URL(endpoint).origin, { connect: { timeout: 1000 }, headersTimeout: 10_000 });
  app.addHook("onClose", () => storage.close());

  const url = `/${bucket}/${keyPrefix}*`;
  app.get(url, { onRequest: [allowAnyOrigin(app, url), ...onRequest] }, async (request, reply) => {
    const path = request.raw.url ?? "";
    const isSigned = /[?&]X-Amz-Signature=/.test(path) && path.startsWith("/");
    if (!isSigned) return sendError(reply, unknownPathError(path));
    try {
      const { statusCode, headers, body } = await storage.request({
        method: "GET",
        path,
        headers: { ...pick(request.headers, requestHeaders), host },
      });
      if (![200, 206, 304, 412, 416].includes(statusCode)) {
        const [, code = ""] = /<Code>(\w+)<\/Code>/.exec(await body.text()) ?? [];
        // Storage checks the signature before it says NoSuchKey. With any other code, the path may be made up.
        const file = code === "NoSuchKey" ? path.replace(/\?.*/, "") : undefined;
        const answer = refusals[code] ?? (isRefusal(statusCode) ? invalidLink : unavailable);
        const level = answer === invalidLink ? "warn" : "error";
        request.log[level]({ statusCode, code, bucket, file }, "storage did not serve a signed URL");
        return sendError(reply, answer);
      }
      return await reply.code(statusCode).headers(pick(headers, responseHeaders)).send(body);
    } catch (err) {
      request.log.error({ err }, "storage did not answer");
      return sendError(reply, unavailable);
    }
  });
}

const unavailable = makeUnavailable();
/** Responses by the S3 API's error codes. */
const refusals: Record<string, ErrorResponse> = { NoSuchKey: notFound, NoSuchBucket: unavailable };
/** Servers refuse altered URLs with different statuses; versitygw returns 404 for an unknown access key. */
const isRefusal = (status: number) => [400, 401, 403, 404].includes(status);

function pick(headers: Record<string, string | string[] | undefined>, names: RegExp) {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => names.test(name)));
}
