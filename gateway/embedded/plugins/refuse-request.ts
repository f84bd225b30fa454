import { type Answer, answerJson } from "../error-answers.ts";
import { getHeader, type HeaderList } from "../headers.ts";
import { holdsUtf8 } from "../request-target.ts";
import type { Exchange } from "./plugin.ts";

/** As gateway/kong.yml has them; each list of columns is bounded by `mostColumns`, the whole query by `mostItems`. */
export interface RequestBounds {
  longestQuery: number;
  longestName: number;
  mostParameters: number;
  mostItems: number;
  mostColumns: number;
  deepest: number;
}

/** As many as Kong's plugins read by default (`lua_max_req_headers`). */
const MOST_HEADERS = 100;
const CONNECTION_OPTIONS = new Set(["close", "keep-alive", "te", "upgrade", "http2-settings"]);
const WITHOUT_BODY = new Set(["GET", "HEAD", "OPTIONS"]);
const LISTS = new Set(["select", "order", "columns", "on_conflict"]);

/** Does what the Lua of gateway/kong.yml does that refuses requests, in its words; nothing for a request that may pass. */
export function refuseRequest(exchange: Exchange, bounds: RequestBounds): Answer | undefined {
  return (
    refuseHeaders(exchange.request) ??
    refuseBody(exchange.method, exchange.request) ??
    refuseQuery(exchange.query, bounds)
  );
}

function refuseHeaders(headers: HeaderList): Answer | undefined {
  if (headers.length > MOST_HEADERS) return refuse("The request has too many headers.", "Send 100 or fewer.");
  for (const [name, value] of headers) {
    if (!holdsUtf8(`${name} ${value}`)) {
      return refuse("A header holds bytes that are not UTF-8.", "Encode headers as UTF-8.");
    }
    const options = name.toLowerCase() === "connection" ? value.toLowerCase().match(/[^\s,]+/g) : null;
    if (options?.some((option) => !CONNECTION_OPTIONS.has(option))) {
      return refuse(
        "The header Connection names another header.",
        "Send close or keep-alive, or leave it out.",
      );
    }
  }
  return undefined;
}

function refuseBody(method: string, headers: HeaderList): Answer | undefined {
  const length = getHeader(headers, "content-length");
  const hasBody =
    getHeader(headers, "transfer-encoding") !== undefined || (length !== undefined && Number(length) !== 0);
  if (!hasBody || !WITHOUT_BODY.has(method)) return undefined;
  return refuse(`A ${method} request has no body here.`, "Put filters into the query string.");
}

function refuseQuery(query: string, bounds: RequestBounds): Answer | undefined {
  const { longestQuery, longestName, mostParameters, mostItems, mostColumns, deepest } = bounds;
  if (query.length > longestQuery) {
    return refuse(
      "The query string is too long.",
      `Send ${longestQuery} bytes or fewer: ask in several requests.`,
    );
  }
  if (query.includes("%00") || !holdsUtf8(decode(query))) {
    return refuse(
      "The query string holds bytes that are not UTF-8 text.",
      "Percent-encode UTF-8, without %00.",
    );
  }
  let items = 0;
  for (const [index, parameter] of (query.match(/[^&]+/g) ?? []).entries()) {
    const [, name = "", value = ""] = /^([^=]*)=?(.*)$/s.exec(parameter)?.map(decode) ?? [];
    const more = value.match(/[,>]/g)?.length ?? 0;
    items += more + 1;
    if (index >= mostParameters || name.length > longestName) {
      return refuse(
        "The query has too many parameters.",
        `Send ${mostParameters} or fewer, with short names.`,
      );
    }
    if (items > mostItems || (LISTS.has(name.split(".").at(-1) ?? "") && more >= mostColumns)) {
      return refuse(
        "The query has too many items.",
        `Name ${mostColumns} columns and ${mostItems} values or fewer: ask in several requests.`,
      );
    }
    if (name.endsWith(".limit") && value.includes("-")) {
      return refuse("The limit of an embedded table is negative.", "Send 0 or more.");
    }
    if (measureDepth(value) > deepest) {
      return refuse("The query is nested too deeply.", `Nest parentheses ${deepest} deep or less.`);
    }
  }
  return undefined;
}

/** Quotes are not looked at: what PostgREST takes for a quoted value would have to be parsed as it does. */
function measureDepth(value: string): number {
  let depth = 0;
  let deepest = 0;
  for (const bracket of value.match(/[()]/g) ?? []) {
    depth = bracket === "(" ? depth + 1 : Math.max(depth - 1, 0);
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

/** Percent-encoding as bytes, each a character. */
export function decode(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** What a request is answered that is not counted nor asked. */
export function refuse(message: string, hint: string): Answer {
  return answerJson(400, { code: "request_refused", details: null, hint, message });
}
