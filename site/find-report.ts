import { findState } from "./names.ts";
import { emptyQuery, type Filter } from "./query.ts";
import { linkToExplorer } from "./write-target.ts";

/**
 * Returns the explorer's address that shows what a person looks for: a report ID, UEI, EIN, a state with or without an audit
 * year, or a part of an auditee's name.
 *
 * @param schema the version that answers
 */
export function findReport(text: string, schema: string): string {
  const filters = readFilters(text.trim());
  const isReport = filters[0]?.column === "report_id";
  const order = isReport ? [] : ["fac_accepted_date.desc.nullslast"];
  return linkToExplorer(schema, { ...emptyQuery, filters, order }, isReport);
}

function readFilters(text: string): Filter[] {
  const is = (column: string, value: string): Filter => ({ column, operator: "eq", value });
  const compact = text.toUpperCase().replace(/[\s-]/g, "");
  if (/^\d{4}-\d{2}-[A-Z]+-\d{10}$/i.test(text)) return [is("report_id", text.toUpperCase())];
  if (/^\d{9}$/.test(compact)) return [is("auditee_ein", compact)];
  // A name may have 12 letters; a UEI nearly always has a digit too.
  if (/^(?=.*\d)[A-Z0-9]{12}$/.test(compact)) return [is("auditee_uei", compact)];
  const [year] = /\b20\d\d\b/.exec(text) ?? [];
  const rest = text.replace(year ?? "", "").replace(/^[\s,]+|[\s,]+$/g, "");
  const state = findState(rest);
  if (state || (year && rest === ""))
    return [...(state ? [is("auditee_state", state)] : []), ...(year ? [is("audit_year", year)] : [])];
  return [{ column: "auditee_name", operator: "contains", value: text }];
}
