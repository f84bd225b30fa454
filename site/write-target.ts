import { quote, writeAlnFilter } from "./aln.ts";
import { listValues, needsNoValue, type Operator, type Query } from "./query.ts";

/**
 * Writes a query as the path and query string of a request to PostgREST, so that values with quotes, commas, brackets,
 * line breaks or % are taken literally.
 */
export function writeTarget(query: Query): string {
  const { table, select, filters, order, extra, limit, offset } = query;
  const further = readExtra(extra);
  const single: [string, string][] = [
    ["order", order.join(",")],
    ["limit", String(limit)],
    ["offset", offset === 0 ? "" : String(offset)],
  ];
  const parameters: [string, string][] = [
    ["select", select.join(",")],
    ...filters.flatMap(
      (filter): [string, string][] =>
        writeAlnFilter(table, filter) ?? [[filter.column, writeFilter(filter.operator, filter.value)]],
    ),
    ...single.filter(([name]) => !further.some(([each]) => each === name)),
    ...further,
  ];
  return `/${encode(table)}?${writeExtra(parameters.filter(([, value]) => value !== ""))}`;
}

/**
 * The explorer's URL for a query: its rows as a table, or each row in full with related rows. Never contains a key.
 */
export function linkToExplorer(schema: string, query: Query, isRow = false): string {
  return `/explorer#${schema}${isRow ? "/row" : ""}${writeTarget(query)}`;
}

/** Reads the parameters of a typed query string, with or without percent-encoding. Drops an API key. */
export function readExtra(text: string): [string, string][] {
  return text
    .trim()
    .replace(/^[?&]/, "")
    .split("&")
    .filter((part) => part.includes("="))
    .map((part): [string, string] => {
      const [name = "", value = ""] = part.split(/=(.*)/s).map(decode);
      return [name, value];
    })
    .filter(([name]) => name !== "api_key");
}

/** Writes parameters as a query string. */
export function writeExtra(parameters: [string, string][]): string {
  return parameters.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&");
}

function writeFilter(operator: Operator, value: string): string {
  if (needsNoValue(operator)) return operator;
  if (operator === "in") {
    return `in.(${listValues(value).map(quote).join(",")})`;
  }
  if (operator === "contains") return `ilike.*${value.replace(/[%_\\]/g, "\\$&")}*`;
  return `${operator}.${value}`;
}

/** Percent-encodes a text for a query string, except for commas, colons and slashes, which read better unencoded. */
function encode(text: string): string {
  // encodeURIComponent() would throw on half of a surrogate pair.
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd"))
    .replace(/%(2C|3A|2F)/gi, decodeURIComponent)
    .replaceAll("'", "%27");
}

/** Decodes a part of a query string. Returns a malformed one unchanged. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}
