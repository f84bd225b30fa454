import { linkToExplorer } from "./example-request.ts";
import { emptyQuery, type Filter } from "./query.ts";

/**
 * Returns the explorer's address that shows what a person looks for: a report ID, UEI, EIN, or a part of an auditee's name.
 *
 * @param schema the version that answers
 */
export function findReport(text: string, schema: string): string {
  const filter = readFilter(text.trim());
  const isReport = filter.column === "report_id";
  const order = isReport ? [] : ["fac_accepted_date.desc.nullslast"];
  return linkToExplorer(schema, { ...emptyQuery, filters: [filter], order }, isReport);
}

function readFilter(text: string): Filter {
  const compact = text.toUpperCase().replace(/[\s-]/g, "");
  if (/^\d{4}-\d{2}-[A-Z]+-\d{10}$/i.test(text)) {
    return { column: "report_id", operator: "eq", value: text.toUpperCase() };
  }
  if (/^\d{9}$/.test(compact)) return { column: "auditee_ein", operator: "eq", value: compact };
  // A name may have 12 letters; a UEI nearly always has a digit too.
  if (/^(?=.*\d)[A-Z0-9]{12}$/.test(compact))
    return { column: "auditee_uei", operator: "eq", value: compact };
  return { column: "auditee_name", operator: "contains", value: text };
}
