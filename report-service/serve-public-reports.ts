import type { FastifyInstance } from "fastify";
import type { Pool } from "pg";
import { RateLimiterMemory, type RateLimiterRes } from "rate-limiter-flexible";
import { groupAddress } from "../shared/group-address.ts";
import { NotServing, queryWhileOn } from "./database.ts";
import { makeError, sendError } from "./error-responses.ts";
import type { ReportMetrics } from "./metrics.ts";
import { isFileName, type Storage } from "./storage.ts";

/** Most requests of a client IP in an hour, whether or not the report exists. Each process counts separately. */
export const publicReportsAnHour = 600;

/** The same response for a report that is suppressed or superseded, does not exist, or has no file. */
const notPublic = makeError(404, "report_not_found", {
  message: "There is no public report with this report_id.",
  details: "A report_id looks like 2023-06-GSAFAC-0000000001.",
  hint: "For a suppressed report, call the API's /rpc/request_file_access with a Tribal API key.",
});

/** Redirects requests for a public report's PDF to a signed URL. Needs no key. */
export function servePublicReports(
  app: FastifyInstance,
  { pool, storage, metrics }: { pool: Pool; storage: Storage; metrics: ReportMetrics },
): void {
  const limiter = new RateLimiterMemory({ points: publicReportsAnHour, duration: 3600 });
  const find = async (reportId: string): Promise<string | null> => {
    if (!isFileName(reportId)) return null;
    const [isPublic] = await queryWhileOn(pool, "publication.is_public_report($1)", [reportId]);
    return isPublic === true ? await storage.signDownload(reportId) : null;
  };
  app.get<{ Params: { reportId: string } }>("/dissemination/report/pdf/:reportId", async (request, reply) => {
    const use = await limiter.consume(groupAddress(request.ip)).catch((refusal: RateLimiterRes) => refusal);
    if (use.consumedPoints > publicReportsAnHour) {
      metrics.countPublicReport("limited");
      return sendError(reply, describeLimit(use));
    }
    try {
      const signedUrl = await find(request.params.reportId);
      metrics.countPublicReport(signedUrl === null ? "not_found" : "redirected");
      return signedUrl === null ? sendError(reply, notPublic) : reply.redirect(signedUrl);
    } catch (error) {
      metrics.countPublicReport(error instanceof NotServing ? error.reason : "unavailable");
      throw error;
    }
  });
}

function describeLimit({ msBeforeNext }: RateLimiterRes) {
  const texts = {
    message: `This client IP requested more than ${publicReportsAnHour} reports in an hour.`,
    hint: "Wait the number of seconds in Retry-After.",
  };
  const seconds = String(Math.max(1, Math.ceil(msBeforeNext / 1000)));
  return makeError(429, "too_many_requests", texts, { "retry-after": seconds });
}
