import { writeAlnFilter } from "./aln.ts";
import { emptyQuery } from "./query.ts";
import type { Measure } from "./totals.ts";
import { linkToExplorer, writeExtra } from "./write-target.ts";

/** What the rows of a total have in common, such as a state. The value is empty if the rows do not state it. */
export interface Group {
  column: "audit_year" | "auditee_state" | "federal_agency_prefix" | "aln";
  value: string;
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
