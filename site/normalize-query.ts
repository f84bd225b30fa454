import type { Column, Table } from "./api-description.ts";
import { type Filter, kindOf, listValues, type Query } from "./query.ts";

/** A query whose values are written as the columns have them: without spaces around, in their case, without dashes. */
export function normalizeQuery(query: Query, table: Table | undefined): Query {
  return {
    ...query,
    extra: query.extra.trim(),
    filters: query.filters.map((filter) => ({
      ...filter,
      value: normalizeFilter(
        filter,
        table?.columns.find(({ name }) => name === filter.column),
      ),
    })),
  };
}

function normalizeFilter({ operator, value }: Filter, column: Column | undefined): string {
  if (column === undefined || ["contains", "like", "ilike"].includes(operator)) return value.trim();
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
  if (/(^|_)(uei|state)$/.test(name) || /^(report_id|award_reference)$/.test(name)) return text.toUpperCase();
  if (/(^|_)ein$/.test(name)) return text.replace(/^(\d{2})[-\s](\d{7})$/, "$1$2");
  if (/_zip(code)?$/.test(name)) return text.replace(/^(\d{5})-(\d{4})$/, "$1$2");
  return text;
}
