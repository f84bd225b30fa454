import type { FastifyInstance, onRequestHookHandler } from "fastify";
import { Pool } from "undici";
import {
  type Answer,
  addressRefused,
  answerUnknown,
  makeUnavailable,
  notFound,
  sendAnswer,
} from "./answers.ts";
import type { S3StoreOptions } from "./storage.ts";

/** The headers that are passed on. */
const ofRequests = /^(range|if-(match|none-match|range|modified-since|unmodified-since))$/;
const ofResponses =
  /^(accept-ranges|cache-control|content-(disposition|length|range|type)|etag|last-modified)$/;

/**
 * Passes signed addresses of the reports on to the S3 API if clients cannot reach it, that is, if the public endpoint is this
 * service's own address and the bucket is in the path. The signature covers the host, so the storage gets the public one.
 * Only a signed `GET` below the reports' prefix is passed on. If any part of the address was changed, the answer is 403; if the
 * file has disappeared, 404; if the bucket has, or storage fails, 503.
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

  app.get(`/${bucket}/${keyPrefix}*`, { onRequest }, async (request, reply) => {
    const path = request.raw.url ?? "";
    const isSigned = /[?&]X-Amz-Signature=/.test(path) && path.startsWith("/");
    if (!isSigned) return sendAnswer(reply, answerUnknown(path));
    try {
      const { statusCode, headers, body } = await storage.request({
        method: "GET",
        path,
        headers: { ...pick(request.headers, ofRequests), host },
      });
      if (![200, 206, 304, 412, 416].includes(statusCode)) {
        const [, code = ""] = /<Code>(\w+)<\/Code>/.exec(await body.text()) ?? [];
        // Storage checks the signature before it says NoSuchKey. With any other code, a client may have invented the path.
        const file = code === "NoSuchKey" ? path.replace(/\?.*/, "") : undefined;
        const answer = refusals[code] ?? (isRefusal(statusCode) ? addressRefused : unavailable);
        const level = answer === addressRefused ? "warn" : "error";
        request.log[level]({ statusCode, code, bucket, file }, "storage did not serve a signed URL");
        return sendAnswer(reply, answer);
      }
      return await reply.code(statusCode).headers(pick(headers, ofResponses)).send(body);
    } catch (err) {
      request.log.error({ err }, "storage did not answer");
      return sendAnswer(reply, unavailable);
    }
  });
}

const unavailable = makeUnavailable();
/** By the error codes of the S3 API. */
const refusals: Record<string, Answer> = { NoSuchKey: notFound, NoSuchBucket: unavailable };
/** Storages answer altered addresses with different statuses; versitygw answers 404 to an unknown access key. */
const isRefusal = (status: number) => [400, 401, 403, 404].includes(status);

function pick(headers: Record<string, string | string[] | undefined>, names: RegExp) {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => names.test(name)));
}
