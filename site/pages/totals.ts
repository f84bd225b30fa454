import { formatNumber, formatTime } from "../format.ts";
import { type Html, html } from "../html.ts";
import { measures } from "../link-total.ts";
import { agencies, states } from "../names.ts";
import type { FactsContext } from "../page-context.ts";
import type { AskedPrograms, Programs } from "../programs.ts";
import { emptyQuery, largestLimit } from "../query.ts";
import { cut } from "../search/words.ts";
import { notCounted, sumBy, type Totals } from "../totals.ts";
import { writeExtract } from "./extract.ts";
import { writeDocument } from "./layout.ts";
import { type Asked, linkTo, listLines, readAsked, writeSection } from "./totals-table.ts";

const programsOnPage = 50;

/** Awards, dollars and findings by year, program, state and agency. Every count links to its rows. */
export async function writeTotals(
  context: FactsContext,
  readPrograms: (asked: AskedPrograms) => Promise<Programs>,
): Promise<string> {
  const { facts } = context;
  const schema = facts.api.find(({ tables }) =>
    tables.some(({ name }) => name === "totals_by_state"),
  )?.schema;
  const hasTotals = schema !== undefined && (facts.totals?.totals_by_state.length ?? 0) > 0;
  return writeDocument(context, {
    path: "/totals",
    title: "Totals",
    description:
      "Federal dollars, awards and findings of all public single audits, by year, program, state and agency.",
    body: html`<div class="wrap page">
<h1>Totals</h1>
${
  hasTotals && facts.totals
    ? await writeTables(context, facts.totals, schema, readPrograms)
    : html`<p class="notice">No totals are available now. Reload this page in a minute.</p>`
}
</div>`,
  });
}

async function writeTables(
  context: FactsContext,
  totals: Totals,
  schema: string,
  readPrograms: (asked: AskedPrograms) => Promise<Programs>,
): Promise<Html> {
  const { asked: parameters, facts } = context;
  const byYear = sumBy(totals.totals_by_state, (row) => row.audit_year);
  const years = [...byYear.keys()].filter(Boolean).sort();
  const asked = readAsked(parameters, years);
  const { year } = asked;
  const when = year === undefined ? "all audit years" : `audit year ${year}`;
  const ofYear = <Row extends { audit_year: string | null }>(rows: Row[]) =>
    rows.filter((row) => year === undefined || row.audit_year === year);
  const byState = sumBy(ofYear(totals.totals_by_state), (row) => row.auditee_state);
  const byAgency = sumBy(ofYear(totals.totals_by_agency), (row) => row.federal_agency_prefix);
  const programs = await readPrograms(choosePrograms(asked));
  const shared = { asked, schema };
  const published = facts.data_set?.published_at;
  const findings = [...byYear.values()].reduce((sum, each) => sum + each.findings, 0);
  return html`${hasUnknownYear(context) && html`<p class="notice">No public report has the audit year “${cut(String(parameters.year), 20)}”. All years are shown.</p>`}
<p class="lead">All public reports, added up when the data set was published${published && html`, on ${formatTime(published)}`}. Choose
  a number to see its reports or findings, a name to see its page, or a heading to sort. See also the <a href="/totals/programs">findings of
  programs by year</a>.</p>
<nav aria-label="Audit year"><ul class="choices">
  ${[undefined, ...years].map(
    (each) =>
      html`<li><a href="${linkTo({ ...asked, page: 1, year: each })}"${each === year && html` aria-current="true"`}>${each ?? "All years"}</a></li>`,
  )}
</ul></nav>
${writeSection({
  ...shared,
  id: "year",
  caption: "By audit year",
  column: "audit_year",
  lines: listLines(byYear, asked, "name"),
  describe: (name) => name,
  link: (name) => linkTo({ ...asked, page: 1, year: name }),
})}
${writePrograms(programs, { ...shared, when })}
${writeSection({
  ...shared,
  id: "state",
  caption: `By state of the auditee, ${when}`,
  column: "auditee_state",
  lines: listLines(byState, asked, "amount_expended", nameState),
  describe: nameState,
})}
${writeSection({
  ...shared,
  id: "agency",
  caption: `By federal agency, ${when}`,
  column: "federal_agency_prefix",
  lines: listLines(byAgency, asked),
  describe: (name) => `${name} ${agencies[name] ?? ""}`,
})}
${explainCounting(facts.data_set?.rows.findings ?? 0, findings)}
${writeExtract(context, {
  title: `Totals of ${when}`,
  path: linkTo(asked),
  rows: Object.entries(parts).map(([by, { name, table }]) => ({
    name,
    csv: `/totals.csv?by=${by}${year === undefined ? "" : `&year=${year}`}`,
    query: {
      ...emptyQuery,
      table,
      filters: year === undefined ? [] : [{ column: "audit_year", operator: "eq", value: year }],
      limit: largestLimit,
    },
  })),
})}`;
}

/** Whether a year is asked for that no public report has. */
export const hasUnknownYear = ({ asked, facts }: FactsContext): boolean =>
  (asked.year ?? "") !== "" &&
  !facts.totals?.totals_by_state.some(({ audit_year: year }) => year === asked.year);

/** "Alabama (AL)", so that the order of the texts is the order of the names. */
const nameState = (code: string): string => (states[code] ? `${states[code]} (${code})` : code);

/** The tables of totals, by what their rows are about. */
const parts = {
  state: { name: "By year and state", table: "totals_by_state" },
  agency: { name: "By year and agency", table: "totals_by_agency" },
  program: { name: "By program (in the API, by year and program)", table: "totals_by_program" },
} as const;

/** More than there are. */
const mostPrograms = 50_000;

/** The totals by state, agency or program as a CSV file. Undefined if `by` is something else. */
export async function listTotals(
  { asked: { by, year: typed }, facts: { totals } }: FactsContext,
  readPrograms: (asked: AskedPrograms) => Promise<Programs>,
): Promise<{ name: (string | undefined)[]; columns: string[]; rows: Record<string, unknown>[] } | undefined> {
  const years = totals?.totals_by_state.map((row) => row.audit_year ?? "") ?? [];
  const { year } = readAsked({ year: typed }, years);
  const name = [`totals-by-${by}`, year];
  const ofYear = <Row extends { audit_year: string | null }>(rows: Row[] = []) =>
    rows.filter((row) => year === undefined || row.audit_year === year);
  const sums = Object.keys(measures);
  if (by === "state")
    return { name, columns: ["audit_year", "auditee_state", ...sums], rows: ofYear(totals?.totals_by_state) };
  if (by === "agency") {
    const columns = ["audit_year", "federal_agency_prefix", ...sums];
    return { name, columns, rows: ofYear(totals?.totals_by_agency) };
  }
  if (by !== "program") return undefined;
  const { programs } = await readPrograms({ year, sort: "amount_expended", skipped: 0, most: mostPrograms });
  const columns = ["aln", "federal_program_name", ...sums.filter((sum) => sum !== "submissions")];
  return { name, columns, rows: programs };
}

function explainCounting(rows: number, findings: number): Html {
  return html`<section aria-labelledby="counting"><h2 id="counting">How these are counted</h2>
<ul>
  <li>A finding counts once, even if it concerns several awards. In the API, the table <code>findings</code> has a row for each
    award: ${formatNumber(rows)} rows for ${formatNumber(findings)} findings. Material weaknesses are counted in the same way. By
    agency or program, a finding counts once for each agency or program that it concerns.</li>
  <li>A report counts once for each agency whose money it states, so the reports by agency add up to more than the reports by
    state. In the API and in CSV files, the column is <code>submissions</code>.</li>
  <li>The numbers of reports, awards and dollars lead to the reports that state them. For a malformed or missing number, they lead
    to rows in the <a href="/explorer">explorer</a>.</li>
  <li>A program is an Assistance Listing number, such as 93.778, as the auditee entered it. A malformed number counts as a
    program of its own. Awards whose number lacks a part, or has a period in the agency, count as “not stated”. A program’s
    name is the one that most of its awards have.</li>
  <li>If an auditee passes federal money through to another auditee, both expend it, and it counts for both.</li>
  <li>${notCounted}</li>
</ul></section>`;
}

/** One page of programs, and links to the pages before and after it. */
function writePrograms(
  { count, programs }: Programs,
  { asked, schema, when }: { asked: Asked; schema: string; when: string },
): Html {
  const names = new Map(programs.map(({ aln, federal_program_name: name }) => [aln ?? "", name ?? ""]));
  const { skipped } = choosePrograms(asked);
  const shown = programs.length === 0 ? "None" : `${skipped + 1}–${formatNumber(skipped + programs.length)}`;
  const turns: [text: string, page: number, isPossible: boolean][] = [
    ["Previous", Math.min(asked.page - 1, Math.max(1, Math.ceil(count / programsOnPage))), asked.page > 1],
    ["Next", asked.page + 1, skipped + programs.length < count],
  ];
  const after = html`<nav aria-label="More programs"><ul class="choices">
  <li>${shown} of ${formatNumber(count)} programs</li>
  ${turns.map(([text, page, isPossible]) => isPossible && html`<li><a href="${linkTo({ ...asked, page })}#program">${text}</a></li>`)}
</ul></nav>`;
  return writeSection({
    asked,
    schema,
    id: "program",
    caption: `By program, ${when}`,
    column: "aln",
    lines: programs.map(({ aln, ...sums }) => [aln ?? "", sums]),
    describe: (name) => `${name} ${names.get(name) ?? ""}`,
    after,
  });
}

/** Which programs a page shows. They have no number of submissions. */
function choosePrograms({ year, sort = "amount_expended", page }: Asked): AskedPrograms {
  return {
    year,
    sort: sort === "submissions" ? "amount_expended" : sort,
    skipped: Math.min((page - 1) * programsOnPage, 1_000_000),
    most: programsOnPage,
  };
}
