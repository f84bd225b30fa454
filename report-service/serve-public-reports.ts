import type { FastifyInstance, FastifyReply } from "fastify";
import type { Pool } from "pg";
import { RateLimiterMemory, type RateLimiterRes } from "rate-limiter-flexible";
import { type Answer, sendAnswer, unavailable } from "./answers.ts";
import { askDatabase, DatabaseUnavailable } from "./database.ts";
import type { PublicReport, ReportMetrics } from "./metrics.ts";
import { isReportId } from "./report-id.ts";
import { longestLifeSeconds, type Storage, StorageUnavailable } from "./storage.ts";

/** Requests of an address in an hour, found or not. Each process counts for itself. */
export const publicReportsAnHour = 600;

const expiresInSeconds = longestLifeSeconds - 10;

/** The one answer for a report that is suppressed or superseded, that does not exist, and that has no file. */
const notPublic: Answer = {
  status: 404,
  body: {
    code: "report_not_found",
    message: "There is no public report with this report_id.",
    details: "A report_id looks like 2023-06-GSAFAC-0000000001.",
    hint: "A suppressed report takes an API key with Tribal access: see request_file_access.",
  },
};

const overLimit: Answer = {
  status: 429,
  body: {
    code: "too_many_requests",
    message: `More than ${publicReportsAnHour} reports an hour were asked for from this address.`,
    details: null,
    hint: "Come back after the seconds that Retry-After tells.",
  },
};

const notNow: Answer = { ...unavailable, body: { ...unavailable.body, details: null } };

/** Redirects to a signed address of a public report's PDF, which lives for a minute or less. Needs no key. */
export function servePublicReports(
  app: FastifyInstance,
  { pool, storage, metrics }: { pool: Pool; storage: Storage; metrics: ReportMetrics },
): void {
  const limiter = new RateLimiterMemory({ points: publicReportsAnHour, duration: 3600 });
  const find = async (reportId: string): Promise<string | null> => {
    if (!isReportId(reportId)) return null;
    const [isPublic] = await askDatabase(pool, "select publication.is_public_report($1)", [reportId]);
    return isPublic === true ? await storage.signDownload(reportId, { expiresInSeconds }) : null;
  };
  app.get<{ Params: { reportId: string } }>("/dissemination/report/pdf/:reportId", async (request, reply) => {
    const note = (result: PublicReport) => metrics.publicReports.inc({ result });
    const refusal = await limiter.consume(groupAddress(request.ip)).then(
      () => undefined,
      (error: RateLimiterRes) => error,
    );
    if (refusal !== undefined) {
      note("limited");
      return sendLimit(reply, refusal);
    }
    try {
      const address = await find(request.params.reportId);
      note(address === null ? "not_found" : "redirected");
      return address === null ? sendAnswer(reply, notPublic) : reply.redirect(address, 302);
    } catch (error) {
      if (!(error instanceof StorageUnavailable || error instanceof DatabaseUnavailable)) throw error;
      note("unavailable");
      request.log.error({ err: error }, "a public report could not be redirected to");
      return sendAnswer(reply, notNow);
    }
  });
}

function sendLimit(reply: FastifyReply, { msBeforeNext }: RateLimiterRes): FastifyReply {
  const seconds = String(Math.max(1, Math.ceil(msBeforeNext / 1000)));
  return sendAnswer(reply, { ...overLimit, headers: { "retry-after": seconds } });
}

/** Whoever has an IPv6 address has a whole /64 of them. */
function groupAddress(address: string): string {
  if (!address.includes(":") || address.startsWith("::ffff:")) return address;
  const [head = "", tail = ""] = address.split("::");
  const [before, after] = [head.split(":").filter(Boolean), tail.split(":").filter(Boolean)];
  const missing = Math.max(0, 8 - before.length - after.length);
  return [...before, ...Array.from({ length: missing }, () => "0"), ...after].slice(0, 4).join(":");
}
