import { type Embed, emptyQuery, type Filter, type Operator, type Order, type Query } from "./query.ts";
import { decode, writeExtra } from "./write-target.ts";

const name = /^[a-z0-9_]+$/;

/**
 * Reads a path and query string, from a link for instance. What the explorer's form has no field for is kept in `extra`,
 * so that writeTarget() asks the same. A key has no business in a link, and is dropped.
 */
export function readTarget(target: string): Query {
  const [path = "", search = ""] = target.split(/\?(.*)/s);
  const query: Query = { ...emptyQuery, table: decode(path.replace(/^\//, "")), filters: [] };
  const extra: [string, string][] = [];
  for (const [parameter, value] of new URLSearchParams(search)) {
    if (parameter !== "api_key" && !take(query, parameter, value)) extra.push([parameter, value]);
  }
  return { ...query, extra: writeExtra(extra) };
}

/** @returns whether the form has a field for it */
function take(query: Query, parameter: string, value: string): boolean {
  if (parameter === "limit" || parameter === "offset") {
    if (!/^\d{1,9}$/.test(value)) return false;
    query[parameter] = Number(value);
    return true;
  }
  if (parameter === "select") {
    const selected = readSelect(value);
    Object.assign(query, selected);
    return selected !== undefined;
  }
  if (parameter === "order") {
    const terms = value.split(",").map(readOrder);
    const order = terms.filter((term) => term !== undefined);
    if (order.length < terms.length) return false;
    query.order = order;
    return true;
  }
  const filter = name.test(parameter) && !reserved.has(parameter) ? readFilter(parameter, value) : undefined;
  if (filter !== undefined) query.filters.push(filter);
  return filter !== undefined;
}

const reserved = new Set(["and", "or", "columns", "on_conflict"]);

/** `a,b,general(*)`; undefined for renamed, cast or nested columns and hints on joins. */
function readSelect(value: string): { columns: string[]; embeds: Embed[] } | undefined {
  const columns: string[] = [];
  const embeds: Embed[] = [];
  const terms = value.match(/[^,()]+(\([^()]*\))?(?=,|$)/g) ?? [];
  if (terms.join(",") !== value) return undefined;
  for (const term of terms.map((each) => each.trim())) {
    const [, table, list] = /^([a-z0-9_]+)\(([a-z0-9_*, ]+)\)$/.exec(term) ?? [];
    if (table !== undefined && list !== undefined) {
      const named = list.split(",").map((each) => each.trim());
      if (named.includes("*") && named.length > 1) return undefined;
      embeds.push({ table, columns: named.filter((each) => each !== "*") });
    } else if (name.test(term)) columns.push(term);
    else if (term !== "*") return undefined;
  }
  // * is all columns, and nothing beside it; without either, only embedded tables are asked for.
  const hasAll = terms.some((term) => term.trim() === "*");
  return hasAll === columns.length > 0 ? undefined : { columns, embeds };
}

function readOrder(term: string): Order | undefined {
  const [, column, direction = "asc", nulls] =
    /^([a-z0-9_]+)(?:\.(asc|desc))?(?:\.(nullsfirst|nullslast))?$/.exec(term.trim()) ?? [];
  if (column === undefined) return undefined;
  if (direction === "desc") return { column, direction: nulls === "nullslast" ? "desc.nullslast" : "desc" };
  return { column, direction: nulls === "nullsfirst" ? "asc.nullsfirst" : "asc" };
}

function readFilter(column: string, text: string): Filter | undefined {
  for (const operator of ["is.null", "not.is.null", "is.true", "is.false"] as const) {
    if (text === operator) return { column, operator, value: "" };
  }
  const [, operator, value = ""] = /^(eq|neq|gt|gte|lt|lte|like|ilike|in)\.(.*)$/s.exec(text) ?? [];
  if (operator === undefined) return undefined;
  if (operator === "like" || operator === "ilike") return readPattern(column, operator, value);
  if (operator !== "in") return { column, operator: operator as Operator, value };
  const list = /^\((.*)\)$/s.exec(value)?.[1];
  if (list === undefined) return undefined;
  const values = [...list.matchAll(/"((?:[^"\\]|\\.)*)"|[^,]+/gs)].map(([bare, quoted]) =>
    quoted === undefined ? bare : quoted.replace(/\\(.)/gs, "$1"),
  );
  // One value a line, and no empty one: others the form cannot hold.
  const isPlain = values.every((each) => each === each.trim() && each !== "" && !each.includes("\n"));
  return isPlain ? { column, operator, value: values.join("\n") } : undefined;
}

function readPattern(column: string, operator: "like" | "ilike", text: string): Filter | undefined {
  // A % or _ that is not escaped stands for any text or character: the form writes * for the one, and has no other.
  if (/(^|[^\\])(\\\\)*[%_]/.test(text)) return undefined;
  const value = text.replace(/\\([%_\\])/g, "$1");
  const inner = operator === "ilike" ? /^\*([^*]+)\*$/s.exec(value)?.[1] : undefined;
  return inner === undefined ? { column, operator, value } : { column, operator: "contains", value: inner };
}
