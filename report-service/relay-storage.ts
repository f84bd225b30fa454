import type { FastifyInstance } from "fastify";
import { Pool } from "undici";
import { type Answer, addressRefused, answerUnknown, sendAnswer } from "./answers.ts";
import type { S3StoreOptions } from "./s3-store.ts";

/** What of a request and of its answer passes. */
const requestHeaders = [
  "if-match",
  "if-modified-since",
  "if-none-match",
  "if-range",
  "if-unmodified-since",
  "range",
];
const answerHeaders = [
  "accept-ranges",
  "cache-control",
  "content-disposition",
  "content-length",
  "content-range",
  "content-type",
  "etag",
  "last-modified",
];

const storageUnavailable: Answer = {
  status: 503,
  headers: { "retry-after": "5" },
  body: {
    code: "temporarily_unavailable",
    message: "The file cannot be fetched at this moment.",
    details: "Its address lives for less than a minute.",
    hint: "Try the same address again in a few seconds, or request access to the file again.",
  },
};

/**
 * Passes signed addresses of the reports on to the S3 API, for a storage that clients cannot reach: the public
 * endpoint is then the address of this service. The storage verifies the signature, which covers the host, so it is
 * told the public one. Nothing but a signed `GET` below the reports' prefix is passed on. Whatever part of an address was
 * changed, the answer is 403.
 */
export function relayStorage(
  app: FastifyInstance,
  {
    bucket,
    keyPrefix,
    endpoint,
    publicEndpoint,
  }: S3StoreOptions & { endpoint: string; publicEndpoint: string },
): void {
  const storage = new Pool(new URL(endpoint).origin, { connect: { timeout: 1000 }, headersTimeout: 10_000 });
  app.addHook("onClose", () => storage.close());

  app.get(`/${bucket}/${keyPrefix}*`, async (request, reply) => {
    const target = request.raw.url ?? "";
    const isSigned = /[?&]X-Amz-Signature=/.test(target) && target.startsWith("/");
    if (!isSigned) return sendAnswer(reply, answerUnknown(target));
    try {
      const { statusCode, headers, body } = await storage.request({
        method: "GET",
        path: target,
        headers: { ...pick(request.headers, requestHeaders), host: new URL(publicEndpoint).host },
      });
      // Storages differ in what they say of a signature that is not right, and of one that is malformed.
      if ([400, 401, 403].includes(statusCode)) {
        await body.dump();
        return sendAnswer(reply, addressRefused);
      }
      return await reply.code(statusCode).headers(pick(headers, answerHeaders)).send(body);
    } catch (err) {
      request.log.error({ err }, "storage did not answer");
      return sendAnswer(reply, storageUnavailable);
    }
  });
}

function pick(
  headers: Record<string, string | string[] | undefined>,
  names: string[],
): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => (typeof headers[name] === "string" ? [[name, headers[name]]] : [])),
  );
}
