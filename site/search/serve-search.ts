import type { FastifyReply, FastifyRequest } from "fastify";
import { sendError } from "../../shared/web/error-responses.ts";
import { readList } from "../check/read-list.ts";
import { findState } from "../names.ts";
import type { PageRoutes } from "../page-routes.ts";
import { writeSearch } from "../pages/search.ts";
import { readYear } from "../read-filters.ts";
import { identifyVisitor, SearchRefused } from "./limit-queries.ts";
import { cleanSearch, type Filters, readSearch } from "./read-search.ts";
import { largestTotal, pageRows, type Search } from "./search-reports.ts";

/** Serves searches, and links such as /search?q=REPORT_ID. The parameter `as` is the place of the meaning that the visitor chose. */
export function serveSearch({ addRoute, describeContext, sendPage }: PageRoutes, search: Search): void {
  addRoute("/search", async (request, reply) => {
    const { q, as, page: typedPage, ...narrowed } = request.query as Record<string, unknown>;
    const filters = readFilters(narrowed);
    const text = cleanSearch(q);
    const list = readList(text);
    if (list.entries.length > 1 && list.unread.length === 0 && list.address !== undefined)
      return reply.redirect(`/check?u=${list.address}`, 302);
    const isEmpty = text === "" && Object.keys(filters).length === 0;
    const context = await describeContext(request);
    if (isEmpty) return sendPage(request, reply, writeSearch(context, undefined));
    const asked = readPlace(as, Number.POSITIVE_INFINITY);
    const page = (readPlace(typedPage, largestTotal / pageRows) ?? 0) + 1;
    const readings = readSearch(text, filters).sort(
      (one, other) => Number(other.place === asked) - Number(one.place === asked),
    );
    try {
      const found = await search(identifyVisitor(request, reply), text, readings, page);
      const body = writeSearch(context, { text, filters, readings, asked, page, found });
      return sendPage(request, reply, body, { isPrivate: true });
    } catch (error) {
      if (error instanceof SearchRefused) return refuse(request, reply, error);
      throw error;
    }
  });
}

function refuse({ log }: FastifyRequest, reply: FastifyReply, error: SearchRefused): FastifyReply {
  if (error.cause) log.error({ err: error }, "a search failed");
  return sendError(reply, error.response);
}

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
