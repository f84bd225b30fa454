import codes from "../db/api/api_v1_1_0/codes.json" with { type: "json" };
import {
  count,
  describeFindings,
  describeOpinion,
  type FindingCounts,
  isUnmodified,
  type Opinions,
  statesOpinion,
} from "./finding-words.ts";
import { addMonths, formatDay } from "./format.ts";
import { type Content, type Html, html } from "./html.ts";

type Words = Readonly<Record<string, string>>;
const programOpinions: Words = codes.words["federal_awards.audit_report_type"];

/** What a report says of the auditee as a whole, by columns of general. */
const disclosures: Words = {
  is_internal_control_material_weakness_disclosed: "material weakness in financial reporting",
  is_internal_control_deficiency_disclosed: "significant deficiency in financial reporting",
  is_material_noncompliance_disclosed: "material noncompliance",
  is_going_concern_included: "doubt that the auditee can continue as a going concern",
};

/** What a verdict depends on. */
interface Result extends Opinions {
  findings: number;
  /** The columns of general that describe a problem and are "Yes". */
  disclosed: readonly string[];
  /** How many programs have each modified opinion on compliance, by its letter. */
  modified_programs: Readonly<Record<string, number>>;
}

/** What isClean() means, for readers. */
export const cleanNote =
  "“Clean” means that a report has only unmodified opinions and no findings, and discloses no deficiency, material noncompliance or going-concern doubt.";

/** Whether a report has no findings, no modified opinion and no disclosed problem. Undefined if it states no opinion. */
export function isClean(report: Result): boolean | undefined {
  const hasProblem =
    report.findings > 0 ||
    !isUnmodified(report) ||
    Object.keys(report.modified_programs).length > 0 ||
    report.disclosed.length > 0;
  return hasProblem ? false : statesOpinion(report) || undefined;
}

/** The modified opinions on compliance, and what is disclosed. */
function listProblems(report: Result): string[] {
  return [
    ...Object.entries(report.modified_programs).map(
      ([letter, programs]) =>
        `opinion on compliance ${programOpinions[letter] ?? letter} for ${count(programs, "program")}`,
    ),
    ...report.disclosed.map((column) => disclosures[column] ?? column),
  ];
}

const nameOpinion = (report: Result): string => `opinion ${describeOpinion(report)}`;

/**
 * Says why a report is clean or not, apart from its findings: "opinion unmodified", "opinion qualified; material noncompliance". Empty if
 * only its findings are a reason.
 */
export const describeReasons = (report: Result): string =>
  [isClean(report) === false && isUnmodified(report) ? "" : nameOpinion(report), ...listProblems(report)]
    .filter(Boolean)
    .join("; ");

/** Says why a report is clean or not: "3 findings: 1 material weakness, 1 repeat; opinion qualified". */
export const explainVerdict = (report: Result & FindingCounts): string =>
  [
    isClean(report) === false && report.findings === 0 ? "" : describeFindings(report),
    describeReasons(report),
  ]
    .filter(Boolean)
    .join("; ");

/** Says whether a report is clean, and why: "not clean: 3 findings; opinion qualified", "no findings; opinion not stated". */
export function describeVerdict(report: Result & FindingCounts): string {
  const verdict = isClean(report);
  const why = explainVerdict(report);
  return verdict === undefined ? why : `${nameVerdict(verdict).toLowerCase()}: ${why}`;
}

export const nameVerdict = (verdict: boolean | undefined): string =>
  verdict === undefined ? "Not stated" : verdict ? "Clean" : "Not clean";

/** The cell of a table. The findings have a cell of their own. */
export function writeVerdict(report: Result): Html {
  const reasons = describeReasons(report);
  return html`${nameVerdict(isClean(report))}${reasons !== "" && html` <span class="hint">${reasons}</span>`}`;
}

/** The columns of a CSV file. */
export const resultColumns = ["result", "opinion", "opinions_and_disclosures"] as const;

export function listResult(report: Result): Record<(typeof resultColumns)[number], string> {
  return {
    result: nameVerdict(isClean(report)).toLowerCase(),
    opinion: describeOpinion(report),
    opinions_and_disclosures: [nameOpinion(report), ...listProblems(report)].join("; "),
  };
}

export const noDueDate = "no accepted date, so no due date can be computed";
export type DueState = "past due" | "due within a month" | "due later" | typeof noDueDate;

/** Compares the date on which a management decision is due, of publication.decision_due(), with today. */
export function judgeDue(due: string | null, today: string): DueState {
  if (due === null) return noDueDate;
  if (due < today) return "past due";
  return due <= addMonths(today, 1) ? "due within a month" : "due later";
}

/** When a management decision is due, and what the data does not say of it. */
export const explainDecisions = (today: string): string =>
  `six months after the report was accepted (2 CFR 200.521(d)). As of ${formatDay(today)}. The Federal Audit Clearinghouse does not say whether it was issued.`;

/** A badge, if a decision is past due or due soon. */
export function writeDueBadge(due: string, today: string): Content {
  const state = judgeDue(due, today);
  return (
    state !== "due later" &&
    html` <span class="badges"><span${state === "past due" && html` class="grave"`}>${state}</span></span>`
  );
}

/** What “past due” means, for readers. */
export const explainPastDue = (today: string): string =>
  `“Past due” means due before ${formatDay(today)}. The Federal Audit Clearinghouse does not say which decisions were issued.`;
