import type { FastifyInstance } from "fastify";
import type { Pool } from "pg";
import { type Answer, notFound, sendAnswer, unavailable } from "../../report-service/answers.ts";
import { readRateLimits } from "../../service/read-rate-limits.ts";
import { describeAppUrl } from "../describe-app-url.ts";
import type { SiteConfig } from "../page-context.ts";
import { sendBody } from "../send-body.ts";
import { describeOpenApi } from "./describe-openapi.ts";
import { type DescribedService, readService } from "./read-service.ts";

const keepMilliseconds = 30_000;
const nothingServed: Answer = { ...notFound, body: { ...notFound.body, details: null, hint: null } };
const notNow: Answer = { ...unavailable, body: { ...unavailable.body, details: null } };

/** Serves the description of the whole service at `/openapi.json`, without a key and to every origin. */
export function serveOpenApi(
  app: FastifyInstance,
  { pool, config }: { pool: Pool; config: SiteConfig },
): void {
  let asked: Promise<DescribedService> | undefined;
  let askAgainAt = 0;
  const read = () => {
    if (asked === undefined || performance.now() > askAgainAt) {
      askAgainAt = performance.now() + keepMilliseconds;
      asked = readService(pool);
      asked.catch(() => {
        asked = undefined;
      });
    }
    return asked;
  };
  app.route<{ Querystring: { version?: unknown } }>({
    method: ["GET", "HEAD"],
    url: "/openapi.json",
    handler: async (request, reply) => {
      reply.headers({ "access-control-allow-origin": "*", "cache-control": "public, no-cache" });
      const { version } = request.query;
      const service = await read().catch((err: unknown) => {
        request.log.warn({ err }, "the service could not be described");
        return undefined;
      });
      if (service === undefined) return sendAnswer(reply, notNow);
      const { apiUrl, contact } = config;
      const addresses = { apiUrl, contact, appUrl: describeAppUrl(apiUrl, request.headers.host) };
      const wanted = typeof version === "string" ? version : undefined;
      const document = describeOpenApi(service, addresses, readRateLimits(), wanted);
      if (document === undefined) return sendAnswer(reply, nothingServed);
      const body = JSON.stringify(document);
      return sendBody(request, reply, { body, type: "application/json; charset=utf-8" });
    },
  });
}
