import type { FastifyReply, FastifyRequest } from "fastify";
import type { ReadAuditee } from "./auditee.ts";
import type { PageRoutes } from "./page-routes.ts";
import { listReportRows, reportColumns, writeAuditee, writeUnknownAuditee } from "./pages/auditee.ts";
import { identifyVisitor } from "./search/limit-queries.ts";
import { sendSpreadsheet } from "./send-csv.ts";
import { isComparable } from "./similar-ids.ts";

/** Serves the public reports of an auditee, by its UEI or EIN, as a page and as CSV. */
export function serveAuditees(
  { addRoute, describeContext, sendPage }: PageRoutes,
  readAuditee: ReadAuditee,
): void {
  const read = async (request: FastifyRequest, reply: FastifyReply) => {
    const { id: typed } = request.params as { id: string };
    const id = typed.replace(/^(\d\d)-/, "$1").toUpperCase();
    const nothing = { found: undefined, similar: [] };
    const read = isComparable(id) ? await readAuditee(identifyVisitor(request, reply), id) : nothing;
    return { typed, id, ...read };
  };
  addRoute("/auditee/:id(^[\\w-]+$)", async (request, reply) => {
    const { typed, id, found, similar } = await read(request, reply);
    if (found && typed !== id) return reply.redirect(`/auditee/${id}`, 302);
    const context = await describeContext(request);
    const body = found ? writeAuditee(context, id, found) : writeUnknownAuditee(context, typed, similar);
    return sendPage(request, reply, body, { status: found ? 200 : 404 });
  });
  addRoute("/auditee/:id(^[\\w-]+).csv", async (request, reply) => {
    const { id, found } = await read(request, reply);
    if (found === undefined) return reply.callNotFound();
    return sendSpreadsheet(request, reply, await describeContext(request), {
      name: ["auditee", id],
      columns: reportColumns,
      rows: listReportRows(found),
    });
  });
}
