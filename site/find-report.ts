import { findState } from "./names.ts";
import { emptyQuery, type Filter } from "./query.ts";
import { linkToExplorer } from "./write-target.ts";

/**
 * Returns the explorer's URL for a search: a report ID, UEI, EIN, Assistance Listing number, a state with or without an
 * audit year, or part of an auditee's name.
 *
 * @param schema the API version to search
 */
export function findReport(text: string, schema: string): string {
  const filters = readFilters(text.slice(0, 200).trim());
  const isReport = filters[0]?.column === "report_id";
  const isProgram = filters[0]?.column === "federal_agency_prefix";
  const [table, newest] = isProgram ? ["federal_awards", "audit_year"] : ["general", "fac_accepted_date"];
  const order = isReport ? [] : [`${newest}.desc.nullslast`];
  return linkToExplorer(schema, { ...emptyQuery, table, filters, order }, isReport);
}

/** Words that people write next to a number, a state or a year. */
const labels = /\b(EIN|UEI|ALN|CFDA|report ID|audits?|reports?|(fiscal |audit )?years?|FY)\b:?/gi;
const prepositions = /\b(of|in|for|from)\b/g;
const around =
  /^(?:(?:audits?|reports?) (?:of|for|from) )?(.+?)(?:(?<! of| for| from) (?:audits?|reports?))?(,?(?: in)? 20\d\d)?$/i;

function readFilters(typed: string): Filter[] {
  const text = typed.replace(labels, " ").replace(prepositions, " ").replace(/\s+/g, " ").trim();
  const is = (column: string, value: string): Filter => ({ column, operator: "eq", value });
  const compact = text.toUpperCase().replace(/[\s-]/g, "");
  if (/^\d{4}-\d{2}-[A-Z]+-\d{10}$/i.test(text)) return [is("report_id", text.toUpperCase())];
  if (/^\d{9}$/.test(compact)) return [is("auditee_ein", compact)];
  // A name may have 12 letters; a UEI nearly always has a digit too.
  if (/^(?=.*\d)[A-Z0-9]{12}$/i.test(text)) return [is("auditee_uei", text.toUpperCase())];
  const [year] = /\b20\d\d\b/.exec(text) ?? [];
  const ofYear = year ? [is("audit_year", year)] : [];
  const rest = text.replace(year ?? "", "").replace(/^[\s,]+|[\s,]+$/g, "");
  const [, agency, program] = /^(\d{2})\.(\w{2,3})$/.exec(rest.toUpperCase()) ?? [];
  if (agency && program)
    return [is("federal_agency_prefix", agency), is("federal_award_extension", program), ...ofYear];
  const state = findState(rest);
  if (state) return [is("auditee_state", state), ...ofYear];
  if (rest === "" && year) return ofYear;
  // A name may contain such words, and a year.
  const [, name = typed, isOfYear] = around.exec(typed) ?? [];
  return [{ column: "auditee_name", operator: "contains", value: name }, ...(isOfYear ? ofYear : [])];
}
