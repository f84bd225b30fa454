import type { Table } from "./api-description.ts";
import type { Query } from "./query.ts";

interface TableFacts {
  /** Columns that are unique together; rows alike in all of them are alike in every column. */
  unique: string[];
  /** Whether rows of a report come in an order that no column tells, such as parts of a long text. */
  isInFileOrder?: true;
  /** What the explorer shows of a row before it is opened. */
  shown: string[];
}

const facts: Record<string, TableFacts> = {
  general: {
    unique: ["report_id"],
    shown: [
      "report_id",
      "auditee_name",
      "auditee_city",
      "auditee_state",
      "audit_year",
      "fac_accepted_date",
      "total_amount_expended",
      "entity_type",
      "is_internal_control_material_weakness_disclosed",
    ],
  },
  federal_awards: {
    unique: ["report_id", "award_reference"],
    shown: [
      "report_id",
      "award_reference",
      "federal_agency_prefix",
      "federal_award_extension",
      "federal_program_name",
      "amount_expended",
      "is_major",
      "findings_count",
    ],
  },
  findings: {
    unique: ["report_id", "award_reference", "reference_number"],
    shown: [
      "report_id",
      "award_reference",
      "reference_number",
      "type_requirement",
      "is_material_weakness",
      "is_significant_deficiency",
      "is_questioned_costs",
      "is_repeat_finding",
    ],
  },
  findings_text: {
    unique: ["report_id", "finding_ref_number", "finding_text", "contains_chart_or_table"],
    isInFileOrder: true,
    shown: ["report_id", "audit_year", "finding_ref_number", "finding_text"],
  },
  corrective_action_plans: {
    unique: ["report_id", "finding_ref_number", "planned_action", "contains_chart_or_table"],
    isInFileOrder: true,
    shown: ["report_id", "audit_year", "finding_ref_number", "planned_action"],
  },
  notes_to_sefa: {
    unique: [
      "report_id",
      "title",
      "content",
      "accounting_policies",
      "is_minimis_rate_used",
      "rate_explained",
      "contains_chart_or_table",
    ],
    isInFileOrder: true,
    shown: ["report_id", "title", "content", "is_minimis_rate_used"],
  },
  passthrough: {
    unique: ["report_id", "award_reference", "passthrough_id", "passthrough_name"],
    shown: ["report_id", "award_reference", "passthrough_name", "passthrough_id"],
  },
  resubmission: {
    unique: ["report_id"],
    shown: ["report_id", "version", "status", "previous_report_id", "next_report_id"],
  },
};

/**
 * The columns that a request's order must end in, so that its pages neither overlap nor miss rows. None for a whole
 * table, whose rows have an order of their own, nor for the texts of one report, whose order means something.
 */
export function chooseTieBreakers(query: Query, table: Table | undefined): string[] {
  if (table === undefined) return [];
  const { filters, order, embeds, extra } = query;
  if (filters.length + order.length + embeds.length === 0 && extra.trim() === "") return [];
  const known = facts[table.name];
  const isOfOneReport = filters.some(({ column, operator }) => column === "report_id" && operator === "eq");
  if (known?.isInFileOrder && isOfOneReport && order.length === 0) return [];
  const names = table.columns.map(({ name }) => name);
  return known === undefined ? names : names.filter((name) => known.unique.includes(name));
}

/** The columns of a table that are shown at first, if it has more. */
export function chooseShown(table: string, names: string[]): string[] {
  const shown = facts[table]?.shown ?? names.slice(0, 8);
  const found = shown.filter((name) => names.includes(name));
  return found.length === 0 ? names : found;
}
