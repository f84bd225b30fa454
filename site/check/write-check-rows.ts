import { describeOpinion } from "../finding-words.ts";
import type { CheckedEntry } from "./check-reports.ts";
import type { List } from "./read-list.ts";

export const checkColumns = [
  "entry",
  "kind",
  "id",
  "answer",
  "report_id",
  "auditee_name",
  "auditee_state",
  "audit_year",
  "fac_accepted_date",
  "opinion",
  "findings",
  "findings_on_aln",
  "material_weaknesses",
  "repeat_findings",
  "questioned_costs",
  "management_decision_due",
  "address",
];

/** Writes a checked list as rows of a CSV file: each entry, then what was not understood. */
export function writeCheckRows(
  checked: CheckedEntry[],
  { unread }: List,
  appUrl: string,
): Record<string, unknown>[] {
  return [
    ...checked.map(({ typed, kind, id, report }) => ({
      ...report,
      entry: typed,
      kind,
      id,
      answer: report ? "filed" : "nothing public found",
      ...(report && { opinion: describeOpinion(report), address: `${appUrl}/record/${report.report_id}` }),
    })),
    ...unread.map((entry) => ({ entry, answer: "not understood" })),
  ];
}
