import codes from "../db/api/api_v1_1_0/codes.json" with { type: "json" };
import { formatNumber } from "./format.ts";
import { type Html, html } from "./html.ts";

type Words = Readonly<Record<string, string>>;

const opinions: Words = codes.words["general.gaap_results"];
/** Kinds of auditees, as in general.entity_type. */
export const entityTypes: Words = codes.words["general.entity_type"];
/** Compliance requirements by their letters, as in findings.type_requirement. */
export const requirements: Words = codes.words["findings.type_requirement"];
/** What a "Y" in each flag of a finding means. */
const findingFlags: Words = codes.names.finding_flags;
/** What the flag "questioned costs" does not say. */
export const questionedCostsNote =
  "The data marks findings that have questioned costs, but does not say how much; see the auditor’s text or the PDF. Only marked findings are counted, even if the texts of others mention questioned costs.";
const grave = ["is_material_weakness", "is_modified_opinion", "is_questioned_costs"];

/** The auditor's opinions on the financial statements, as columns of general. */
export interface Opinions {
  /** Codes with commas. */
  gaap_results: string | null;
  /** The opinions on statements under another framework than GAAP: codes with commas. */
  sp_framework_opinions?: string | null;
}

const listOpinions = ({ gaap_results: gaap, sp_framework_opinions: other }: Opinions): string[] => {
  const listed = [gaap, /not_gaap/.test(gaap ?? "") ? other : ""].join(",").split(/[\s,]+/);
  return [...new Set(listed)].filter(Boolean);
};

/** Describes the opinion on the financial statements: "unmodified", "unmodified and qualified", "not stated". */
export function describeOpinion(stated: Opinions): string {
  const listed = listOpinions(stated);
  const isOther = listed.includes("not_gaap");
  const words = listed.filter((code) => code !== "not_gaap").map((code) => opinions[code] ?? code);
  return [words.join(" and ") || "not stated", isOther && opinions.not_gaap].filter(Boolean).join(" ");
}

/** Whether a report states an opinion on the financial statements. */
export const statesOpinion = (stated: Opinions): boolean =>
  listOpinions(stated).some((code) => code !== "not_gaap");

/** Whether every opinion on the financial statements is unmodified, or none is stated. */
export const isUnmodified = (stated: Opinions): boolean =>
  listOpinions(stated).every((code) => code === "unmodified_opinion" || code === "not_gaap");

/** Describes a compliance requirement: "B allowable costs". */
export const describeRequirement = (letter: string): string =>
  `${letter} ${requirements[letter] ?? ""}`.trim();

/** Describes letters of compliance requirements: "B allowable costs; L reporting". */
export const describeRequirements = (letters: string | null): string =>
  [...(letters ?? "")].map(describeRequirement).join("; ");

/** Writes the flags of a finding that are "Y", in words. */
export function writeBadges(finding: Readonly<Record<string, unknown>>): Html | false {
  const set = Object.entries(findingFlags).filter(([column]) => finding[column] === "Y");
  return (
    set.length > 0 &&
    html`<ul class="badges">${set.map(
      ([column, words]) => html`<li${grave.includes(column) && html` class="grave"`}>${words}</li>`,
    )}</ul>`
  );
}

/** Counts of findings, not of rows. */
export interface FindingCounts {
  findings: number;
  material_weaknesses: number;
  repeat_findings: number;
}

/** Writes a number with its noun: "1 finding", "3,000 findings", "no findings". */
export const count = (number: number, noun: string, plural = `${noun}s`): string =>
  `${number === 0 ? "no" : formatNumber(number)} ${number === 1 ? noun : plural}`;

/** Describes findings: "3 findings: 1 material weakness, 1 repeat", "no findings". */
export function describeFindings({
  findings,
  material_weaknesses: weaknesses,
  repeat_findings: repeats,
}: FindingCounts): string {
  const parts = [
    weaknesses > 0 && count(weaknesses, "material weakness", "material weaknesses"),
    repeats > 0 && count(repeats, "repeat", "repeats"),
  ].filter(Boolean);
  return `${count(findings, "finding")}${parts.length > 0 ? `: ${parts.join(", ")}` : ""}`;
}

const common = /^(and|or|of|the|special|other|tests|provisions)$/;
const listWords = (text: string): string[] =>
  (text.toLowerCase().match(/\p{L}+/gu) ?? [])
    .filter((word) => !common.test(word))
    .map((word) => word.replace(/s$/, ""));

/** What the name of a requirement lists: "procurement", "suspension", "debarment". */
export const listSubjects = (letter: string): string[] =>
  (requirements[letter] ?? "").split(/, | and | or /).filter((subject) => listWords(subject).length > 0);

/** The letters of the requirements that words name: by a letter ("requirement I"), a subject, or some words of its name. */
export function findRequirements(words: string): string[] {
  const asked = listWords(words);
  const [, named = ""] = /\brequirement ([A-P])\b/i.exec(words) ?? [];
  return Object.keys(requirements).filter((letter) => {
    const own = listWords(requirements[letter] ?? "");
    const isPart = asked.length > 0 && asked.every((word) => own.includes(word));
    const hasSubject = listSubjects(letter).some((subject) =>
      listWords(subject).every((word) => asked.includes(word)),
    );
    return letter === named.toUpperCase() || isPart || hasSubject;
  });
}
