import type { FastifyRequest } from "fastify";
import { isReportId } from "./check/read-list.ts";
import { readFindingCriteria } from "./findings/read-criteria.ts";
import type { PageRoutes } from "./page-routes.ts";
import { writeReport, writeUnknownReport } from "./pages/report.ts";
import { readPage } from "./read-filters.ts";
import type { ReportReader } from "./report.ts";
import { identifyVisitor } from "./search/limit-queries.ts";
import { sendSpreadsheet } from "./send-csv.ts";

/** The database knows which report IDs exist. */
const reportParameter = ":reportId(^[\\w-]+$)";

/** Serves public reports and their tables as CSV, and redirects the federal service's paths to them. */
export function serveReports(
  { addRoute, describeContext, sendPage }: PageRoutes,
  { read, list }: ReportReader,
): void {
  const parameters = (request: FastifyRequest) => request.params as { reportId: string; table: string };
  addRoute(`/record/${reportParameter}`, async (request, reply) => {
    const { reportId } = parameters(request);
    const written = reportId.toUpperCase();
    if (reportId !== written && isReportId(written)) return reply.redirect(`/record/${written}`, 302);
    const { page: typed, program, aln } = request.query as Record<string, unknown>;
    const page = readPage(typed) ?? 1;
    const { criteria: asked } = readFindingCriteria({ program, aln });
    const { report, successor } = await read(identifyVisitor(request, reply), reportId, page);
    const context = await describeContext(request);
    const body = report
      ? writeReport(context, { reportId, page, asked, report })
      : writeUnknownReport(context, reportId, successor);
    return sendPage(request, reply, body, { status: report ? 200 : 404 });
  });
  addRoute("/record/:reportId(^[\\w-]+)/:table(^[a-z_]+).csv", async (request, reply) => {
    const { reportId, table } = parameters(request);
    const rows = await list(identifyVisitor(request, reply), reportId, table);
    if (rows === undefined) return reply.callNotFound();
    const context = await describeContext(request);
    const columns = context.facts?.api[0]?.tables.find(({ name }) => name === table)?.columns ?? [];
    return sendSpreadsheet(request, reply, context, {
      name: [reportId, table],
      columns: columns.map(({ name }) => name),
      rows,
    });
  });
  addRoute(`/dissemination/summary/${reportParameter}`, (request, reply) =>
    reply.redirect(`/record/${parameters(request).reportId}`, 302),
  );
}
