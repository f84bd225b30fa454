import type { FastifyReply, FastifyRequest } from "fastify";
import { sendError } from "../../shared/web/error-responses.ts";
import { readList } from "../check/read-list.ts";
import { findState } from "../names.ts";
import type { PageRoutes } from "../page-routes.ts";
import { listSearchRows, searchColumns, writeSearch } from "../pages/search.ts";
import { readYear, refuseUnread } from "../read-filters.ts";
import { sendSpreadsheet } from "../send-csv.ts";
import { identifyVisitor } from "./limit-queries.ts";
import { cleanSearch, type Filters, longestSearch, readSearch } from "./read-search.ts";
import { largestTotal, pageRows, type Search } from "./search-reports.ts";
import { cut } from "./words.ts";

/** Serves searches, as a page and as CSV, and links such as /search?q=REPORT_ID. */
export function serveSearch({ addRoute, describeContext, sendPage }: PageRoutes, search: Search): void {
  const run = async (request: FastifyRequest, reply: FastifyReply, asked: AskedSearch) => {
    const readings = readSearch(asked.text, asked.filters).sort(
      (one, other) => Number(other.place === asked.asked) - Number(one.place === asked.asked),
    );
    const found = await search(identifyVisitor(request, reply), asked.text, readings, asked.page);
    return { ...asked, readings, found };
  };
  addRoute("/search", async (request, reply) => {
    const asked = readAsked(request.query as Record<string, unknown>);
    const list = readList(asked.typed);
    if (list.entries.length > 1 && list.unread.length === 0 && list.address !== undefined)
      return reply.redirect(`/check?u=${list.address}`, 302);
    const result = isEmpty(asked) ? undefined : await run(request, reply, asked);
    const body = writeSearch(await describeContext(request), result);
    return sendPage(request, reply, body, { isPrivate: result !== undefined });
  });
  addRoute("/search.csv", async (request, reply) => {
    const asked = readAsked(request.query as Record<string, unknown>);
    if (asked.unread.length > 0) return sendError(reply, refuseUnread("reports", "/search"));
    const context = await describeContext(request);
    const rows = isEmpty(asked)
      ? []
      : listSearchRows((await run(request, reply, asked)).found, context.appUrl);
    const { text, filters, page } = asked;
    return sendSpreadsheet(request, reply, context, {
      name: [
        "reports",
        text,
        filters.state,
        filters.year,
        filters.findings && "with-findings",
        page > 1 && `page-${page}`,
      ],
      columns: searchColumns,
      rows,
    });
  });
}

interface AskedSearch {
  /** What was typed, and as much of it as is read. */
  typed: string;
  text: string;
  filters: Filters;
  /** The place of the meaning that the visitor chose. */
  asked: number | undefined;
  page: number;
  /** What was typed into other parameters, but is not understood: "“99” is not an audit year". */
  unread: string[];
}

function readAsked({ q, as, page, ...narrowed }: Record<string, unknown>): AskedSearch {
  const filters = readFilters(narrowed);
  const mostPages = largestTotal / pageRows;
  const place = readPlace(page, mostPages);
  const unread = [
    describeUnread(narrowed.year, filters.year, "an audit year, such as 2023"),
    describeUnread(narrowed.state, filters.state, "a state, such as TX or Texas"),
    describeUnread(narrowed.findings, filters.findings, "1, the only value of findings"),
    describeUnread(page, place, `a page: a search has at most ${mostPages}`),
  ];
  const typed = cleanSearch(q);
  return {
    typed,
    text: cut(typed, longestSearch).trim(),
    filters,
    asked: readPlace(as, Number.POSITIVE_INFINITY),
    page: (place ?? 0) + 1,
    unread: unread.filter((each) => each !== undefined),
  };
}

function describeUnread(typed: unknown, read: unknown, expected: string): string | undefined {
  const text = [typed ?? ""].flat().join(", ");
  return text === "" || read !== undefined ? undefined : `“${text.slice(0, 60)}” is not ${expected}`;
}

const isEmpty = ({ text, filters, unread }: AskedSearch): boolean =>
  text === "" && Object.keys(filters).length === 0 && unread.length === 0;

function readFilters({ state, year, findings }: Record<string, unknown>): Filters {
  const found = typeof state === "string" ? findState(state) : undefined;
  const ofYear = typeof year === "string" ? readYear(year) : undefined;
  return {
    ...(found && { state: found }),
    ...(ofYear && { year: ofYear }),
    ...(findings === "1" && { findings: true }),
  };
}

/** Reads a number from 1 to `most`, as an index. */
function readPlace(typed: unknown, most: number): number | undefined {
  const place = /^[1-9]\d?$/.test(String(typed)) ? Number(typed) : 0;
  return place >= 1 && place <= most ? place - 1 : undefined;
}
