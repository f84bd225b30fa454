import type { Table, VersionDescription } from "../api-description.ts";
import { emptyQuery, type Filter, type Query } from "../query.ts";
import { chooseShown, findNarrative, programTerm } from "../table-facts.ts";

export type Row = Record<string, unknown>;

/** The columns of a row's report that are shown with it. */
const reportColumns =
  "report_id,auditee_name,auditee_uei,auditee_ein,auditee_city,auditee_state,audit_year,is_public";

/**
 * Adds related rows to the request for a row: for a report, the rows of every other table, to be counted; for any other
 * row, its report and the tables that the API embeds in it.
 */
export function embedParts(query: Query, table: Table | undefined): Query {
  const columnsOf = (name: string) => {
    if (name === "general") return reportColumns;
    if (table?.name === "general") return "report_id";
    return name === "findings" && table?.name !== "federal_awards" ? `*,${programTerm}` : "*";
  };
  // findings has the rows of finding_summaries, too, and a request may embed at most 10 tables.
  const embeds = table?.embeds.filter((name) => name !== "finding_summaries");
  const parts = embeds?.map((name) => `${name}(${columnsOf(name)})`);
  return { ...query, select: parts?.length ? ["*", ...parts] : [] };
}

/** The columns that identify a row, or a text in several rows, in later data sets too, which number their rows anew. */
function listIdentity(table: Table): string[] {
  const { name, key, columns } = table;
  const [number] = key;
  if (number !== "row_number") return key;
  const names = columns.map((column) => column.name).filter((each) => each !== number);
  return findNarrative(table)?.identity ?? chooseShown(name, names);
}

/** The query that finds a row, or all rows of a text. Undefined if the row lacks a column that this needs. */
export function findRow(row: Row, table: Table): Query | undefined {
  const identity = listIdentity(table);
  if (!identity.every((column) => column in row)) return undefined;
  const filters = identity.map((column): Filter => {
    const value = row[column] ?? null;
    const operator = value === null ? "is.null" : value === "" ? "eq." : "eq";
    return { column, operator, value: String(value ?? "") };
  });
  return { ...emptyQuery, table: table.name, filters };
}

interface Link {
  name: string;
  /** Undefined if there are no such rows. */
  query?: Query;
  isRow?: boolean;
  /** Whether the link leads to the awards of the reports that the query finds. */
  isOfAwards?: boolean;
}

/** The rows related to a row or its report, as queries. Rows of a report are counted. */
export function listLinks(row: Row, table: Table, version: VersionDescription): Link[] {
  const report = readReport(row, table);
  const { report_id: reportId, auditee_uei: uei, auditee_ein: ein } = { ...row, ...report };
  const find = (column: string, value: unknown, name: string, order: string[] = []): Query => ({
    ...emptyQuery,
    table: name,
    filters: [{ column, operator: "eq", value: String(value) }],
    order,
  });
  const links: Link[] = [];
  if (report !== undefined && report !== row)
    links.push({ name: "The report", query: find("report_id", reportId, "general"), isRow: true });
  // An auditee's older reports have GSA_MIGRATION instead of a UEI, and an EIN may change, so either may match.
  const known = [
    ...(/^[A-Z0-9]{12}$/.test(String(uei)) ? [["auditee_uei", uei]] : []),
    ...(/^(?!0{9})\d{9}$/.test(String(ein)) ? [["auditee_ein", ein]] : []),
  ];
  const [[column, value] = []] = known;
  if (column !== undefined) {
    const one = find(String(column), value, "general", ["audit_year.desc.nullslast"]);
    const extra = `or=(${known.map((pair) => pair.join(".eq.")).join(",")})`;
    const query = known.length === 1 ? one : { ...one, filters: [], extra };
    links.push({ name: "All reports of this auditee", query: { ...query, limit: 500 } });
    links.push({ name: "All awards of this auditee", query, isOfAwards: true });
  }
  for (const { name, title, embeds } of version.tables) {
    if (name === table.name || !embeds.includes("general") || reportId === undefined) continue;
    const part = row[name];
    const count = Array.isArray(part) ? part.length : part === null ? 0 : 1;
    if (part !== undefined && count === 0) links.push({ name: `${title}: none` });
    else if (part === undefined) links.push({ name: title, query: find("report_id", reportId, name) });
    // If the row is not a report, its related rows are shown below it.
    else if (table.name === "general") {
      const counted = `${title} (${count.toLocaleString("en-US")})`;
      links.push({ name: counted, query: find("report_id", reportId, name) });
    }
  }
  return links;
}

/** The report that a row belongs to: itself in `general`, or else the embedded report, if there is one. */
export function readReport(row: Row, table: Table | undefined): Row | undefined {
  return table?.name === "general" ? row : ((row.general ?? undefined) as Row | undefined);
}

/** Whether the row is everything that this key can see of a suppressed report. */
export function isStub(row: Row): boolean {
  return row.is_public === false && (row.auditee_name ?? row.audit_year ?? row.auditee_uei ?? null) === null;
}

/** Whether the API hides a value because the report is suppressed. */
export function isHidden(row: Row, column: string): boolean {
  return isStub(row) && column !== "report_id" && column !== "is_public";
}
