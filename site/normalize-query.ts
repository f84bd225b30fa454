import type { Column, Table } from "./api-description.ts";
import { findState } from "./names.ts";
import { type Filter, kindOf, listValues, needsNoValue, type Query } from "./query.ts";
import { readTarget } from "./read-target.ts";
import { findNarrative } from "./table-facts.ts";
import { readExtra, writeExtra, writeTarget } from "./write-target.ts";

/** A browser takes seconds to draw thousands of rows. */
const mostShown = 500;

/**
 * Rewrites a query's values in the format of the columns: without surrounding spaces, in the column's case, without
 * dashes. Drops empty filters, and the order of a narrative's rows. Limits a page to 500 rows.
 */
export function normalizeQuery(typed: Query, table: Table | undefined): Query {
  // Moves parameters that were typed as other parameters to their own fields.
  const query = readTarget(writeTarget({ ...typed, filters: [] }));
  const filters = [...typed.filters, ...query.filters].map((filter) => {
    const column = table?.columns.find(({ name }) => name === filter.column);
    return { ...filter, value: normalizeFilter(filter, column) };
  });
  // A malformed limit or offset would apply to every page of a download.
  const extra = readExtra(query.extra).filter(([name]) => name !== "limit" && name !== "offset");
  return {
    ...query,
    extra: writeExtra(extra),
    order: table && findNarrative(table) ? [] : query.order,
    limit: Math.min(Math.max(query.limit, 1), mostShown),
    filters: filters.filter(({ operator, value }) => value !== "" || needsNoValue(operator)),
  };
}

function normalizeFilter({ operator, value }: Filter, column: Column | undefined): string {
  if (column === undefined || operator === "contains") return value.trim();
  if (operator === "in") {
    return listValues(value)
      .map((each) => normalizeValue(column, each))
      .join("\n");
  }
  return normalizeValue(column, value.trim());
}

function normalizeValue({ name, type, values }: Column, text: string): string {
  const known = values.find((value) => value.toLowerCase() === text.toLowerCase());
  if (known !== undefined) return known;
  if (/^(y|yes|true)$/i.test(text)) return values.find((value) => /^y(es)?$/i.test(value)) ?? text;
  if (/^(n|no|false)$/i.test(text)) return values.find((value) => /^no?$/i.test(value)) ?? text;
  if (kindOf(type) === "number") {
    const digits = text.replace(/[$,\s]/g, "");
    return /^-?\d+(\.\d+)?$/.test(digits) ? digits : text;
  }
  if (name.endsWith("_state")) return findState(text) ?? text.toUpperCase();
  if (/(^|_)uei$/.test(name) || /^(report_id|award_reference)$/.test(name)) return text.toUpperCase();
  if (/(^|_)ein$/.test(name)) return text.replace(/^(\d{2})[-\s](\d{7})$/, "$1$2");
  if (/_zip(code)?$/.test(name)) return text.replace(/^(\d{5})-(\d{4})$/, "$1$2");
  return text;
}
