import type { FastifyReply, FastifyRequest } from "fastify";
import { sendError } from "../../shared/web/error-responses.ts";
import { readList } from "../check/read-list.ts";
import type { PageContext } from "../page-context.ts";
import { writeSearch } from "../pages/search.ts";
import { sendBody } from "../send-body.ts";
import { identifyVisitor, SearchRefused } from "./limit-queries.ts";
import { cleanSearch, readSearch } from "./read-search.ts";
import { largestTotal, pageRows, type Search } from "./search-reports.ts";

interface SearchParts {
  addRoute: (url: string, handler: (request: FastifyRequest, reply: FastifyReply) => unknown) => void;
  describeContext: (request: FastifyRequest) => Promise<PageContext>;
  securityHeaders: Record<string, string>;
}

/** Serves searches, and links such as /search?q=REPORT_ID. The parameter `as` is the place of the meaning that the visitor chose. */
export function serveSearch(
  { addRoute, describeContext, securityHeaders }: SearchParts,
  search: Search,
): void {
  addRoute("/search", async (request, reply) => {
    const { q, as, page: typedPage } = request.query as Record<string, unknown>;
    const text = cleanSearch(q);
    const list = readList(text);
    if (list.entries.length > 1 && list.unread.length === 0 && list.address !== undefined)
      return reply.redirect(`/check?u=${list.address}`, 302);
    const context = await describeContext(request);
    const cacheControl = `${text === "" ? "public" : "private"}, no-cache`;
    reply.headers({ ...securityHeaders, "cache-control": cacheControl });
    const send = (body: string) => sendBody(request, reply, { body, type: "text/html; charset=utf-8" });
    if (text === "") return send(writeSearch(context, undefined));
    const asked = readPlace(as, Number.POSITIVE_INFINITY);
    const page = (readPlace(typedPage, largestTotal / pageRows) ?? 0) + 1;
    const readings = readSearch(text).sort(
      (one, other) => Number(other.place === asked) - Number(one.place === asked),
    );
    try {
      const found = await search(identifyVisitor(request, reply), readings, page);
      return send(writeSearch(context, { text, readings, asked, page, found }));
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

/** Reads a number from 1 to `most`, as an index. */
function readPlace(typed: unknown, most: number): number | undefined {
  const place = /^[1-9]\d?$/.test(String(typed)) ? Number(typed) : 0;
  return place >= 1 && place <= most ? place - 1 : undefined;
}
