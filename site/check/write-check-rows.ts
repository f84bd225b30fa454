import { describeOpinion } from "../finding-words.ts";
import { describeResult, nameVerdict } from "../verdict.ts";
import type { Checked, CheckedEntry } from "./check-reports.ts";
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
  "result",
  "opinion",
  "opinions_and_disclosures",
  "findings",
  "findings_on_aln",
  "material_weaknesses",
  "repeat_findings",
  "questioned_costs",
  "management_decision_due",
  "address",
];

const judge = (report: Checked) => describeResult({ ...report, general: report, counts: report });

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
      ...(report && {
        result: nameVerdict(judge(report).isClean).toLowerCase(),
        opinions_and_disclosures: judge(report).opinions,
        opinion: describeOpinion(report),
        address: `${appUrl}/record/${report.report_id}`,
      }),
    })),
    ...unread.map((entry) => ({ entry, answer: "not understood" })),
  ];
}
