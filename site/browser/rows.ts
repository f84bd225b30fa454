import type { Table } from "../api-description.ts";
import { emptyQuery, type Query } from "../query.ts";
import { linkToExplorer } from "../write-target.ts";

export type Row = Record<string, unknown>;

/** A query for the rows of a report. */
export const findReport = (table: string, reportId: unknown): Query => ({
  ...emptyQuery,
  table,
  filters: [{ column: "report_id", operator: "eq", value: String(reportId) }],
});

/** Adds the rows of every other table to the request for a report, to be counted. */
export function embedCounts(query: Query, table: Table | undefined): Query {
  // A request may embed 10 tables, and finding_summaries repeats what findings says.
  const embeds = table?.embeds.filter((name) => name !== "finding_summaries") ?? [];
  return { ...query, select: ["*", ...embeds.map((name) => `${name}(report_id)`)] };
}

/** The page of a row's report or finding. The explorer itself shows suppressed reports. Totals have no page. */
export function linkRow(schema: string, row: Row): string | undefined {
  const { report_id: reportId, is_public: isPublic, reference_number: number } = row;
  if (typeof reportId !== "string") return undefined;
  if (isPublic === false) return linkToExplorer(schema, findReport("general", reportId), true);
  const reference = number ?? row.finding_ref_number;
  return `/record/${reportId}${reference ? `#${encodeURIComponent(String(reference))}` : ""}`;
}

/** Whether the row is everything that this key can see of a suppressed report. */
export function isStub(row: Row): boolean {
  return row.is_public === false && (row.auditee_name ?? row.audit_year ?? row.auditee_uei ?? null) === null;
}

/** Whether the API hides a value because the report is suppressed. */
export function isHidden(row: Row, column: string): boolean {
  return isStub(row) && column !== "report_id" && column !== "is_public";
}
