import { createHash } from "node:crypto";
import { z } from "zod";
import { answerJson } from "../error-answers.ts";
import { getHeader, removeHeader, setHeader } from "../headers.ts";
import { hidePath, isLoggableId } from "../hide-secrets.ts";
import { parseQuery } from "../parse-query.ts";
import { NOT_IMPLEMENTED, type Plugin, type PluginHandler } from "./plugin.ts";
import { type RequestBounds, refuseRequest } from "./refuse-request.ts";
import { refuseSelect } from "./refuse-select.ts";

/** What does the same as a Lua function; `bounds` are the numbers that the function begins with. */
type Emulate = (bounds: number[]) => PluginHandler;

/**
 * The Lua functions of gateway/kong.yml, by the digest of their text (see describeLua). Whoever changes one changes what
 * does the same here, and then the digest, which the refusal of the new text names.
 */
const KNOWN: Record<string, Emulate> = {
  "9a1f1d74a9a55e23": () => ({
    access({ request, path }) {
      // A path that is not ASCII as it is sent does not come so far: Node refuses it.
      if (hidePath(path) !== path) {
        return answerJson(404, {
          code: "no_such_table",
          details: null,
          hint: "GET / describes what there is.",
          message: "There is no such table.",
        });
      }
      const id = getHeader(request, "x-request-id");
      if (id !== undefined && !isLoggableId(id)) removeHeader(request, "X-Request-Id");
      return undefined;
    },
  }),
  // The embedded gateway keeps no answers on disk: it reads from PostgREST as its client reads.
  c65318c6245ee7f3: () => ({}),
  d6cc97bf660d3b52: (bounds) => {
    const [longestQuery, longestName, mostParameters, mostItems, mostColumns, deepest] = bounds;
    const named = { longestQuery, longestName, mostParameters, mostItems, mostColumns, deepest };
    return { access: (exchange) => refuseRequest(exchange, named as RequestBounds) };
  },
  "42d47d624872fcd3": ([mostEmbedded = 0, deepestEmbedding = 0, longestAliases = 0]) => ({
    access: ({ query }) => refuseSelect(query, { mostEmbedded, deepestEmbedding, longestAliases }),
  }),
  e75826e7e4b60631: () => ({
    access({ request, query }) {
      const reportId = parseQuery(query).get("report_id")?.[0];
      if (typeof reportId === "string" && reportId.startsWith("eq.")) {
        setHeader(request, "X-Filter-Report-Id", reportId.slice(0, 100).replace(/[^\0-\x7f]/g, "?"));
      } else removeHeader(request, "X-Filter-Report-Id");
      return undefined;
    },
  }),
  c2cc0e6037838094: () => ({
    access(exchange) {
      let key: string | true | undefined = getHeader(exchange.request, "x-api-key");
      if (exchange.query.includes("api_key=")) {
        key ??= parseQuery(exchange.query).get("api_key")?.[0];
        exchange.query = `&${exchange.query}`.replace(/&api_key=[^&]*/g, "").replace(/^&/, "");
      }
      if (typeof key === "string") {
        const digest = createHash("sha256").update(key, "latin1").digest("hex");
        setHeader(exchange.request, "x-api-key", digest);
      }
      return undefined;
    },
  }),
  "2281127dd98e5a88": () => ({
    filterHeaders(_exchange, headers, status, source) {
      if (source !== "service") return;
      removeHeader(headers, "Content-Location");
      if (status === 304 || isMended(status)) removeHeader(headers, "Content-Length");
      if (status === 503 && (getHeader(headers, "retry-after") ?? "0") === "0") {
        setHeader(headers, "Retry-After", "30");
      }
    },
  }),
  "50f2bd2d2bc8c578": () => ({ rewriteBody: (status) => (isMended(status) ? mendError : undefined) }),
};

const TIMEOUT_HINT =
  "The query ran longer than this key may. Filter by report_id, audit_year, fac_accepted_date " +
  "or another indexed column, ask for fewer rows, or download the bulk files.";
const AWAY = JSON.stringify({
  code: "database_away",
  details: null,
  hint: "Send the request again in half a minute.",
  message: "The database cannot be reached.",
});

const isMended = (status: number) => status === 400 || status === 500 || status === 503;

function mendError(body: string): string {
  if (/^\{"code":"(PGRST00|",)/.test(body)) return AWAY;
  if (!body.includes('"canceling statement due to statement timeout"')) return body;
  return body.replace('"hint":null', `"hint":"${TIMEOUT_HINT}"`);
}

/** Lua as far as it matters: spaces and the values of its bounds do not. */
function describeLua(text: string): { digest: string; bounds: number[] } {
  const bounds: number[] = [];
  const shape = text
    .trim()
    .replace(/\s+/g, " ")
    .replace(/(local [a-z_, ]+ = )(\d+(?:, \d+)*)/g, (_, names: string, values: string) => {
      bounds.push(...values.split(", ").map(Number));
      return names;
    });
  return { digest: createHash("sha256").update(shape).digest("hex").slice(0, 16), bounds };
}

const lua = z
  .array(
    z.string().transform((text, context) => {
      const { digest, bounds } = describeLua(text);
      const emulate = KNOWN[digest];
      if (emulate !== undefined) return emulate(bounds);
      context.addIssue({ code: "custom", message: `${NOT_IMPLEMENTED} (Lua with the digest ${digest})` });
      return z.NEVER;
    }),
  )
  .default([]);
const config = z.strictObject({ access: lua, header_filter: lua, body_filter: lua });

/** Runs what stands for the Lua functions of gateway/kong.yml, in their order. */
export const preFunction: Plugin<z.output<typeof config>> = {
  name: "pre-function",
  priority: 1_000_000,
  onConsumers: false,
  instanceName: "hash-api-key",
  config,
  create: ({ access, header_filter, body_filter }) => ({
    async access(exchange) {
      for (const handler of access) {
        const answer = await handler.access?.(exchange);
        if (answer) return answer;
      }
      return undefined;
    },
    filterHeaders(...answer) {
      for (const handler of header_filter) handler.filterHeaders?.(...answer);
    },
    rewriteBody(status) {
      return body_filter[0]?.rewriteBody?.(status);
    },
  }),
};
