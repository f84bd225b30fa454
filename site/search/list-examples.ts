import { agencyAbbreviations, states } from "../names.ts";
import type { Totals } from "../totals.ts";

/** Searches that find something in the live data set: they describe one of its newest submissions. */
export function listExamples(totals: Totals | null | undefined): string[] {
  const { example } = totals ?? {};
  if (!example) return [];
  const { auditee_state: code, audit_year: year, federal_agency_prefix: prefix } = example;
  const state = states[code] ?? code;
  const agencies = Object.entries(agencyAbbreviations);
  const agency = agencies.find(([, each]) => each === prefix)?.[0] ?? prefix;
  return [
    `${prefix}.${example.federal_award_extension} ${code} ${year}`,
    `${example.auditee_name}, ${state}`,
    `${agency} ${state}`,
    `${state} ${year}`,
    ...[example.auditee_city, example.auditor_firm_name].filter((name) => name !== null && name !== ""),
  ].filter((each) => each !== null);
}
