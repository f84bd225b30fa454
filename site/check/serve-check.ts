import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { makeError, sendError } from "../../shared/web/error-responses.ts";
import type { PageContext } from "../page-context.ts";
import type { PageRoutes } from "../page-routes.ts";
import { writeCheck } from "../pages/check.ts";
import { refuseUnread } from "../read-filters.ts";
import { identifyVisitor } from "../search/limit-queries.ts";
import { sendSpreadsheet } from "../send-csv.ts";
import { type CheckList, writeId } from "./check-reports.ts";
import { nameList } from "./read-list.ts";
import { type Asked, readAsked, readWanted } from "./read-wanted.ts";
import { type CheckResult, runCheck, writePath } from "./run-check.ts";
import { writeCheckTable, writeComparisonTable, writeDecisionTable } from "./write-check-rows.ts";

/** Enough for 1,000 entries, however a browser encodes them. */
const largestBody = 256 * 1024;

/** Serves checks of lists. Browsers post a list, and get to an address that can be kept if the list fits into one. */
export function serveCheck(
  app: FastifyInstance,
  { describeContext, sendPage }: PageRoutes,
  check: CheckList,
): void {
  const run = (request: FastifyRequest, reply: FastifyReply, asked: Asked, { facts }: PageContext) =>
    runCheck(asked, facts, (list, wanted) => check(identifyVisitor(request, reply), list, wanted));
  const showPage = async (request: FastifyRequest, reply: FastifyReply, asked: Asked) => {
    const context = await describeContext(request);
    const result = asked.list === "" ? undefined : await run(request, reply, asked, context);
    return sendPage(request, reply, writeCheck(context, result), { isPrivate: result !== undefined });
  };
  const sendCsv = async (request: FastifyRequest, reply: FastifyReply, asked: Asked) => {
    if (readWanted(asked, []).unread.length > 0) return sendError(reply, refuseUnread("reports", "/check"));
    const context = await describeContext(request);
    const result = await run(request, reply, asked, context);
    return sendSpreadsheet(request, reply, context, {
      name: nameFile(result),
      path: keepDay(request.url, result),
      ...writeTable(result, context.appUrl),
    }).header("cache-control", "private, no-cache");
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

const isOfDecisions = ({ wanted }: CheckResult): boolean => wanted.rows === "decisions";

/** Names a file for its content: "check-60-entries-2023", "decisions-past-as-of-2026-01-31-ABCDEFGH1234". */
const nameFile = (result: CheckResult) => {
  const { list, wanted, due, asOf } = result;
  return [
    isOfDecisions(result) ? `decisions-${due}-as-of-${asOf}` : "check",
    nameList(list.lines.map(writeId)),
    wanted.years?.join("-") ?? (wanted.compared && "by-year"),
    !isOfDecisions(result) && wanted.change,
    wanted.aln,
  ];
};

/** Adds the day and the choice of decisions to a file's address, so that the file is the same on any day. A posted list has no address. */
function keepDay(url: string, result: CheckResult): string {
  const { typed, wanted, asOf: as_of, due } = result;
  const hasDates = !wanted.compared || isOfDecisions(result);
  const missing = Object.entries({ as_of, ...(isOfDecisions(result) && { due }) }).filter(
    ([parameter]) => typed[parameter as "as_of" | "due"] === "",
  );
  return hasDates && missing.length > 0 && url.includes("?") ? `${url}&${new URLSearchParams(missing)}` : url;
}

function writeTable(result: CheckResult, appUrl: string) {
  const { checked, shownEntries, shownDecisions, wanted, asOf } = result;
  if (isOfDecisions(result)) return writeDecisionTable(shownDecisions, asOf, appUrl);
  return wanted.compared
    ? writeComparisonTable(shownEntries, wanted, appUrl)
    : writeCheckTable(checked, wanted, asOf, appUrl);
}

function readForm(body: string): Asked {
  const form = new URLSearchParams(body);
  return readAsked({ ...Object.fromEntries(form), u: form.getAll("u") });
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
