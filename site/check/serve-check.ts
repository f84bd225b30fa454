import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { DatabaseUnavailable } from "../../shared/web/database.ts";
import { makeError, sendError } from "../../shared/web/error-responses.ts";
import { writeEasternDate } from "../format.ts";
import type { PageContext } from "../page-context.ts";
import type { PageRoutes } from "../page-routes.ts";
import { writeCheck } from "../pages/check.ts";
import { refuseUnread } from "../read-filters.ts";
import { identifyVisitor } from "../search/limit-queries.ts";
import { sendSpreadsheet } from "../send-csv.ts";
import { listAuditYears } from "../totals.ts";
import { type CheckList, writeId } from "./check-reports.ts";
import { hasChanged } from "./compare-years.ts";
import { chooseDueFilter, decisionSorts, filterDecisions, listDecisions, wasAccepted } from "./decisions.ts";
import { nameList, readList } from "./read-list.ts";
import { type Asked, readAsked, readWanted, writeWanted } from "./read-wanted.ts";
import { writeCheckTable, writeComparisonTable, writeDecisionTable } from "./write-check-rows.ts";

/** Enough for 1,000 entries, however a browser encodes them. */
const largestBody = 256 * 1024;

/** Serves checks of lists. Browsers post a list, and get to an address that can be kept if the list fits into one. */
export function serveCheck(
  app: FastifyInstance,
  { describeContext, sendPage }: PageRoutes,
  check: CheckList,
): void {
  const showPage = async (request: FastifyRequest, reply: FastifyReply, asked: Asked) => {
    const context = await describeContext(request);
    const result = asked.list === "" ? undefined : await runCheck(request, reply, asked, context);
    const body = writeCheck(context, result);
    return sendPage(request, reply, body, { isPrivate: result !== undefined });
  };
  const sendCsv = async (request: FastifyRequest, reply: FastifyReply, asked: Asked) => {
    if (readWanted(asked, []).unread.length > 0) return sendError(reply, refuseUnread("reports", "/check"));
    const context = await describeContext(request);
    const result = await runCheck(request, reply, asked, context);
    const { list, checked, shownEntries, shownDecisions, wanted, due, asOf } = result;
    const isOfDecisions = wanted.rows === "decisions";
    // With the day and the choice in its address, the file has the same decisions on any day. A posted list has no address.
    const dated = Object.entries({ as_of: asOf, ...(isOfDecisions && { due }) }).filter(
      ([parameter]) => asked[parameter as "as_of" | "due"] === "",
    );
    const hasDates = !wanted.compared || isOfDecisions;
    return sendSpreadsheet(request, reply, context, {
      ...(hasDates &&
        dated.length > 0 &&
        request.url.includes("?") && {
          path: `${request.url}&${new URLSearchParams(dated)}`,
        }),
      name: [
        isOfDecisions ? `decisions-${due}-as-of-${asOf}` : "check",
        nameList(list.lines.map(writeId)),
        wanted.years?.join("-") ?? (wanted.compared && "by-year"),
        !isOfDecisions && wanted.change,
        wanted.aln,
      ],
      ...(isOfDecisions
        ? writeDecisionTable(shownDecisions, asOf, context.appUrl)
        : wanted.compared
          ? writeComparisonTable(shownEntries, wanted, context.appUrl)
          : writeCheckTable(checked, wanted, asOf, context.appUrl)),
    }).header("cache-control", "private, no-cache");
  };
  const runCheck = async (
    request: FastifyRequest,
    reply: FastifyReply,
    typed: Asked,
    { facts }: PageContext,
  ) => {
    const [list, wanted] = [readList(typed.list), readWanted(typed, listAuditYears(facts?.totals))];
    if (facts === undefined && wanted.compared?.length === 0)
      throw new DatabaseUnavailable("The database has not yet answered, so the audit years are unknown.");
    const checked = await check(identifyVisitor(request, reply), list, wanted);
    const asOf = wanted.asOf ?? writeEasternDate(new Date());
    const listed = listDecisions(checked, asOf);
    const decisions = listed.filter((decision) => wasAccepted(decision, asOf));
    const due = wanted.due ?? chooseDueFilter(decisions, asOf);
    const shownDecisions = filterDecisions(decisions, due, asOf).sort(decisionSorts[wanted.sort ?? "due"]);
    const path = writePath({ ...typed, ...writeWanted(wanted) });
    const shownEntries = checked.filter(
      (entry) => !wanted.change || hasChanged(entry, wanted, wanted.change),
    );
    return {
      ...{ typed, list, wanted, checked, shownEntries, path, asOf },
      ...{ due, decisions, shownDecisions, laterDecisions: listed.length - decisions.length },
    };
  };
  app.register(async (posts) => {
    posts.addContentTypeParser(
      "application/x-www-form-urlencoded",
      { parseAs: "string", bodyLimit: largestBody },
      (_request, body, done) => done(null, String(body)),
    );
    const addRoute = (
      url: string,
      handler: (request: FastifyRequest, reply: FastifyReply, asked: Asked) => unknown,
      receive = handler,
    ) => {
      posts.route({
        method: ["GET", "HEAD"],
        url,
        handler: (request, reply) =>
          handler(request, reply, readAsked(request.query as Record<string, unknown>)),
      });
      posts.route({
        method: "POST",
        url,
        errorHandler: refuseBody,
        handler: (request, reply) => {
          if (typeof request.body !== "string") return sendError(reply, notAForm);
          return receive(request, reply, readForm(request.body));
        },
      });
    };
    addRoute("/check", showPage, (request, reply, asked) => {
      const path = writePath(asked);
      return path === undefined ? showPage(request, reply, asked) : reply.redirect(path, 303);
    });
    addRoute("/check.csv", sendCsv);
  });
}

function readForm(body: string): Asked {
  const form = new URLSearchParams(body);
  return readAsked({ ...Object.fromEntries(form), u: form.getAll("u") });
}

/** The address of a check, with only what is not empty. Undefined if the list is too long for it, or has nothing to read. */
function writePath({ list, year, aln, as_of, due, sort, change }: Omit<Asked, "rows">): string | undefined {
  const { address } = readList(list);
  const others = new URLSearchParams(
    Object.entries({ year, aln, as_of, due, sort, change }).filter(([, value]) => value !== ""),
  )
    .toString()
    .replaceAll("%2C", ",");
  return !address ? undefined : `/check?u=${address}${others && `&${others}`}`;
}

const notAForm = makeError(415, "not_a_form", {
  message: "The list was not received, because it was not sent as a form.",
  hint: "Send it as application/x-www-form-urlencoded, or open /check and paste the list there.",
});

const tooLarge = makeError(413, "list_too_long", {
  message: "The list is longer than 256 KB.",
  hint: "Check at most 1,000 UEIs, EINs or report IDs at a time.",
});

function refuseBody(error: Error, _request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { code } = error as { code?: string };
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") return sendError(reply, tooLarge);
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") return sendError(reply, notAForm);
  throw error;
}
