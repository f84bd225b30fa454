import { writeAlnFilter } from "./aln.ts";
import { emptyQuery } from "./query.ts";
import { linkToExplorer, writeExtra } from "./write-target.ts";

/** The labels of the measures. */
export const measures = {
  submissions: "Reports",
  awards: "Awards",
  amount_expended: "Amount expended",
  findings: "Findings",
  material_weaknesses: "Material weaknesses",
} as const;
export type Measure = keyof typeof measures;

/** What the rows of a total have in common, such as a state. The value is empty if the rows do not state it. */
export interface Group {
  column: "audit_year" | "auditee_state" | "federal_agency_prefix" | "aln";
  value: string;
}

const groupColumns: Record<string, Group["column"]> = {
  totals_by_state: "auditee_state",
  totals_by_agency: "federal_agency_prefix",
  totals_by_program: "aln",
};

/** What a row of one of the API's tables of totals counts. Undefined for other rows, and if the row lacks a column. */
function readGroup(table: string, row: Record<string, unknown>): { year: string; group: Group } | undefined {
  const column = groupColumns[table];
  const { audit_year: year } = row;
  if (column === undefined || typeof year !== "string" || !(column in row)) return undefined;
  return { year, group: { column, value: String(row[column] ?? "") } };
}

/** Links a value in a row of a table of totals to the rows that it counts, or to the page of its group. */
export function linkValue(
  schema: string,
  table: string,
  row: Record<string, unknown>,
  name: string,
): string | undefined {
  const counted = readGroup(table, row);
  if (name === counted?.group.column) return linkGroup(counted.group);
  if (counted === undefined || !(name in measures) || Number(row[name]) === 0) return undefined;
  return linkTotal(schema, counted.year, counted.group, name as Measure);
}

/** How groups are written by which pages can filter. */
const forms: Record<Group["column"], [kind: string, form: RegExp]> = {
  aln: ["program", /^\d\d\.[A-Z0-9]{1,6}$/],
  federal_agency_prefix: ["agency", /^\d\d$/],
  auditee_state: ["state", /^[A-Z]{2}$/],
  audit_year: ["year", /^(19|20)\d\d$/],
};

/** The URL of the page of a program, an agency or a state. Undefined for a malformed number. */
export function linkGroup({ column, value }: Group): string | undefined {
  const [kind, form] = forms[column];
  return column !== "audit_year" && form.test(value) ? `/${kind}/${value}` : undefined;
}

/**
 * The URL of the page that lists the reports or findings that a total counts, in a year or in all years. Undefined for a malformed
 * number, by which pages cannot filter.
 */
export function linkCounted(
  year: string | undefined,
  { column, value }: Group,
  measure: Measure,
): string | undefined {
  const [kind, form] = forms[column];
  if (!form.test(value)) return undefined;
  const isOfFindings = measure === "findings" || measure === "material_weaknesses";
  const isOfAwards = kind === "program" || kind === "agency";
  const parameters = new URLSearchParams({
    ...(year !== undefined && { year }),
    // The rows of a table of years are of their own years.
    [isOfAwards ? (isOfFindings ? "program" : "q") : kind]: value,
    ...(measure === "material_weaknesses" && { material_weakness: "Y" }),
  });
  return `${isOfFindings ? "/findings" : "/search"}?${parameters}`;
}

type Parameter = [name: string, value: string];

/**
 * The explorer's URL for the rows that a total counts, in a year or in all years: reports, awards or findings. A report
 * counts for an agency if it has an award of the agency, so that URL lists awards.
 */
export function linkTotal(schema: string, year: string | undefined, group: Group, measure: Measure): string {
  const table = chooseTable(group, measure);
  const place = findPlace(group, table);
  const ofYear: Parameter[] =
    year === undefined || group.column === "audit_year" ? [] : [["audit_year", `eq.${year}`]];
  const ofMeasure: Parameter[] = measure === "material_weaknesses" ? [["is_material_weakness", "eq.Y"]] : [];
  const ofGroup = listConditions(group).map(([name, value]): Parameter => [place + name, value]);
  const extra = writeExtra([...ofYear, ...ofGroup, ...ofMeasure]);
  // Sorting rows of one table by a column of another would take too long.
  const largest = place === "" ? amounts[table] : undefined;
  const order = largest === undefined ? [] : [`${largest}.desc.nullslast`];
  return linkToExplorer(schema, { ...emptyQuery, table, extra, order });
}

const amounts: Record<string, string> = {
  general: "total_amount_expended",
  federal_awards: "amount_expended",
};

function chooseTable({ column }: Group, measure: Measure): string {
  if (measure === "findings" || measure === "material_weaknesses") return "findings";
  const isOfReports = column === "audit_year" || column === "auditee_state";
  return measure === "submissions" && isOfReports ? "general" : "federal_awards";
}

/** What comes before the names of the group's columns if they are in another table. */
function findPlace({ column }: Group, table: string): string {
  if (column === "auditee_state") return table === "general" ? "" : "general.";
  return column !== "audit_year" && table === "findings" ? "federal_awards." : "";
}

/** The conditions that the group's rows meet, for the table that has the group's columns. */
function listConditions({ column, value }: Group): Parameter[] {
  if (column === "aln") {
    const operator = value === "" ? "is.null" : "eq";
    return writeAlnFilter("federal_awards", { column, operator, value }) ?? [];
  }
  if (value === "") return [["or", `(${column}.is.null,${column}.eq.)`]];
  return [[column, `eq.${value}`]];
}
