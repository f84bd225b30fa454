import { listValues, needsNoValue, type Operator, type Query } from "./query.ts";

/**
 * Writes a query as the path and query string of a request to PostgREST: values with quotes, commas, brackets, newlines or
 * % come back from the database as they were typed.
 *
 * @param tieBreakers columns that are unique together, which end every order; none to leave the order as it is
 */
export function writeTarget(query: Query, tieBreakers: string[] = []): string {
  const parameters = completeOrder(listParameters(query), tieBreakers);
  return `/${encode(query.table)}?${parameters.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&")}`;
}

function listParameters({
  columns,
  embeds,
  filters,
  order,
  extra,
  limit,
  offset,
}: Query): [string, string][] {
  const further = readExtra(extra);
  // What stands in `extra` is said there alone.
  const isFree = (name: string) => !further.some(([each]) => each === name);
  const parameters: [string, string][] = [];
  if ((columns.length > 0 || embeds.length > 0) && isFree("select")) {
    const embedded = embeds.map((embed) => `${embed.table}(${embed.columns.join(",") || "*"})`);
    parameters.push(["select", [...(columns.length > 0 ? columns : ["*"]), ...embedded].join(",")]);
  }
  for (const { column, operator, value } of filters) parameters.push([column, writeFilter(operator, value)]);
  if (order.length > 0 && isFree("order")) {
    const terms = order.map(({ column, direction }) =>
      direction === "asc" ? column : `${column}.${direction}`,
    );
    parameters.push(["order", terms.join(",")]);
  }
  parameters.push(...further);
  if (isFree("limit")) parameters.push(["limit", String(limit)]);
  if (offset > 0 && isFree("offset")) parameters.push(["offset", String(offset)]);
  return parameters;
}

function completeOrder(parameters: [string, string][], tieBreakers: string[]): [string, string][] {
  if (tieBreakers.length === 0) return parameters;
  const found = parameters.find(([name]) => name === "order")?.[1] ?? "";
  const terms = found === "" ? [] : [found];
  const named = new Set(found.split(",").map((term) => term.trim().split(".")[0]));
  const order = [...terms, ...tieBreakers.filter((column) => !named.has(column))].join(",");
  if (found !== "") return parameters.map(([name, value]) => [name, name === "order" ? order : value]);
  const end = parameters.findIndex(([name]) => name === "limit" || name === "offset");
  return [...parameters.slice(0, end), ["order", order], ...parameters.slice(end)];
}

/** The parameters of a query string that somebody has typed, with or without percent-encoding. A key is none of them. */
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

/** As readExtra() reads it, percent-encoded where it must be. */
export function writeExtra(parameters: [string, string][]): string {
  return parameters.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&");
}

function writeFilter(operator: Operator, value: string): string {
  if (needsNoValue(operator)) return operator;
  if (operator === "in") {
    // Quoted, so that commas and brackets in a value are no syntax (PostgREST: reserved characters).
    const values = listValues(value).map((each) =>
      /^[\w-]+$/.test(each) ? each : `"${each.replace(/["\\]/g, "\\$&")}"`,
    );
    return `in.(${values.join(",")})`;
  }
  // PostgREST makes % of each *; what is % or _ already is meant as it is.
  if (operator === "like" || operator === "ilike") return `${operator}.${escapePattern(value)}`;
  if (operator === "contains") return `ilike.*${escapePattern(value)}*`;
  return `${operator}.${value}`;
}

function escapePattern(text: string): string {
  return text.replace(/[%_\\]/g, "\\$&");
}

/** Percent-encodes all but what reads better as it is and means nothing in a query string. */
function encode(text: string): string {
  // Half of a surrogate pair has no encoding.
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd"))
    .replace(/%(2C|3A|2F)/gi, decodeURIComponent)
    .replaceAll("'", "%27");
}

/** Decodes a part of a query string; what is no percent-encoding stays as it is. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}
