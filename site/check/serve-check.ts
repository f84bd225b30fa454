import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { makeError, sendError } from "../../shared/web/error-responses.ts";
import type { PageRoutes } from "../page-routes.ts";
import { writeCheck } from "../pages/check.ts";
import { readAlnOrAgency, readYear } from "../read-filters.ts";
import { identifyVisitor } from "../search/limit-queries.ts";
import { cut } from "../search/words.ts";
import { sendSpreadsheet } from "../send-csv.ts";
import type { CheckList } from "./check-reports.ts";
import { readList } from "./read-list.ts";
import { checkColumns, writeCheckRows } from "./write-check-rows.ts";

/** Enough for 1,000 entries, however a browser encodes them. */
const largestBody = 256 * 1024;

/** Serves checks of lists. Browsers post a list, and get to an address that can be kept if the list fits into one. */
export function serveCheck(
  app: FastifyInstance,
  { describeContext, sendPage }: PageRoutes,
  check: CheckList,
): void {
  const showPage = async (request: FastifyRequest, reply: FastifyReply, asked: Asked) => {
    const result = asked.list === "" ? undefined : await runCheck(request, reply, asked);
    const body = writeCheck(await describeContext(request), result);
    return sendPage(request, reply, body, { isPrivate: result !== undefined });
  };
  const sendCsv = async (request: FastifyRequest, reply: FastifyReply, asked: Asked) => {
    const { checked, list, wanted } = await runCheck(request, reply, asked);
    const { appUrl } = await describeContext(request);
    return sendSpreadsheet(request, reply, {
      name: `check${wanted.year ? `-${wanted.year}` : ""}`,
      columns: checkColumns,
      rows: writeCheckRows(checked, list, appUrl),
    }).header("cache-control", "private, no-cache");
  };
  const runCheck = async (request: FastifyRequest, reply: FastifyReply, typed: Asked) => {
    const list = readList(typed.list);
    const wanted = { year: readYear(typed.year), aln: readAlnOrAgency(typed.aln) };
    const checked = await check(identifyVisitor(request, reply), list.entries, wanted);
    return { typed, list, wanted, checked, path: writePath(typed), today: new Date() };
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
        errorHandler: refuseLargeBody,
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

/** What was typed into the fields of the form. */
interface Asked {
  list: string;
  year: string;
  aln: string;
}

function readAsked({ u, year, aln }: Record<string, unknown>): Asked {
  const read = (value: unknown) => (value === undefined ? "" : [value].flat().join("\n").trim());
  return { list: read(u), year: cut(read(year), 20), aln: cut(read(aln), 100) };
}

function readForm(body: string): Asked {
  const form = new URLSearchParams(body);
  return readAsked({ u: form.getAll("u"), year: form.get("year") ?? "", aln: form.get("aln") ?? "" });
}

/** The address of a check, with only what is not empty. Undefined if the list is too long for it, or has nothing to read. */
function writePath({ list, year, aln }: Asked): string | undefined {
  const { address } = readList(list);
  const others = new URLSearchParams(
    Object.entries({ year, aln }).filter(([, value]) => value !== ""),
  ).toString();
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

function refuseLargeBody(error: Error, _request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if ((error as { code?: string }).code !== "FST_ERR_CTP_BODY_TOO_LARGE") throw error;
  return sendError(reply, tooLarge);
}
