/**
 * The comparisons of the explorer's form, by PostgREST's operator. `contains` is written as `ilike` with an asterisk on
 * both sides. An operator that ends in a period or contains `is.` needs no value.
 */
export const operators = {
  eq: "is",
  contains: "contains",
  neq: "is not",
  gt: "is greater than",
  gte: "is at least",
  lt: "is less than",
  lte: "is at most",
  in: "is one of",
  "is.null": "has no value",
  "not.is.null": "has a value",
  "eq.": "is an empty text",
} as const;
export type Operator = keyof typeof operators;

export interface Filter {
  column: string;
  operator: Operator;
  /** As a person types it. For `in`, one value per line. */
  value: string;
}

/** A request for the rows of a table. */
export interface Query {
  table: string;
  /** Terms of `select`: columns, and others such as `general(auditee_name)`. If empty, all columns. */
  select: string[];
  filters: Filter[];
  /** Terms of `order`, such as `amount_expended.desc.nullslast`. */
  order: string[];
  /** Parameters that the form has no field for, as in a query string: `or=(a.eq.1,b.eq.2)&general.limit=1`. */
  extra: string;
  limit: number;
  offset: number;
}

/** The most rows in one response. */
export const largestLimit = 20_000;

export const emptyQuery: Query = {
  table: "general",
  select: [],
  filters: [],
  order: [],
  extra: "",
  limit: 100,
  offset: 0,
};

/** The kind of a PostgreSQL type's values. */
export function kindOf(type: string): "text" | "number" | "date" | "boolean" {
  if (/^(bigint|integer|smallint|numeric|real|double precision)/.test(type)) return "number";
  if (/^(date|timestamp)/.test(type)) return "date";
  return type === "boolean" ? "boolean" : "text";
}

/** The operators that fit a column of a PostgreSQL type. */
export function listOperators(type: string): Operator[] {
  const isText = kindOf(type) === "text";
  const all = Object.keys(operators) as Operator[];
  return all.filter((operator) => isText || (operator !== "contains" && operator !== "eq."));
}

/** Whether the operator needs no value. */
export function needsNoValue(operator: Operator): boolean {
  return operator.includes("is.") || operator.endsWith(".");
}

/** The values of an `in` filter: one per line. */
export function listValues(value: string): string[] {
  return value
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
