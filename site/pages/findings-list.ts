import { describeRequirements, questionedCostsNote, writeBadges } from "../finding-words.ts";
import { asksForProgram, writeProgram } from "../findings/read-criteria.ts";
import { formatMoney, formatNumber } from "../format.ts";
import { type Content, type Html, html } from "../html.ts";
import {
  type EarlierFindings,
  type Finding,
  findingsOnPage,
  type LaterFindings,
  type ShownReport,
} from "../report.ts";
import { linkToProgram, markProgram } from "./awards.ts";
import { printedLink } from "./layout.ts";

/** The findings of a report, each once, as cards: what the auditor wrote beside what the auditee plans. */
export function writeFindings(shown: ShownReport): Html {
  const { counts, findings } = shown.report;
  const total = counts.findings;
  return html`<section aria-labelledby="findings"><h2 id="findings">Findings (${formatNumber(total)})</h2>
${total === 0 && html`<p>The auditor reported no findings.</p>`}
${total > 0 && findings.length === 0 && html`<p>This page has no findings. <a href="/record/${shown.reportId}#findings">See the first page</a></p>`}
${total > 0 && html`<p class="hint">${questionedCostsNote}</p>`}
${describePage(shown)}
${writePages(shown, "Pages of findings")}
${findings.map((finding) => writeFinding(finding, shown))}
${findings.length > 5 && writePages(shown, "More pages of findings")}
</section>`;
}

const countPages = ({ report }: ShownReport): number => Math.ceil(report.counts.findings / findingsOnPage);

/** Says on paper that there are other pages. */
function describePage(shown: ShownReport): Content {
  const { appUrl, reportId, page } = shown;
  const pages = countPages(shown);
  return (
    pages > 1 &&
    html`<p class="print-only">Page ${page} of ${pages}. The other findings are on other pages, such as <span class="address">${appUrl}${linkToPage(reportId, page === 1 ? 1 : 0)}</span></p>`
  );
}

function writePages(shown: ShownReport, label: string): Content {
  const { reportId, page, asked, report } = shown;
  const pages = countPages(shown);
  const links = Array.from({ length: pages }, (_, index) => {
    const first = index * findingsOnPage + 1;
    const last = Math.min(report.counts.findings, first + findingsOnPage - 1);
    return html`<li><a href="${linkToPage(reportId, index, writeProgram(asked))}#findings"${index + 1 === page && html` aria-current="page"`}>${first}–${last}</a></li>`;
  });
  return (
    pages > 1 &&
    html`<nav class="only-screen" aria-label="${label}"><ul class="choices"><li>Findings:</li>${links}</ul></nav>`
  );
}

/** With a program, the page marks it. */
function linkToPage(reportId: string, index: number, program?: string): string {
  const parameters = new URLSearchParams({
    ...(index > 0 && { page: String(index + 1) }),
    ...(program !== undefined && { program }),
  });
  return `/record/${reportId}${parameters.size > 0 ? `?${parameters}` : ""}`;
}

/** The number of a finding, in words if it has none. */
export const nameFinding = (number: string | null): string => number || "without a number";

/** The anchor of a finding. IDs must have no spaces. */
const anchor = (number: string | null): string => nameFinding(number).replace(/\s+/g, "-");

function writeFinding(finding: Finding, shown: ShownReport): Html {
  const number = nameFinding(finding.reference_number);
  const entries: [string, Content][] = [
    ["Programs", listPrograms(finding, shown)],
    ["Requirement", describeRequirements(finding.type_requirement)],
    ["Awards", describeAwards(finding)],
    ["Repeat of", listEarlier(finding.prior_finding_ref_numbers, shown.report.earlier)],
    ["Repeated as", listLater(finding.reference_number, shown.report.later)],
  ];
  const stated = entries.filter(([, content]) => content);
  return html`<article class="finding" aria-labelledby="${anchor(number)}">
<h3 id="${anchor(number)}"><a href="#${encodeURIComponent(anchor(number))}">${number}</a></h3>
${writeBadges(finding)}
<dl class="values">${stated.map(([term, content]) => html`<div><dt>${term}</dt><dd>${content}</dd></div>`)}</dl>
${writeTexts(finding, shown)}
</article>`;
}

function listPrograms({ programs, alns }: Finding, { asked }: ShownReport): Content {
  // A program that was searched for may not be among the largest.
  const smaller = alns
    .filter((number) => asksForProgram(asked, number) && !programs.some(({ aln }) => aln === number))
    .slice(0, 10)
    .map((aln) => ({ aln, federal_program_name: null }));
  const shown = [...smaller, ...programs];
  const links = shown.map(({ aln, federal_program_name: name }, index) => {
    const link = linkToProgram(aln, `${aln} ${name ?? ""}`.trim() || "not stated");
    return [index > 0 && html`<br>`, asksForProgram(asked, aln) ? markProgram(link) : link];
  });
  const more = alns.length - shown.filter(({ aln }) => aln !== "").length;
  return links.length > 0 && [links, more > 0 && html`<br>and ${formatNumber(more)} more`];
}

const ways: Record<string, string> = {
  Y: "direct from federal agencies",
  N: "passed through other entities",
  Both: "direct and passed through",
};

function describeAwards({ awards, amount_expended: expended, is_direct: direct }: Finding): string {
  const parts = [
    `${formatNumber(awards)} ${awards === 1 ? "award" : "awards"}`,
    expended !== null && `${formatMoney(expended)} expended`,
    ways[direct ?? ""],
  ];
  return parts.filter(Boolean).join(", ");
}

/** The numbers of the findings that a finding repeats. Those that are public are links, if it is known which are. */
export function listEarlier(written: string | null, earlier: EarlierFindings | null): Content {
  const numbers = [...new Set((written ?? "").split(/[,;\s]+/).filter(Boolean))];
  const writeNumber = (number: string): Content => {
    const found = earlier?.find(({ reference_number: each }) => each === number);
    if (found) return html`<a href="${linkToFinding(found.report_id, number, found.place)}">${number}</a>`;
    return [number, earlier && " (in no earlier public report of this auditee)"];
  };
  return numbers.length > 0 && numbers.map((number, index) => [index > 0 && ", ", writeNumber(number)]);
}

/** The public findings of later years that repeat a finding. */
function listLater(number: string | null, later: LaterFindings): Content {
  const links = later
    .filter(({ repeats }) => repeats === number)
    .map(
      ({ report_id: id, reference_number: repeat, place, audit_year: year }, index) =>
        html`${index > 0 && ", "}<a href="${linkToFinding(id, repeat, place)}">${nameFinding(repeat)}</a> in ${year}`,
    );
  return links.length > 0 && links;
}

/** The address of a finding on its report's page, which marks the program. `place` is how many findings are before it. */
export const linkToFinding = (reportId: string, number: string | null, place = 0, program?: string): string =>
  `${linkToPage(reportId, Math.floor(place / findingsOnPage), program)}#${encodeURIComponent(anchor(number))}`;

const longest = 50_000;

/** The path of a report's PDF. */
export const linkToPdf = (reportId: string): string => `/dissemination/report/pdf/${reportId}`;

/** What every page shows in place of a text or a plan that the data does not have. */
export const writeNoText = (reportId: string): Html =>
  html`<p class="hint">No text was submitted. Look in the <a href="${linkToPdf(reportId)}">PDF of the report</a>.</p>`;

function writeTexts(
  { has_room: hasRoom, has_chart: hasChart, finding_text: text, planned_action: plan }: Finding,
  { appUrl, reportId }: ShownReport,
): Html {
  const file = (table: string, words: string) =>
    printedLink(appUrl, `/record/${reportId}/${table}.csv`, words);
  if (!hasRoom)
    return html`<p>The page has no room for this finding’s texts. They are in the CSV files of
  ${file("findings_text", "texts")} and ${file("corrective_action_plans", "plans")}.</p>`;
  if (!text && !plan) return writeNoText(reportId);
  const part = (title: string, written: string | null, table: string) => html`<div><h4>${title}</h4>
${written ? html`<p class="text">${written}</p>` : writeNoText(reportId)}
${(written?.length ?? 0) >= longest && html`<p>${file(table, "The whole text is in the CSV file")}</p>`}</div>`;
  return html`<div class="beside">${part("What the auditor found", text, "findings_text")}
${part("What the auditee plans", plan, "corrective_action_plans")}</div>
${hasChart && html`<p class="hint">The <a href="${linkToPdf(reportId)}">PDF</a> has charts or tables that are not in these texts.</p>`}`;
}
