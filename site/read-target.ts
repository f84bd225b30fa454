import { readAlnFilters } from "./aln.ts";
import { emptyQuery, type Filter, type Operator, operators, type Query } from "./query.ts";
import { decode, writeExtra } from "./write-target.ts";

/**
 * Parses a path and query string. Parameters that the form has no field for are kept in `extra`, so that writeTarget()
 * writes the same request. Drops an API key, which does not belong in a link.
 */
export function readTarget(target: string): Query {
  const [path = "", search = ""] = target.split(/\?(.*)/s);
  const table = decode(path.replace(/^\//, ""));
  const { filters, others } = readAlnFilters(table, [...new URLSearchParams(search)]);
  const query: Query = { ...emptyQuery, table, filters };
  const extra: [string, string][] = [];
  for (const [name, value] of others) {
    if (name === "api_key") continue;
    const filter = readFilter(name, value);
    if (name === "select" || name === "order") query[name] = splitTerms(value);
    else if ((name === "limit" || name === "offset") && /^\d{1,9}$/.test(value)) query[name] = Number(value);
    else if (filter !== undefined) query.filters.push(filter);
    else extra.push([name, value]);
  }
  return { ...query, extra: writeExtra(extra) };
}

/** Splits at the commas that are not in parentheses or quotes. */
function splitTerms(list: string): string[] {
  const terms = [""];
  let depth = 0;
  let isQuoted = false;
  for (const character of list) {
    if (character === '"') isQuoted = !isQuoted;
    if (!isQuoted) depth += character === "(" ? 1 : character === ")" ? -1 : 0;
    if (character === "," && depth === 0 && !isQuoted) terms.push("");
    else terms[terms.length - 1] += character;
  }
  return terms.map((term) => term.trim()).filter((term) => term !== "");
}

const reserved = new Set(["and", "or", "select", "order", "limit", "offset", "columns", "on_conflict"]);

function readFilter(column: string, text: string): Filter | undefined {
  const [, own = ""] = /^(?:[a-z0-9_]+\.)?([a-z0-9_]+)$/.exec(column) ?? [];
  if (own === "" || reserved.has(own)) return undefined;
  if (text === "is.null" || text === "not.is.null" || text === "eq.") {
    return { column, operator: text, value: "" };
  }
  const [, operator = "", value = ""] = /^([a-z]+)\.(.*)$/s.exec(text) ?? [];
  if (operator === "in") return readList(column, value);
  if (operator === "ilike") return readContains(column, value);
  const isKnown = operator !== "contains" && operator in operators && value !== "";
  return isKnown ? { column, operator: operator as Operator, value } : undefined;
}

function readList(column: string, text: string): Filter | undefined {
  const list = /^\((.*)\)$/s.exec(text)?.[1];
  if (list === undefined) return undefined;
  const values = [...list.matchAll(/"((?:[^"\\]|\\.)*)"|[^,]+/gs)].map(([bare, quoted]) =>
    quoted === undefined ? bare : quoted.replace(/\\(.)/gs, "$1"),
  );
  // The form has one value per line, and no empty values.
  const isPlain = values.every((each) => each === each.trim() && each !== "" && !each.includes("\n"));
  return isPlain ? { column, operator: "in", value: values.join("\n") } : undefined;
}

function readContains(column: string, text: string): Filter | undefined {
  const [, inner] = /^\*([^*]+)\*$/s.exec(text) ?? [];
  // An unescaped % or _ is a wildcard, but `contains` matches these characters literally.
  if (inner === undefined || /(^|[^\\])(\\\\)*[%_]/.test(inner)) return undefined;
  return { column, operator: "contains", value: inner.replace(/\\([%_\\])/g, "$1") };
}
