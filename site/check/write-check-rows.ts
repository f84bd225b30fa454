import { nameYear } from "../format.ts";
import { describeSimilar } from "../similar-ids.ts";
import { describeSuccessor } from "../successors.ts";
import { isClean, judgeDue, listResult, nameVerdict, resultColumns } from "../verdict.ts";
import type { Checked, CheckedEntry, CheckedResult } from "./check-reports.ts";
import { describeChange, findReportOf } from "./compare-years.ts";
import type { Decision } from "./decisions.ts";
import { askForUei, explainUei, isPlaceholder } from "./read-list.ts";
import type { Wanted } from "./read-wanted.ts";

/** The columns and rows of a CSV file. */
interface Table {
  columns: string[];
  rows: Record<string, unknown>[];
}

const answers = {
  UEI: "no public report",
  EIN: "no public report",
  "report ID": "no public report has this ID",
};

/** Whether an entry was meant as a UEI, but cannot be one. */
export const isMistyped = ({ kind, typed, report, other }: CheckedEntry): boolean =>
  kind === "UEI" && (report ?? other) === undefined && explainUei(typed.toUpperCase()) !== undefined;

/** Whether an entry was not understood. The placeholder for unknown UEIs is understood. */
export const isUnread = (entry: CheckedEntry): boolean =>
  entry.kind === undefined ? !isPlaceholder(entry.typed) : isMistyped(entry);

/** What an entry has for an audit year without a report. Undefined if the entry was not understood. */
export const describeNone = (entry: CheckedEntry): string | undefined =>
  entry.kind && !isMistyped(entry) ? "no public report" : undefined;

/** Describes in words what was found for an entry of a list: "filed", "no public report for 2023; filed 2022". */
export function describeAnswer(entry: CheckedEntry, wanted: Wanted): string {
  const { kind, report, other, successor, similar } = entry;
  if (report) return "filed";
  if (successor) return describeSuccessor(successor);
  if (other) return `${describeMissing(wanted)}; filed ${listFiled(other)}`;
  const missing = explainMissing(entry);
  if (similar.length > 0) return `${missing}: did you mean ${describeSimilar(similar)}?`;
  return kind === "UEI" && isMistyped(entry) ? `${missing}: ${askForUei(entry.id)}` : missing;
}

/** Why nothing was found for an entry: "no public report", "not a UEI, because …". */
export function explainMissing(entry: CheckedEntry): string {
  if (entry.kind === undefined)
    return isPlaceholder(entry.typed)
      ? "not a UEI: old reports without a UEI have this instead"
      : "not understood";
  return (entry.kind === "UEI" && explainUei(entry.id)) || answers[entry.kind];
}

/** "no public report for 2023" */
export const describeMissing = ({ compared, years }: Wanted): string =>
  `no public report for ${(compared ?? years ?? []).join(", ")}`;

/** "2022, 2021": the audit years of the reports that were found. */
export const listFiled = ({ filed }: Checked): string => filed.map(nameYear).join(", ");

/** What every row has of its entry. */
function writeEntry(entry: CheckedEntry, wanted: Wanted) {
  const auditee = entry.report ?? entry.other;
  return {
    entry: entry.typed,
    kind: entry.kind,
    id: entry.kind && entry.id,
    answer: describeAnswer(entry, wanted),
    same_report_as: entry.sameAs,
    auditee_name: auditee?.auditee_name,
    auditee_uei: auditee?.auditee_uei,
    auditee_ein: auditee?.auditee_ein,
    auditee_city: auditee?.auditee_city,
    auditee_state: auditee?.auditee_state,
  };
}

/** Writes a checked list in its order. */
export function writeCheckTable(
  checked: CheckedEntry[],
  wanted: Wanted,
  asOf: string,
  appUrl: string,
): Table {
  const rows = checked.map((entry) => {
    const { report } = entry;
    return {
      ...report,
      ...writeEntry(entry, wanted),
      ...(report && {
        ...listResult(report),
        findings_on_program: report.findings_on_aln,
        findings_with_questioned_costs: report.questioned_costs,
        management_decision_state: report.needs_decision
          ? judgeDue(report.management_decision_due, asOf)
          : undefined,
        as_of: report.needs_decision ? asOf : undefined,
        address: `${appUrl}/record/${report.report_id}`,
      }),
    };
  });
  return { columns: checkColumns, rows };
}

const checkColumns = [
  "entry",
  "kind",
  "id",
  "answer",
  "same_report_as",
  "report_id",
  "auditee_name",
  "auditee_uei",
  "auditee_ein",
  "auditee_city",
  "auditee_state",
  "audit_year",
  "fac_accepted_date",
  "resubmission_version",
  ...resultColumns,
  "findings",
  "findings_on_program",
  "material_weaknesses",
  "repeat_findings",
  "findings_with_questioned_costs",
  "management_decision_due",
  "management_decision_state",
  "as_of",
  "address",
];

/** Writes a checked list with the audit years beside each other. */
export function writeComparisonTable(checked: CheckedEntry[], wanted: Wanted, appUrl: string): Table {
  const { compared = [], aln } = wanted;
  const ofYear = (report?: CheckedResult, none?: string) => ({
    result: report ? nameVerdict(isClean(report)).toLowerCase() : none,
    findings: report?.findings,
    ...(aln && { findings_on_program: report?.findings_on_aln }),
    repeat_findings: report?.repeat_findings,
    report_id: report?.report_id,
  });
  const name = (column: string, year: string) => `${column}_${year}`;
  const rows = checked.map((entry) => ({
    ...writeEntry(entry, wanted),
    change: describeChange(entry, wanted),
    ...Object.fromEntries(
      compared.flatMap((year) =>
        Object.entries(ofYear(findReportOf(entry, year), describeNone(entry))).map(([column, value]) => [
          name(column, year),
          value,
        ]),
      ),
    ),
    ...((entry.report ?? entry.other) && { address: `${appUrl}${linkToEntry(entry)}` }),
  }));
  const columns = compared.flatMap((year) => Object.keys(ofYear()).map((column) => name(column, year)));
  return {
    columns: [
      "entry",
      "kind",
      "id",
      "answer",
      "same_report_as",
      "auditee_name",
      "auditee_uei",
      "auditee_ein",
      "auditee_city",
      "auditee_state",
      "change",
      ...columns,
      "address",
    ],
    rows,
  };
}

/** The page that shows the most of an entry: its auditee's, or its report's. */
export const linkToEntry = (entry: CheckedEntry): string =>
  entry.kind === undefined || entry.kind === "report ID"
    ? `/record/${(entry.report ?? entry.other)?.report_id}`
    : `/auditee/${entry.id}`;

/** Writes management decisions. */
export const writeDecisionTable = (decisions: Decision[], asOf: string, appUrl: string): Table => ({
  columns: decisionColumns,
  rows: decisions.map((decision) => ({
    ...decision,
    as_of: asOf,
    management_decision_due: decision.due,
    management_decision_state: decision.state,
    address: `${appUrl}/record/${decision.report_id}`,
  })),
});

const decisionColumns = [
  "management_decision_due",
  "management_decision_state",
  "as_of",
  "entry",
  "report_id",
  "auditee_name",
  "auditee_uei",
  "auditee_ein",
  "auditee_city",
  "auditee_state",
  "audit_year",
  "fac_accepted_date",
  "resubmission_version",
  "findings",
  "address",
];
