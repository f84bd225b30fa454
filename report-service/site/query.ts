/** How a column's values are compared in PostgREST's terms; `is` takes null, true, false. */
export const operators = {
  eq: "is",
  neq: "is not",
  gt: "is greater than",
  gte: "is at least",
  lt: "is less than",
  lte: "is at most",
  like: "is like",
  ilike: "is like, in any case",
  in: "is one of",
  "is.null": "is empty (null)",
  "not.is.null": "is not empty",
  "is.true": "is true",
  "is.false": "is false",
} as const;
export type Operator = keyof typeof operators;

export interface Filter {
  column: string;
  operator: Operator;
  /** As a person writes it: `in` takes one value a line; in `like`, * stands for any text. */
  value: string;
}

export interface Order {
  column: string;
  direction: "asc" | "desc";
}

/** What the explorer asks a table. */
export interface Query {
  table: string;
  /** None: all. */
  columns: string[];
  filters: Filter[];
  order: Order[];
  limit: number;
  offset: number;
}

export type ColumnKind = "text" | "number" | "date" | "boolean";

const withNull: Operator[] = ["is.null", "not.is.null"];
const compared: Operator[] = ["eq", "neq", "gt", "gte", "lt", "lte", "in"];
const operatorsByKind: Record<ColumnKind, Operator[]> = {
  text: ["eq", "neq", "like", "ilike", "in", "gte", "lte", ...withNull],
  number: [...compared, ...withNull],
  date: [...compared, ...withNull],
  boolean: ["is.true", "is.false", ...withNull],
};

/** The operators that make sense for a column of this PostgreSQL type. */
export function listOperators(type: string): Operator[] {
  return operatorsByKind[kindOf(type)];
}

/** What sort of values a PostgreSQL type has. */
export function kindOf(type: string): ColumnKind {
  if (/^(bigint|integer|smallint|numeric|real|double precision)/.test(type)) return "number";
  if (/^(date|timestamp)/.test(type)) return "date";
  return type === "boolean" ? "boolean" : "text";
}

/** Whether the operator is complete without a value. */
export function needsNoValue(operator: Operator): boolean {
  return operator.includes("is.");
}

/**
 * Writes a query as the path and query string of a request to PostgREST: values with quotes, commas, brackets, newlines or
 * % come back from the database as they were typed.
 */
export function writeTarget({ table, columns, filters, order, limit, offset }: Query): string {
  const parameters: [string, string][] = [];
  if (columns.length > 0) parameters.push(["select", columns.join(",")]);
  for (const { column, operator, value } of filters) parameters.push([column, writeFilter(operator, value)]);
  if (order.length > 0) {
    const terms = order.map(({ column, direction }) => (direction === "asc" ? column : `${column}.desc`));
    parameters.push(["order", terms.join(",")]);
  }
  parameters.push(["limit", String(limit)]);
  if (offset > 0) parameters.push(["offset", String(offset)]);
  return `/${encode(table)}?${parameters.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&")}`;
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
  if (operator === "like" || operator === "ilike") return `${operator}.${value.replace(/[%_\\]/g, "\\$&")}`;
  return `${operator}.${value}`;
}

/** The values of an `in` filter: one a line. */
export function listValues(value: string): string[] {
  return value
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** Percent-encodes all but what reads better as it is and means nothing in a query string. */
function encode(text: string): string {
  // Half of a surrogate pair has no encoding.
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd"))
    .replace(/%(2C|3A|2F)/gi, decodeURIComponent)
    .replaceAll("'", "%27");
}

/**
 * Reads what writeTarget() wrote, from a link for instance.
 *
 * @returns the query, and the parameters that the explorer's form has no field for
 */
export function readTarget(target: string): { query: Query; unknown: string[] } {
  const [path = "", search = ""] = target.split(/\?(.*)/s);
  const query: Query = {
    table: decode(path.replace(/^\//, "")),
    columns: [],
    filters: [],
    order: [],
    limit: 20,
    offset: 0,
  };
  const unknown: string[] = [];
  for (const [name, value] of new URLSearchParams(search)) {
    // A key has no business in a link.
    if (name === "api_key") continue;
    if (name === "limit" && /^\d{1,9}$/.test(value)) query.limit = Number(value);
    else if (name === "offset" && /^\d{1,9}$/.test(value)) query.offset = Number(value);
    else if (name === "select" && /^[a-z0-9_]+(,[a-z0-9_]+)*$/.test(value)) query.columns = value.split(",");
    else if (name === "order" && /^[a-z0-9_]+(\.(asc|desc))?(,[a-z0-9_]+(\.(asc|desc))?)*$/.test(value)) {
      query.order = value.split(",").map((term) => {
        const [column = "", direction] = term.split(".");
        return { column, direction: direction === "desc" ? "desc" : "asc" };
      });
    } else {
      const filter = /^[a-z0-9_]+$/.test(name) ? readFilter(name, value) : undefined;
      if (filter === undefined) unknown.push(`${name}=${value}`);
      else query.filters.push(filter);
    }
  }
  return { query, unknown };
}

function readFilter(column: string, text: string): Filter | undefined {
  for (const operator of ["is.null", "not.is.null", "is.true", "is.false"] as const) {
    if (text === operator) return { column, operator, value: "" };
  }
  const [, operator, value = ""] = /^(eq|neq|gt|gte|lt|lte|like|ilike|in)\.(.*)$/s.exec(text) ?? [];
  if (operator === undefined) return undefined;
  if (operator === "like" || operator === "ilike")
    return { column, operator, value: value.replace(/\\([%_\\])/g, "$1") };
  if (operator !== "in") return { column, operator: operator as Operator, value };
  const list = /^\((.*)\)$/s.exec(value)?.[1];
  if (list === undefined) return undefined;
  const values = [...list.matchAll(/"((?:[^"\\]|\\.)*)"|[^,]+/gs)].map(([bare, quoted]) =>
    quoted === undefined ? bare : quoted.replace(/\\(.)/gs, "$1"),
  );
  return { column, operator, value: values.join("\n") };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
