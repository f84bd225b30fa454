/** How a column's values are compared. Most are PostgREST's operators; `contains` is its `ilike` with * on both sides. */
export const operators = {
  eq: "is",
  contains: "contains",
  neq: "is not",
  gt: "is greater than",
  gte: "is at least",
  lt: "is less than",
  lte: "is at most",
  like: "matches the pattern",
  ilike: "matches the pattern, in any case",
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

/** As PostgREST has them: without a word on nulls, `desc` puts them first. */
export const directions = {
  asc: "smallest first",
  "desc.nullslast": "largest first",
  "asc.nullsfirst": "empty ones, then smallest first",
  desc: "empty ones, then largest first",
} as const;
export type Direction = keyof typeof directions;

export interface Order {
  column: string;
  direction: Direction;
}

/** Rows of a related table that come with each row. */
export interface Embed {
  table: string;
  /** None: all. */
  columns: string[];
}

/** What the explorer asks a table. */
export interface Query {
  table: string;
  /** None: all. */
  columns: string[];
  embeds: Embed[];
  filters: Filter[];
  order: Order[];
  /** What the form has no field for, as in a query string: `or=(a.eq.1,b.eq.2)&general.limit=1`. */
  extra: string;
  limit: number;
  offset: number;
}

/** The most rows that an answer has. */
export const largestLimit = 20_000;

export const emptyQuery: Query = {
  table: "general",
  columns: [],
  embeds: [],
  filters: [],
  order: [],
  extra: "",
  limit: 20,
  offset: 0,
};

export type ColumnKind = "text" | "number" | "date" | "boolean";

const withNull: Operator[] = ["is.null", "not.is.null"];
const compared: Operator[] = ["eq", "neq", "gt", "gte", "lt", "lte", "in"];
const operatorsByKind: Record<ColumnKind, Operator[]> = {
  text: ["eq", "contains", "neq", "in", "like", "ilike", "gte", "lte", ...withNull],
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

/** The values of an `in` filter: one a line. */
export function listValues(value: string): string[] {
  return value
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
