import type { FastifyInstance } from "fastify";
import type { Pool } from "pg";
import { readRateLimits } from "../../service/read-rate-limits.ts";
import type { SiteConfig } from "../config.ts";
import { describeAppUrl } from "../describe-app-url.ts";
import { sendBody } from "../send-body.ts";
import { describeOpenApi } from "./describe-openapi.ts";
import { type DescribedService, readService } from "./read-service.ts";

const keepMilliseconds = 30_000;
const nothingServed = {
  code: "no_version_served",
  message: "No version of the API is deployed.",
  details: null,
  hint: "Deploy one with npm run db:deploy.",
};
const databaseAway = {
  code: "temporarily_unavailable",
  message: "The database did not answer, so the API cannot be described now.",
  details: null,
  hint: "Try again in a few seconds.",
};

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
      if (service === undefined) return reply.code(503).header("retry-after", "5").send(databaseAway);
      const { apiUrl, contact } = config;
      const addresses = { apiUrl, contact, appUrl: describeAppUrl(apiUrl, request.headers.host) };
      const wanted = typeof version === "string" ? version : undefined;
      const document = describeOpenApi(service, addresses, readRateLimits(), wanted);
      if (document === undefined) return reply.code(404).send(nothingServed);
      const body = JSON.stringify(document);
      return sendBody(request, reply, { body, type: "application/json; charset=utf-8" });
    },
  });
}
