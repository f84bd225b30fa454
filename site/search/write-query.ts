import { emptyQuery, type Filter, type Query } from "../query.ts";
import type { Criteria } from "./readers.ts";
import { shorten, split } from "./words.ts";

const order = ["fac_accepted_date.desc.nullslast"];

/** Writes a request to the API for the reports that a page lists. */
export const writePageQuery = (reportIds: string[]): Query => ({
  ...emptyQuery,
  filters: [{ column: "report_id", operator: "in", value: reportIds.join("\n") }],
  order: [...order, "report_id.desc"],
});

/** Writes a search as a request to the API: for awards if it names an agency or program, else for reports. */
export function writeQuery(criteria: Criteria): Query {
  const { agency, program, state, year, uei, ein } = criteria;
  const words = writeWords(criteria);
  if (agency === undefined) {
    const filters = listFilters({
      report_id: criteria.report_ids?.[0],
      auditee_uei: uei,
      auditee_ein: ein,
      auditor_ein: criteria.auditor_ein,
      auditee_state: state,
      audit_year: year,
    });
    return { ...emptyQuery, filters, extra: words, order };
  }
  return {
    ...emptyQuery,
    table: "federal_awards",
    filters: listFilters({
      federal_agency_prefix: agency,
      federal_award_extension: program,
      audit_year: year,
    }),
    order,
    ...(state && {
      select: ["*", "...general!inner(auditee_name,auditee_state)"],
      extra: `general.auditee_state=eq.${state}`,
    }),
  };
}

/** Whether a search looks in other tables than the request could name: those of additional IDs, secondary auditors and findings. */
export const isOfOtherTables = (criteria: Criteria): boolean =>
  (
    ["uei", "ein", "secondary_auditor", "secondary_auditor_ein", "city", "name_and_city", "findings"] as const
  ).some((name) => criteria[name] !== undefined);

function listFilters(values: Record<string, string | undefined>): Filter[] {
  return Object.entries(values).flatMap(([column, value]) =>
    value === undefined ? [] : [{ column, operator: "eq" as const, value }],
  );
}

function writeWords({ name, name_beginnings: beginnings, auditor }: Criteria): string {
  if (name !== undefined) return `words=${writeForms(name)}`;
  if (auditor !== undefined) return `auditor_words=${writeForms(auditor)}`;
  if (beginnings === undefined) return "";
  const words = split(shorten(beginnings)).split(" ");
  return `words=fts(names).${words.map((word) => (word.length > 2 ? `${word}:*` : word)).join("%26")}`;
}

/** The words with and without what people leave out, as extensions.name_query() reads them. */
function writeForms(text: string): string {
  const forms = [...new Set([split(text), split(shorten(text))])];
  return forms.length === 1 ? `plfts(names).${forms[0]}` : `wfts(names).${forms.join(" or ")}`;
}
