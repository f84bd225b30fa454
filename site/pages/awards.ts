import codes from "../../db/api/api_v1_1_0/codes.json" with { type: "json" };
import { alnName, joinAln } from "../aln.ts";
import { count } from "../finding-words.ts";
import type { RelatedPrograms } from "../findings/find-findings.ts";
import { formatMoney, formatNumber } from "../format.ts";
import { type Content, type Html, html } from "../html.ts";
import type { ShownReport } from "../report.ts";
import { printedLink, scroll, table } from "./layout.ts";

type Words = Readonly<Record<string, string>>;
const opinions: Words = codes.words["federal_awards.audit_report_type"];
const sources: Words = codes.words["federal_awards.is_direct"];

const mostRelated = 20;

/** Says under which other numbers awards of a program are reported: its letter codes, which have totals of their own. */
export const writeRelatedPrograms = (
  related: RelatedPrograms | null | undefined,
  link: (aln: string) => string,
  {
    isWhole = true,
    together,
  }: {
    /** Whether nothing but the program was asked for, so that the numbers of findings are comparable. */
    isWhole?: boolean;
    /** The address of the findings of all these numbers. */
    together?: string | undefined;
  } = {},
): Content =>
  related &&
  related.length > 0 &&
  html`<p>Awards are also reported under ${related.map(
    ({ aln, findings }, index) =>
      html`${index > 0 && ", "}<a href="${link(aln)}">${aln}</a>${isWhole && ` (${count(findings, "finding")})`}`,
  )}${related.length >= mostRelated && " and other numbers"}. These are not counted here.${together && html` <a href="${together}">Count the findings together</a>`}</p>`;

/** Links to a program, unless its number is malformed. */
export const linkToProgram = (aln: string, text: string): Content =>
  /^\d\d\.[A-Z0-9]{1,6}$/.test(aln) ? html`<a href="/program/${aln}">${text}</a>` : text;

/** A program that a search asks for. */
export const markProgram = (program: Content): Html =>
  html`<mark><strong>${program}</strong></mark><span class="visually-hidden"> (searched for)</span>`;

/** The largest awards of a report. */
export function writeAwards({ appUrl, reportId, report }: ShownReport): Html | false {
  const { parts, award_findings: findings } = report;
  const { total = 0, rows = [] } = parts.federal_awards ?? {};
  if (total === 0) return false;
  const title = `Federal awards (${formatNumber(total)})`;
  const headings = [
    "Program",
    { text: "Expended", isNumber: true },
    "Received",
    "Major program",
    "Opinion on compliance",
    { text: "Findings", isNumber: true },
  ];
  const cells = rows.map(joinAln).map((award) => {
    const aln = String(award[alnName] ?? "");
    const expended = award.amount_expended;
    return {
      cells: [
        html`${linkToProgram(aln, `${aln} ${award.federal_program_name ?? ""}`.trim() || "not stated")} <span class="hint">${String(award.award_reference ?? "")}</span>`,
        typeof expended === "number" ? formatMoney(expended) : "not stated",
        sources[String(award.is_direct)] ?? "not stated",
        award.is_major === "Y" ? "yes" : award.is_major === "N" ? "no" : "not stated",
        opinions[String(award.audit_report_type)] ?? (award.is_major === "N" ? "none" : "not stated"),
        formatNumber(findings[String(award.award_reference)] ?? 0),
      ],
    };
  });
  return html`<section aria-labelledby="federal_awards"><h2 id="federal_awards">${title}</h2>
${rows.length < total && html`<p>The ${formatNumber(rows.length)} largest. ${printedLink(appUrl, `/record/${reportId}/federal_awards.csv`, "All awards as CSV")}</p>`}
${scroll(title, table(title, headings, cells))}</section>`;
}
