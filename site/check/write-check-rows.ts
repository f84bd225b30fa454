import { describeOpinion } from "../finding-words.ts";
import { writeUtcDate } from "../format.ts";
import { describeResult, nameVerdict } from "../verdict.ts";
import type { Checked, CheckedEntry } from "./check-reports.ts";
import type { Decision } from "./decisions.ts";
import { explainUei } from "./read-list.ts";

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
  "findings_with_questioned_costs",
  "management_decision_due",
  "address",
];

/** Whether a report is clean, or why not. */
export const judge = (report: Checked) => describeResult(report);

const answers = {
  UEI: "nothing public found",
  EIN: "nothing public found",
  "report ID": "no public report has this ID",
};

/** Whether an entry was meant as a UEI, but cannot be one. */
export const isMistyped = ({ kind, typed, report }: CheckedEntry): boolean =>
  kind === "UEI" && report === undefined && explainUei(typed.toUpperCase()) !== undefined;

/** Describes in words what was found for an entry of a list. */
export function describeAnswer(entry: CheckedEntry): string {
  if (entry.report) return "filed";
  if (entry.kind === undefined) return "not understood";
  return (entry.kind === "UEI" && explainUei(entry.id)) || answers[entry.kind];
}

/** Writes a checked list as rows of a CSV file, in the order of the list. */
export function writeCheckRows(checked: CheckedEntry[], appUrl: string): Record<string, unknown>[] {
  return checked.map((entry) => {
    const { typed, kind, report } = entry;
    return {
      ...report,
      entry: typed,
      kind,
      id: kind && entry.id,
      answer: describeAnswer(entry),
      ...(report && {
        result: nameVerdict(judge(report).isClean).toLowerCase(),
        opinions_and_disclosures: judge(report).opinions,
        opinion: describeOpinion(report),
        findings_with_questioned_costs: report.questioned_costs,
        address: `${appUrl}/record/${report.report_id}`,
      }),
    };
  });
}

export const decisionColumns = [
  "management_decision_due",
  "state",
  "as_of",
  "report_id",
  "auditee_name",
  "auditee_state",
  "audit_year",
  "findings",
  "address",
];

/** Writes management decisions as rows of a CSV file. */
export const writeDecisionRows = (
  decisions: Decision[],
  today: Date,
  appUrl: string,
): Record<string, unknown>[] =>
  decisions.map((decision) => ({
    ...decision,
    as_of: writeUtcDate(today),
    management_decision_due: decision.due,
    address: `${appUrl}/record/${decision.report_id}`,
  }));
