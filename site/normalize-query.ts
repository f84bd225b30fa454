import { alnName, listComparisons, listFilterColumns } from "./aln.ts";
import type { Column, Table } from "./api-description.ts";
import { findState } from "./names.ts";
import { emptyQuery, type Filter, kindOf, needsNoValue, type Query } from "./query.ts";
import { readTarget } from "./read-target.ts";
import { readExtra, writeExtra, writeTarget } from "./write-target.ts";

/** A browser takes seconds to draw thousands of rows. */
const mostShown = 500;

/**
 * Rewrites a query's values in the format of the columns: without surrounding spaces, in the column's case, without
 * dashes. Drops empty filters. Limits a page to 500 rows.
 */
export function normalizeQuery(typed: Query, table: Table | undefined): Query {
  // Moves parameters that were typed as other parameters to their own fields.
  const query = readTarget(writeTarget({ ...typed, filters: [] }));
  const columns = table === undefined ? [] : [...listFilterColumns(table), ...table.columns];
  const filters = [...typed.filters, ...query.filters].map((filter) => {
    const column = columns.find(({ name }) => name === filter.column);
    const asked = isList(filter, column) ? { ...filter, operator: "in" as const } : filter;
    return { ...asked, value: normalizeFilter(asked, column) };
  });
  // A malformed limit or offset would apply to every page of a download.
  const extra = readExtra(query.extra).filter(([name]) => name !== "limit" && name !== "offset");
  return {
    ...query,
    extra: writeExtra(extra),
    limit: Math.min(Math.max(query.limit, 1), mostShown),
    filters: filters.filter(({ operator, value }) => value !== "" || needsNoValue(operator)),
  };
}

/**
 * Moves a query to another table. Keeps the filters and columns that the other table has too, including columns of the report or award
 * that its rows belong to.
 *
 * @returns the query, and the columns of the filters that were removed
 */
export function moveQuery(
  query: Query,
  table: Table | undefined,
  name: string,
): { query: Query; lost: string[] } {
  const columns = table === undefined ? [] : listFilterColumns(table);
  const moved = query.filters.map((filter) => {
    const column = columns.find((each) => ownName(each.name) === ownName(filter.column));
    const fits = column !== undefined && listComparisons(column).includes(filter.operator);
    return { filter, fit: fits ? { ...filter, column: column.name } : undefined };
  });
  const lost = moved.filter(({ filter, fit }) => fit === undefined && filter.value !== "");
  const select = query.select.filter((term) => table?.columns.some((column) => column.name === term));
  const filters = moved.map(({ fit }) => fit).filter((fit) => fit !== undefined);
  return {
    query: { ...emptyQuery, table: name, select, filters },
    lost: lost.map(({ filter }) => filter.column),
  };
}

/** A column's name without the table that it belongs to. */
const ownName = (column: string): string => column.replace(/^.*\./, "");

function normalizeFilter({ operator, value }: Filter, column: Column | undefined): string {
  if (column === undefined || operator === "contains") return value.trim();
  if (operator === "in") {
    return splitValues(column, value)
      .map((each) => normalizeValue(column, each))
      .join("\n");
  }
  return normalizeValue(column, value.trim());
}

/** Columns of texts that contain no comma. */
const code =
  /(^|[_.])(report_id|uei|ein|aln|state|zip(code)?|prefix|extension|reference|ref_number|reference_number|agency|year)$/;

/** Whether commas and spaces separate values on one line. Names and texts contain both, so each has a line of its own. */
export function isOfCodes({ name, type, values }: Column): boolean {
  return kindOf(type) !== "text" || values.length > 0 || code.test(name);
}

/** Whether one value is asked for, but several were typed, such as "2022, 2023". */
const isList = ({ column, operator, value }: Filter, described: Column | undefined): boolean =>
  operator === "eq" &&
  /^(.*\.)?(report_id|audit_year|aln|\w+_(uei|ein|state|zip))$/.test(column) &&
  described !== undefined &&
  splitValues(described, value).length > 1;

/**
 * Splits a list at line breaks and tabs and, if the column holds codes, at commas and spaces. A value in quotation marks stays
 * whole.
 */
function splitValues(column: Column, text: string): string[] {
  const plain = isOfCodes(column) ? (kindOf(column.type) === "number" ? amounts : codes) : names;
  const cells = text.matchAll(new RegExp(`[\\s,;]*(?:${quoted}|(${plain}))`, "g"));
  return Array.from(cells, ([, whole, cell = ""]) =>
    whole === undefined ? splitWords(column, cell.trim()) : [whole.replaceAll('""', '"').trim()],
  )
    .flat()
    .filter((value) => value !== "");
}

/** A value that is followed by a separator. */
const quoted = '"((?:[^"]|"")*)"(?=\\s*(?:[,;\\t\\n]|$))';
const names = "[^\\t\\n]+";
const codes = "[^,;\\t\\n]+";
/** The comma in 1,000 separates nothing. */
const amounts = "(?:[^,;\\t\\n]|,(?=\\d{3}(?!\\d)))+";

/** Splits at spaces if each word is a value that the column can have: not in "New York", "June 30" and "1.5 million". */
function splitWords(column: Column, cell: string): string[] {
  if (!isOfCodes(column) || kindOf(column.type) === "number") return [cell];
  const words = cell.replace(/\b(\d\d) (\d{7})\b/g, "$1-$2").split(/\s+/);
  return words.every((word) => isCode(column, word)) ? words : [cell];
}

function isCode({ name, values }: Column, word: string): boolean {
  if (name.endsWith("_state")) return findState(word) !== undefined;
  const isKnown = values.some((value) => value.toLowerCase() === word.toLowerCase());
  return isKnown || /\d/.test(word) || /^[a-z]{12}$/i.test(word);
}

function normalizeValue({ name, type, values, words }: Column, text: string): string {
  const isTyped = (value: string) => value.toLowerCase() === text.toLowerCase();
  const known = values.find(isTyped) ?? values.find((value) => isTyped(words[value] ?? ""));
  if (known !== undefined) return known;
  if (/^(y|yes|true)$/i.test(text)) return values.find((value) => /^y(es)?$/i.test(value)) ?? text;
  if (/^(n|no|false)$/i.test(text)) return values.find((value) => /^no?$/i.test(value)) ?? text;
  if (kindOf(type) === "number") {
    return readNumber(text) ?? text;
  }
  if (kindOf(type) === "date") return readDate(text) ?? text;
  if (name.endsWith("_state")) return findState(text) ?? text.toUpperCase();
  if (/(^|_)uei$/.test(name) || /^(report_id|award_reference)$/.test(name)) return text.toUpperCase();
  if (/(^|_)ein$/.test(name)) return text.replace(/^(\d{2})[-\s](\d{7})$/, "$1$2");
  if (/_zip(code)?$/.test(name)) return text.replace(/^(\d{5})-(\d{4})$/, "$1$2");
  if (name === alnName) return text.replace(/^(aln|cfda)\b:?\s*/i, "").toUpperCase();
  return text;
}

const magnitudes: Record<string, number> = {
  "": 1,
  k: 1e3,
  thousand: 1e3,
  m: 1e6,
  mm: 1e6,
  million: 1e6,
  b: 1e9,
  bn: 1e9,
  billion: 1e9,
};

/** Reads "$1,000", "1.5 million" and "(500)". Undefined if the text is not a number. */
function readNumber(text: string): string | undefined {
  const plain = text
    .toLowerCase()
    .replace(/\b(?:usd|dollars?)\b|[$,\s]/g, "")
    .replace(/^\((.+)\)$/, "-$1");
  const [, digits = "", magnitude = ""] = /^(-?\d+(?:\.\d+)?)([a-z]*)$/.exec(plain) ?? [];
  const factor = magnitudes[magnitude];
  if (digits === "" || factor === undefined) return undefined;
  // Codes and large numbers stay as they were typed.
  return factor === 1 ? digits : String(Math.round(Number(digits) * factor));
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** Reads "6/30/2023", "June 30, 2023" and "30 June 2023" as 2023-06-30. Undefined if the text is no such date. */
export function readDate(text: string): string | undefined {
  const numeric = /^(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})$/.exec(text);
  const named = /^([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})$/i.exec(text);
  const dayFirst = /^(\d{1,2}) ([a-z]{3,9})\.?,? (\d{4})$/i.exec(text);
  const [month = "", day = "", year = ""] =
    numeric?.slice(1) ?? named?.slice(1) ?? (dayFirst && [dayFirst[2], dayFirst[1], dayFirst[3]]) ?? [];
  const number = /\d/.test(month) ? Number(month) : months.indexOf(month.slice(0, 3).toLowerCase()) + 1;
  if (number < 1 || number > 12) return undefined;
  return `${year}-${String(number).padStart(2, "0")}-${day.padStart(2, "0")}`;
}
