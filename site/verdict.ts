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

/** A row of publication.describe_result() and publication.count_findings(). */
interface Result extends Opinions, FindingCounts, Readonly<Record<keyof typeof disclosures, string | null>> {
  /** How many programs have each modified opinion on compliance, by its letter. */
  modified_programs: Readonly<Record<string, number>>;
}

/** Says whether a report is clean, or why not: "3 findings: 1 material weakness, 1 repeat; opinion qualified". */
export function describeResult(report: Result): {
  /** Undefined if the report does not say. */
  isClean: boolean | undefined;
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
  const isFound = report.findings > 0 || problems.length > 0;
  const rest = problems.length > 0 && !isUnmodified(report) ? problems : [`opinion ${opinion}`, ...problems];
  return {
    isClean: isFound ? false : statesOpinion(report) ? true : undefined,
    why: [describeFindings(report), ...rest].join("; "),
    opinions: rest.join("; "),
  };
}

const listDisclosures = (report: Result): string[] =>
  Object.entries(disclosures).flatMap(([column, words]) =>
    report[column as keyof typeof disclosures] === "Yes" ? [words] : [],
  );

export const nameVerdict = (isClean: boolean | undefined): string =>
  isClean === undefined ? "Not stated" : isClean ? "Clean" : "Not clean";

/** The cell of a table. The findings have a cell of their own. */
export function writeVerdict(report: Result): Html {
  const { isClean, opinions } = describeResult(report);
  return html`${nameVerdict(isClean)} <span class="hint">${opinions}</span>`;
}

/** The columns of a CSV file. */
export const resultColumns = ["result", "opinion", "opinions_and_disclosures"] as const;

export function listResult(report: Result): Record<(typeof resultColumns)[number], string> {
  const { isClean, opinions } = describeResult(report);
  return {
    result: nameVerdict(isClean).toLowerCase(),
    opinion: describeOpinion(report),
    opinions_and_disclosures: opinions,
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
