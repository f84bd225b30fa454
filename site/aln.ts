import type { Column, Table } from "./api-description.ts";
import { type Filter, listOperators, listValues, type Operator, type Query } from "./query.ts";

// People write an Assistance Listing number (ALN) as one text, such as 93.778. The API has its two parts in two columns.

/** The column that stands for both parts, in the form and in rows. */
export const alnName = "aln";
/** The columns of the two parts. */
export const alnParts = ["federal_agency_prefix", "federal_award_extension"] as const;
const [agency, program] = alnParts;

/** What comes before the names of the two columns in parameters: a finding has its award's ALN. */
const prefixes: Record<string, string> = { federal_awards: "", findings: "federal_awards." };
/** Finds the awards that the API counts as awards without an ALN (db/data_set/totals.sql). */
const isMissing = `(${agency}.is.null,${agency}.eq.,${agency}.like.*.*,${program}.is.null,${program}.eq.)`;

const aln: Column = {
  name: alnName,
  type: "text",
  label: "Program (ALN)",
  description: "Assistance Listing number (formerly CFDA), such as 93.778, or an agency’s first two digits.",
  values: [],
  words: {},
};

/** Whether a filter on the column `aln` of a table stands for filters on the two parts. */
const standsForParts = (table: string, { column }: Filter) => table in prefixes && column === alnName;

/** The columns of a table as people see them: one for the ALN instead of two. */
export function listColumns({ columns }: Pick<Table, "columns">): Column[] {
  if (!alnParts.every((part) => columns.some(({ name }) => name === part))) return columns;
  return columns.flatMap((column) =>
    column.name === agency ? [aln] : column.name === program ? [] : [column],
  );
}

/** The columns by which people can filter a table: its own, its award's ALN, and some of its report and award. */
export function listFilterColumns(table: Table): Column[] {
  const columns = listColumns(table);
  const isOfAward = table.name in prefixes && !columns.includes(aln);
  return [...columns, ...(isOfAward ? [aln] : []), ...table.related];
}

/** Replaces both parts in a list of selected columns by the column `aln`. */
export function joinAlnTerms(select: string[]): string[] {
  if (!alnParts.every((part) => select.includes(part))) return select;
  return select.flatMap((term) => (term === agency ? [alnName] : term === program ? [] : [term]));
}

/** Replaces `aln` in a list of selected columns by the table's two parts. */
export function splitAlnTerms(table: string, select: string[]): string[] {
  return table in prefixes ? select.flatMap((term) => (term === alnName ? alnParts : [term])) : select;
}

/** The comparisons that a column offers. */
export const listComparisons = (column: Column): Operator[] =>
  column === aln ? ["eq", "in", "is.null"] : listOperators(column.type);

/** Whether a request needs the award of each row, because it filters by the award's ALN. */
export function filtersByAward({ table, filters }: Query): boolean {
  return prefixes[table] !== "" && filters.some((filter) => standsForParts(table, filter));
}

/** Splits an ALN. An agency's two digits have no second part. */
function splitAln(text: string): [column: string, value: string][] {
  const [first = "", ...rest] = text.split(".");
  const parts: [string, string][] = [[agency, first]];
  return rest.length === 0 ? parts : [...parts, [program, rest.join(".")]];
}

/** Writes a filter on an ALN as parameters for its parts. Undefined if the filter is not on an ALN. */
export function writeAlnFilter(table: string, filter: Filter): [name: string, value: string][] | undefined {
  if (!standsForParts(table, filter)) return undefined;
  const prefix = prefixes[table] ?? "";
  if (filter.operator === "is.null") return [[`${prefix}or`, isMissing]];
  if (filter.operator === "eq")
    return splitAln(filter.value).map(([column, value]) => [prefix + column, `eq.${value}`]);
  const listed = listValues(filter.value).map((value) => {
    const conditions = splitAln(value).map(([column, part]) => `${column}.eq.${quote(part)}`);
    return `and(${conditions.join(",")})`;
  });
  return [[`${prefix}or`, `(${listed.join(",")})`]];
}

/** Quotes a value if PostgREST could read a part of it as syntax, such as a comma. */
export const quote = (value: string): string =>
  /^[\w-]+$/.test(value) ? value : `"${value.replace(/["\\]/g, "\\$&")}"`;

/** Finds the filters on ALNs among parameters. Returns them and the other parameters. */
export function readAlnFilters(
  table: string,
  parameters: [name: string, value: string][],
): { filters: Filter[]; others: [name: string, value: string][] } {
  const prefix = prefixes[table];
  if (prefix === undefined) return { filters: [], others: parameters };
  const filters: Filter[] = [];
  const take = ([name, value]: [string, string]) => {
    const filter = name === `${prefix}or` ? readList(value) : undefined;
    if (filter) filters.push(filter);
    return filter === undefined;
  };
  const rest = parameters.filter(take);
  const [first, second] = alnParts.map((part) => findOnly(rest, prefix + part));
  // If the agency contains a period, the joined number could not be split again.
  if (first === undefined || first.includes(".")) return { filters, others: rest };
  filters.push({ column: alnName, operator: "eq", value: writeAln(first, second) });
  const taken = [first && prefix + agency, second && prefix + program];
  return { filters, others: rest.filter(([name]) => !taken.includes(name)) };
}

/** The value of the only parameter with a name, if it is a comparison with a text. */
function findOnly(parameters: [string, string][], name: string): string | undefined {
  const [only, ...more] = parameters.filter(([each]) => each === name);
  return more.length === 0 ? /^eq\.(.+)$/s.exec(only?.[1] ?? "")?.[1] : undefined;
}

const one = `and\\(${agency}\\.eq\\.(\\w+)(?:,${program}\\.eq\\.(\\w+))?\\)`;
const list = new RegExp(`^\\(${one}(?:,${one})*\\)$`);

function readList(text: string): Filter | undefined {
  if (text === isMissing) return { column: alnName, operator: "is.null", value: "" };
  if (!list.test(text)) return undefined;
  const values = Array.from(text.matchAll(new RegExp(one, "g")), ([, ...parts]) => writeAln(...parts));
  return { column: alnName, operator: "in", value: values.join("\n") };
}

/** Replaces the two parts of an ALN in a row, and in the rows that it embeds, by one text. */
export function joinAln(row: Record<string, unknown>): Record<string, unknown> {
  const hasBoth = alnParts.every((part) => part in row);
  const entries = Object.entries(row).flatMap(([name, value]): [string, unknown][] => {
    if (hasBoth && name === program) return [];
    if (hasBoth && name === agency) return [[alnName, writeAln(value, row[program])]];
    return [[name, joinEmbedded(value)]];
  });
  return Object.fromEntries(entries);
}

/** Joins the parts of an ALN. Returns an empty text if it has none. */
export const writeAln = (...parts: unknown[]): string => parts.filter(Boolean).join(".");

const isRow = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const joinEmbedded = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map((each) => (isRow(each) ? joinAln(each) : each))
    : isRow(value)
      ? joinAln(value)
      : value;
