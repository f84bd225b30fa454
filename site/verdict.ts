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

type Words = Readonly<Record<string, string>>;
const programOpinions: Words = codes.words["federal_awards.audit_report_type"];

/** What a report says of the auditee as a whole, as columns of general: "Yes" is a problem. */
const disclosures = {
  is_internal_control_material_weakness_disclosed: "material weakness in financial reporting",
  is_internal_control_deficiency_disclosed: "significant deficiency in financial reporting",
  is_material_noncompliance_disclosed: "material noncompliance",
  is_going_concern_included: "doubt that the auditee can continue as a going concern",
};

interface Result {
  general: Opinions & Readonly<Record<string, unknown>>;
  counts: FindingCounts;
  /** How many programs have each modified opinion on compliance, by its letter. */
  modified_programs: Readonly<Record<string, number>>;
}

/** Says whether a report is clean, or why not: "3 findings: 1 material weakness, 1 repeat; opinion qualified". */
export function describeResult({ general, counts, modified_programs: modified }: Result): {
  /** Undefined if the report does not say. */
  isClean: boolean | undefined;
  why: string;
  /** Why, apart from the findings. */
  opinions: string;
} {
  const opinion = describeOpinion(general);
  const problems = [
    !isUnmodified(general) && `opinion ${opinion}`,
    ...Object.entries(modified).map(
      ([letter, programs]) =>
        `opinion on compliance ${programOpinions[letter] ?? letter} for ${count(programs, "program")}`,
    ),
    ...Object.entries(disclosures).map(([column, words]) => general[column] === "Yes" && words),
  ].filter((problem) => problem !== false);
  const isFound = counts.findings > 0 || problems.length > 0;
  const rest = problems.length > 0 && !isUnmodified(general) ? problems : [`opinion ${opinion}`, ...problems];
  return {
    isClean: isFound ? false : statesOpinion(general) ? true : undefined,
    why: [describeFindings(counts), ...rest].join("; "),
    opinions: rest.join("; "),
  };
}

export const nameVerdict = (isClean: boolean | undefined): string =>
  isClean === undefined ? "Not stated" : isClean ? "Clean" : "Not clean";
