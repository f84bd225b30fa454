import type { FastifyInstance } from "fastify";
import type { Pool } from "pg";
import { allowAnyOrigin } from "../shared/web/any-origin.ts";
import { NotServing, queryWhileOn } from "../shared/web/database.ts";
import { makeError, sendError } from "../shared/web/error-responses.ts";
import { limitClients } from "../shared/web/limit-clients.ts";
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
  const limit = limitClients(publicReportsAnHour, 3600);
  const find = async (reportId: string): Promise<string | null> => {
    if (!isFileName(reportId)) return null;
    const [isPublic] = await queryWhileOn(pool, "publication.is_public_report($1)", [reportId]);
    return isPublic === true ? await storage.signDownload(reportId) : null;
  };
  const url = "/dissemination/report/pdf/:reportId";
  const onRequest = allowAnyOrigin(app, url);
  app.get<{ Params: { reportId: string } }>(url, { onRequest }, async (request, reply) => {
    const seconds = await limit(request.ip);
    if (seconds !== undefined) {
      metrics.countPublicReport("limited");
      return sendError(reply, describeLimit(seconds));
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

function describeLimit(seconds: number) {
  const texts = {
    message: `This client IP requested more than ${publicReportsAnHour} reports in an hour.`,
    hint: "Wait the number of seconds in Retry-After.",
  };
  return makeError(429, "too_many_requests", texts, { "retry-after": String(seconds) });
}
