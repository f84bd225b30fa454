import { alnName, alnParts, filtersByAward, listFilterColumns } from "./aln.ts";
import type { Column, Table } from "./api-description.ts";
import type { Query } from "./query.ts";
import { readExtra } from "./write-target.ts";

/** The columns of each table that the explorer shows at first. */
const shown: Record<string, string> = {
  general:
    "report_id,auditee_name,audit_year,total_amount_expended,auditee_city,auditee_state,fac_accepted_date,entity_type,is_internal_control_material_weakness_disclosed",
  federal_awards:
    "report_id,auditee_name,audit_year,amount_expended,aln,federal_program_name,award_reference,is_major,findings_count",
  findings:
    "report_id,auditee_name,audit_year,reference_number,award_reference,aln,federal_program_name,type_requirement,is_material_weakness,is_significant_deficiency,is_questioned_costs,is_repeat_finding",
  findings_text: "report_id,auditee_name,audit_year,finding_ref_number,finding_text",
  corrective_action_plans: "report_id,auditee_name,audit_year,finding_ref_number,planned_action",
  notes_to_sefa: "report_id,title,content,is_minimis_rate_used",
  passthrough: "report_id,award_reference,passthrough_name,passthrough_id",
  resubmission: "report_id,version,status,previous_report_id,next_report_id",
};

/** Columns of other tables that the explorer adds to a table's own. */
const joined = Object.entries({
  auditee_name: "Auditee name",
  federal_program_name: "Federal program name",
}).map(([name, label]): Column => ({ name, label, type: "text", description: label, values: [], words: {} }));

/** Describes a column of a table's rows, as people see them. Rows name a column of their report without the report's table. */
export function findColumn(table: Table | undefined, name: string): Column | undefined {
  const columns = table === undefined ? [] : [...listFilterColumns(table), ...table.columns, ...joined];
  return columns.find((column) => column.name === name || column.name.endsWith(`.${name}`));
}

/** What a reader of a report looks for first. */
const leading =
  "total_amount_expended,gaap_results,is_internal_control_material_weakness_disclosed,is_material_noncompliance_disclosed,is_internal_control_deficiency_disclosed,is_going_concern_included,is_low_risk_auditee".split(
    ",",
  );
/** Columns about the people and addresses of an auditee or auditor. */
const contact = /_(certify|contact|phone|email|address|zip|foreign)(_|$)/;

/** The order in which a record shows its columns: what matters most, then the rest, contacts last. */
export function orderColumns(names: string[]): string[] {
  const rank = (name: string) => (leading.includes(name) ? 0 : contact.test(name) ? 2 : 1);
  const place = (name: string) => (rank(name) === 0 ? leading.indexOf(name) : names.indexOf(name));
  return names.toSorted((one, other) => rank(one) - rank(other) || place(one) - place(other));
}

/** Tables of texts. */
export const isNarrative = ({ name }: Pick<Table, "name">): boolean =>
  name === "notes_to_sefa" || isSplit({ name });

/** Whether a long text of a table takes several rows. */
export const isSplit = ({ name }: Pick<Table, "name">): boolean =>
  /^(findings_text|corrective_action_plans)$/.test(name);

/** Tables with so many rows that joining their reports takes longer than a key allows. */
const large = /^(federal_awards|passthrough|notes_to_sefa)$/;
/** Filters on two of these leave few enough awards to join their reports. */
const narrow = /^(audit_year|aln|federal_agency_prefix|federal_award_extension)$/;

/** Whether the API can add the auditee's name in time. It joins the reports before it sorts and limits the rows. */
function canHaveAuditee({ filters }: Query, { name, embeds }: Table): boolean {
  if (!embeds.includes("general") || name === "general") return false;
  if (filters.some(({ column }) => /^(report_id|auditee_uei)$/.test(column))) return true;
  const narrowing = filters.filter(({ column, operator }) => operator === "eq" && narrow.test(column));
  const isOfProgram = narrowing.some(({ column, value }) => column === alnName && value.includes("."));
  return !large.test(name) || isOfProgram || narrowing.length > 1;
}

/** Whether the API can add the program in time. It joins the awards before it sorts and limits the rows. */
function canHaveProgram({ filters, order }: Query, { name, embeds }: Table): boolean {
  return (
    name === "findings" &&
    embeds.includes("federal_awards") &&
    filters.length + Number(order.length === 0) > 0
  );
}

/** Adds the auditee's name and a finding's program to a request for all columns, and what its filters need to any request. */
export function addJoined(
  query: Query,
  table: Table | undefined,
  wantsAuditee = query.select.length === 0,
): Query {
  if (table === undefined) return query;
  const isAll = query.select.length === 0;
  const terms = [
    joinTable("general", ["auditee_name"], query, wantsAuditee && canHaveAuditee(query, table)),
    joinTable(
      "federal_awards",
      [...alnParts, "federal_program_name"],
      query,
      isAll && canHaveProgram(query, table),
    ),
  ].filter((term) => term !== undefined);
  return terms.length === 0 ? query : { ...query, select: [...(isAll ? ["*"] : query.select), ...terms] };
}

/**
 * A term of `select` that adds columns of the report or award that a row belongs to. Without `!inner`, a filter on these would
 * only make them null.
 */
function joinTable(name: string, columns: string[], query: Query, isWanted: boolean): string | undefined {
  if (query.select.some((term) => term.includes(name))) return undefined;
  const prefix = `${name}.`;
  const filtered = query.filters
    .filter(({ column }) => column.startsWith(prefix))
    .map(({ column }) => column.slice(prefix.length));
  const isRequired =
    filtered.length > 0 ||
    readExtra(query.extra).some(([parameter]) => parameter.startsWith(prefix)) ||
    (name === "federal_awards" && filtersByAward(query));
  if (!isRequired && !isWanted) return undefined;
  return `...${name}${isRequired ? "!inner" : ""}(${[...new Set([...columns, ...filtered])]})`;
}

/** Adds columns that a spreadsheet needs to a request for some columns: the filtered columns and the auditee's name. */
export function completeColumns(query: Query, table: Table | undefined): Query {
  const { select, filters } = query;
  if (table === undefined || select.length === 0 || select.includes("*")) return addJoined(query, table);
  const filtered = filters.flatMap(({ column }) => (column === alnName ? [column, ...alnParts] : [column]));
  if (table.name === "general") filtered.push("auditee_name");
  const own = filtered.filter((each) => table.columns.some((column) => column.name === each));
  return addJoined({ ...query, select: [...new Set([...select, ...own])] }, table, true);
}

/** Chooses which of a table's columns the explorer shows at first. */
export function chooseShown(table: string, names: string[]): string[] {
  const found = (shown[table]?.split(",") ?? names.slice(0, 8)).filter((name) => names.includes(name));
  return found.length === 0 ? names : found;
}
