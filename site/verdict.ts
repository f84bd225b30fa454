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
import { addMonths } from "./format.ts";
import { type Content, type Html, html } from "./html.ts";

type Words = Readonly<Record<string, string>>;
const programOpinions: Words = codes.words["federal_awards.audit_report_type"];

/** What a report says of the auditee as a whole, as columns of general: "Yes" is a problem. */
const disclosures = {
  is_internal_control_material_weakness_disclosed: "material weakness in financial reporting",
  is_internal_control_deficiency_disclosed: "significant deficiency in financial reporting",
  is_material_noncompliance_disclosed: "material noncompliance",
  is_going_concern_included: "doubt that the auditee can continue as a going concern",
};

/** A row of publication.describe_results(): its result and counts. */
interface Result extends Opinions, FindingCounts, Readonly<Record<keyof typeof disclosures, string | null>> {
  /** How many programs have each modified opinion on compliance, by its letter. */
  modified_programs: Readonly<Record<string, number>>;
}

/** Whether a report has no findings, no modified opinion and no disclosed problem. Undefined if it states no opinion. */
export function isClean(report: Result): boolean | undefined {
  const isFound =
    report.findings > 0 ||
    !isUnmodified(report) ||
    Object.keys(report.modified_programs).length > 0 ||
    listDisclosures(report).length > 0;
  return isFound ? false : statesOpinion(report) || undefined;
}

/** Says what makes a report clean or not: "3 findings: 1 material weakness, 1 repeat; opinion qualified". */
export function describeResult(report: Result): {
  why: string;
  /** Why, apart from the findings. */
  opinions: string;
} {
  const opinion = describeOpinion(report);
  const problems = [
    !isUnmodified(report) && `opinion ${opinion}`,
    ...Object.entries(report.modified_programs).map(
      ([letter, programs]) =>
        `opinion on compliance ${programOpinions[letter] ?? letter} for ${count(programs, "program")}`,
    ),
    ...listDisclosures(report),
  ].filter((problem) => problem !== false);
  const rest = problems.length > 0 && !isUnmodified(report) ? problems : [`opinion ${opinion}`, ...problems];
  return {
    why: [describeFindings(report), ...rest].join("; "),
    opinions: rest.join("; "),
  };
}

const listDisclosures = (report: Result): string[] =>
  Object.entries(disclosures).flatMap(([column, words]) =>
    report[column as keyof typeof disclosures] === "Yes" ? [words] : [],
  );

export const nameVerdict = (verdict: boolean | undefined): string =>
  verdict === undefined ? "Not stated" : verdict ? "Clean" : "Not clean";

/** The cell of a table. The findings have a cell of their own. */
export function writeVerdict(report: Result): Html {
  return html`${nameVerdict(isClean(report))} <span class="hint">${describeResult(report).opinions}</span>`;
}

/** The columns of a CSV file. */
export const resultColumns = ["result", "opinion", "opinions_and_disclosures"] as const;

export function listResult(report: Result): Record<(typeof resultColumns)[number], string> {
  return {
    result: nameVerdict(isClean(report)).toLowerCase(),
    opinion: describeOpinion(report),
    opinions_and_disclosures: describeResult(report).opinions,
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

/** A badge, if a decision is past due or due soon. */
export function writeDueBadge(due: string, today: string): Content {
  const state = judgeDue(due, today);
  return (
    state !== "due later" &&
    html` <span class="badges"><span${state === "past due" && html` class="grave"`}>${state}</span></span>`
  );
}
