import { linkFindings } from "../findings/read-criteria.ts";
import { formatNumber } from "../format.ts";
import { type Content, type Html, html } from "../html.ts";
import { linkGroup } from "../link-total.ts";
import { agencies } from "../names.ts";
import type { FactsContext, PageContext } from "../page-context.ts";
import type { AskedProgramYears, ProgramYears } from "../programs.ts";
import { emptyQuery, largestLimit, type Query } from "../query.ts";
import { readAlnOrAgency, readPage, readYear } from "../read-filters.ts";
import { cleanSearch } from "../search/read-search.ts";
import { cut } from "../search/words.ts";
import { notCounted } from "../totals.ts";
import { writeExtra } from "../write-target.ts";
import { drawBar } from "./charts.ts";
import { writeExtract } from "./extract.ts";
import { scroll, table, writeDocument } from "./layout.ts";
import { countPages, writeNoPage } from "./page-turns.ts";

const path = "/totals/programs";
const programsOnPage = 50;
/** More than there are. */
const mostPrograms = 50_000;

/** The visitor's choices. */
interface Asked {
  agency: string | undefined;
  sort: string | undefined;
  /** From 1. */
  page: number;
  /** What was asked for, but not understood. */
  unread: string[];
}

export function readAskedProgramYears({ agency: typed, sort, page }: PageContext["asked"]): Asked {
  const text = cleanSearch(typed);
  const agency = readAlnOrAgency(text)?.slice(0, 2);
  return {
    agency,
    sort: typeof sort === "string" ? readYear(sort) : undefined,
    page: readPage(page) ?? 1,
    unread: text !== "" && agency === undefined ? [cut(text, 60)] : [],
  };
}

function linkTo({ agency, sort, page = 1 }: Partial<Asked>, address = path): string {
  const parameters = new URLSearchParams({
    ...(agency && { agency }),
    ...(sort && { sort }),
    ...(page > 1 && { page: String(page) }),
  });
  return parameters.size === 0 ? address : `${address}?${parameters}`;
}

type Read = (asked: AskedProgramYears) => Promise<ProgramYears>;

/** The programs with the most findings in rows, and the newest audit years in columns. Each number leads to its findings. */
export async function writeProgramYears(context: FactsContext, read: Read): Promise<string> {
  const asked = readAskedProgramYears(context.asked);
  const { agency, sort, page, unread } = asked;
  const skipped = Math.min((page - 1) * programsOnPage, 1_000_000);
  const found = await read({ agency, sort, skipped, most: programsOnPage });
  const last = countPages(found.count, { most: found.count, onPage: programsOnPage });
  const title = `Findings of programs by year${agency === undefined ? "" : `: ${nameAgency(agency)}`}`;
  return writeDocument(context, {
    path: "/totals",
    title,
    description: "The federal programs with the most audit findings in each of the newest audit years.",
    body: html`<div class="wrap page">
<h1>${title}</h1>
<p class="lead">How many findings concern each program in the ${formatNumber(found.years.length)} newest audit years. Choose a number to see the findings, or a
  year to sort by it.</p>
${unread.length > 0 && html`<p class="notice">“${unread.join()}” is not an agency. Programs of all agencies are shown.</p>`}
${writeForm(context, asked)}
<p role="status">${describeCount(found, asked, last)}</p>
${
  found.count > 0 && page > last
    ? writeNoPage(page, last, linkTo({ ...asked, page: 1 }))
    : found.programs.length > 0 && [writeTable(found, asked), writePages(asked, last)]
}
<p>A finding counts for each program that it concerns. Numbers with letter codes, such as 84.425D, count as programs of their own.
  ${notCounted} See all <a href="/totals">totals</a>.</p>
${writeExtract(context, {
  title,
  path: linkTo(asked),
  rows: [
    {
      name: "By program (in the API, by year and program)",
      csv: linkTo({ agency, sort }, `${path}.csv`),
      query: writeQuery(found, asked),
    },
  ],
})}
</div>`,
  });
}

const nameAgency = (agency: string): string => `${agency} ${agencies[agency] ?? ""}`.trim();

function describeCount({ count }: ProgramYears, { agency, page }: Asked, last: number): string {
  const where = agency === undefined ? "" : ` of ${nameAgency(agency)}`;
  if (count === 0) return `No program${where} has a public finding in these audit years.`;
  const turn = last > 1 && page <= last ? ` Page ${formatNumber(page)} of ${formatNumber(last)}.` : "";
  return `${formatNumber(count)} ${count === 1 ? "program" : "programs"}${where} with findings.${turn}`;
}

/** Agencies whose public awards have totals. */
function writeForm({ facts }: FactsContext, { agency, sort }: Asked): Html {
  const known = new Set(facts.totals?.totals_by_agency.map((row) => row.federal_agency_prefix ?? ""));
  const listed = [...known].filter((each) => /^\d\d$/.test(each)).sort();
  return html`<form class="narrow" action="${path}" aria-label="Choose an agency">
<div class="field"><label for="agency">Agency</label><select id="agency" name="agency"><option value="">Any</option>${listed.map(
    (each) => html`<option value="${each}"${each === agency && html` selected`}>${nameAgency(each)}</option>`,
  )}</select></div>
${sort && html`<input type="hidden" name="sort" value="${sort}">`}
<button type="submit">Show programs</button>
</form>`;
}

const number = (text: string) => ({ text, isNumber: true });

function writeTable({ years, programs }: ProgramYears, asked: Asked): Html {
  const { agency } = asked;
  const sort = years.find((year) => year === asked.sort);
  const heading = (text: string, by: string | undefined) => ({
    ...number(text),
    link: linkTo({ agency, sort: by }),
    sorted: by === sort && ("descending" as const),
  });
  const all = years.length > 1 ? "All of these years" : "All";
  const headings = ["Program", ...years.map((year) => heading(year, year)), heading(all, undefined)];
  return scroll("Findings by program and year", writeProgramRows({ years, programs, sort, headings }));
}

/** Rows of programs with their findings of each year. The numbers of the year by which they are sorted have bars. */
function writeProgramRows({
  years,
  programs,
  sort,
  headings,
}: Pick<ProgramYears, "years" | "programs"> & {
  sort: string | undefined;
  headings: Parameters<typeof table>[1];
}): Html {
  const count = (program: ProgramYears["programs"][number], year: string | undefined) =>
    year === undefined ? program.findings : (program.by_year[year] ?? 0);
  const most = Math.max(1, ...programs.map((program) => count(program, sort)));
  const rows = programs.map((program) => {
    const { aln, federal_program_name: name } = program;
    const link = linkGroup({ column: "aln", value: aln });
    const title = `${aln} ${name ?? ""}`.trim();
    const write = (year: string | undefined): Content => {
      const findings = count(program, year);
      const text = formatNumber(findings);
      // In all years, a link would lead to the findings of older years too.
      const isLink = findings > 0 && year !== undefined && link !== undefined;
      const address = linkFindings({ aln, ...(year && { year }) });
      return [
        isLink ? html`<a href="${address}">${text}</a>` : text,
        year === sort && drawBar(findings / most),
      ];
    };
    return {
      cells: [link ? html`<a href="${link}">${title}</a>` : title, ...[...years, undefined].map(write)],
    };
  });
  return table("Findings by program and year", headings, rows);
}

/** The programs of an agency with the most findings, for its page. */
export function writeProgramsOfAgency(agency: string, { years, programs, count }: ProgramYears): Content {
  const headings = ["Program", ...years.map(number), number("All of these years")];
  return (
    programs.length > 0 &&
    html`<section aria-labelledby="programs"><h2 id="programs">Programs with the most findings</h2>
${scroll("Findings by program and year", writeProgramRows({ years, programs, sort: undefined, headings }))}
<p><a href="${linkTo({ agency })}">${count > programs.length ? `All ${formatNumber(count)} programs with findings` : "Sort these programs by year"}</a></p></section>`
  );
}

function writePages(asked: Asked, last: number): Content {
  const { page } = asked;
  const turns = [
    page > 1 && html`<li><a rel="prev" href="${linkTo({ ...asked, page: page - 1 })}">Previous page</a></li>`,
    page < last && html`<li><a rel="next" href="${linkTo({ ...asked, page: page + 1 })}">Next page</a></li>`,
  ];
  return last > 1 && html`<nav aria-label="Pages of programs"><ul class="choices">${turns}</ul></nav>`;
}

function writeQuery({ years }: ProgramYears, { agency }: Asked): Query {
  const filters = [
    ["audit_year", `in.(${years.join()})`],
    ["aln", agency === undefined ? "not.is.null" : `like.${agency}.*`],
    ["findings", "gt.0"],
  ] as [string, string][];
  return {
    ...emptyQuery,
    table: "totals_by_program",
    extra: writeExtra(filters),
    order: ["findings.desc", "aln"],
    limit: largestLimit,
  };
}

/** All programs that have findings, with a column for each year, as a CSV file. */
export async function listProgramYears(asked: Asked, read: Read) {
  const { agency, sort } = asked;
  const { years, programs } = await read({ agency, sort, skipped: 0, most: mostPrograms });
  const columns = years.map((year) => `findings_${year}`);
  return {
    name: ["programs-by-year", agency],
    columns: ["aln", "federal_program_name", ...columns, "findings"],
    rows: programs.map(({ by_year: byYear, ...program }) => ({
      ...program,
      ...Object.fromEntries(years.map((year) => [`findings_${year}`, byYear[year] ?? 0])),
    })),
  };
}
