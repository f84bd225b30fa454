import { agencyAbbreviations, states } from "../names.ts";
import type { Totals } from "../totals.ts";

/** Searches that suit the live data set: they name the state and the agency with the most reports of a year. */
export function listExamples(totals: Totals | null | undefined): string[] {
  const largest = findLargest(
    (totals?.totals_by_state ?? []).filter(
      ({ auditee_state: code, audit_year: year }) => year && states[code ?? ""],
    ),
  );
  if (largest === undefined) return [];
  const { auditee_state: code, audit_year: year } = largest;
  const state = states[code ?? ""];
  const ofYear = findLargest(
    (totals?.totals_by_agency ?? []).filter((row) => row.federal_agency_prefix && row.audit_year === year),
  );
  const prefix = ofYear?.federal_agency_prefix;
  const agency = Object.entries(agencyAbbreviations).find(([, each]) => each === prefix)?.[0] ?? prefix;
  return [...(agency ? [`${agency} ${state}`, `${agency} ${code} ${year}`] : []), `${state} ${year}`];
}

const findLargest = <Row extends { submissions: number }>(rows: Row[]): Row | undefined =>
  rows.toSorted((one, other) => other.submissions - one.submissions)[0];
