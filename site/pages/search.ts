import { isEin, isUei } from "../check/read-list.ts";
import { count, describeFindings } from "../finding-words.ts";
import {
  describeCriteria,
  type FindingCriteria,
  linkFindings,
  ofProgram,
} from "../findings/read-criteria.ts";
import { readFindingsText } from "../findings/read-text.ts";
import { capitalize, formatMoney, formatNumber } from "../format.ts";
import { type Content, type Html, html } from "../html.ts";
import { agencies, states } from "../names.ts";
import type { PageContext } from "../page-context.ts";
import { emptyQuery, type Filter, largestLimit } from "../query.ts";
import { listExamples } from "../search/list-examples.ts";
import {
  correctState,
  describeNarrowing,
  type Filters,
  findNamed,
  longestSearch,
  nameFindingsFilter,
  type Reading,
} from "../search/read-search.ts";
import type { Criteria } from "../search/readers.ts";
import { type Found, largestTotal, pageRows } from "../search/search-reports.ts";
import { simplify, split } from "../search/words.ts";
import { isOfOtherTables, writePageQuery, writeQuery } from "../search/write-query.ts";
import { writeSimilar } from "../similar-ids.ts";
import { listAuditYears } from "../totals.ts";
import { cleanNote, listResult, resultColumns, writeVerdict } from "../verdict.ts";
import { linkToExplorer } from "../write-target.ts";
import { adviseOnAuditee } from "./auditee.ts";
import { writeRelatedPrograms } from "./awards.ts";
import { writeExtract } from "./extract.ts";
import { scroll, searchReports, table, writeDocument } from "./layout.ts";
import { countPages, writeNoPage } from "./page-turns.ts";
import { adviseOnReport, linkToAuditee, linkToAuditor } from "./report.ts";

/** A search, the meanings that it may have, and what was found. */
interface SearchResult {
  /** What was typed, and as much of it as was read. */
  typed: string;
  text: string;
  filters: Filters;
  readings: Reading[];
  /** The place of the reading that the visitor chose. */
  asked: number | undefined;
  page: number;
  /** What was typed into other parameters, but is not understood. */
  unread: string[];
  found: Found;
}

/** The page of results, or without a search, the page that says what can be searched for. */
export function writeSearch(context: PageContext, result: SearchResult | undefined): string {
  const title = result ? `Search: ${result.text}` : "Search";
  return writeDocument(context, {
    path: "/search",
    title,
    description: "Search the public reports of federal single audits.",
    body: html`<div class="wrap page">
<h1>Search</h1>
${searchReports(result?.text)}
${result === undefined ? writeExamples(context) : [writeUnread(result), result.text !== result.typed && tooLong, writeResult(context, result)]}
</div>`,
  });
}

const tooLong = html`<p class="notice">Only the first ${longestSearch} characters were used.</p>`;

const writeUnread = ({ unread }: SearchResult): Content =>
  unread.length > 0 &&
  html`<p class="notice">${unread.map((each) => `${each}. It was ignored.`).join(" ")}</p>`;

function writeExamples({ facts }: PageContext): Html {
  return html`<p class="lead">Search for words of an auditee’s, an auditor’s or a program’s name, a city, a UEI, an EIN, a report
  ID, a program’s number (ALN) or an agency. Add a state or a year to narrow the search.</p>
<ul>${listExamples(facts?.totals).map((example) => html`<li><a href="${linkToSearch(example)}">${example}</a></li>`)}</ul>`;
}

const linkToSearch = (
  text: string,
  { findings, ...filters }: Filters = {},
  asked?: number,
  page = 1,
): string =>
  `/search?${new URLSearchParams({ q: text, ...filters, ...(findings && { findings: "1" }), ...(asked !== undefined && { as: String(asked + 1) }), ...(page > 1 && { page: String(page) }) })}`;

function writeResult(context: PageContext, result: SearchResult): Html {
  const { readings, found } = result;
  const chosen = found.chosen ?? 0;
  const reading = readings[chosen];
  if (found.chosen === null || reading === undefined) return writeNothing(context, result);
  return html`<p class="lead" role="status">${writeNoName(result, chosen)}${formatTotal(found.totals[chosen])} ${reading.words}.</p>
${writeGroups(reading, found, found.totals[chosen])}
${writeNarrowedFindings(reading)}
${writeAuditors(reading, found)}
${reading.criteria.report_ids === undefined && writeFilters(context, result)}
${writeChoices(result, chosen)}
${writeRelated(found)}
${writePrograms(result, reading)}
${writeTexts(result)}
${found.rows.length === 0 ? writeNoPage(result.page, lastPage(result, chosen), linkToSearch(result.text, result.filters, result.asked)) : writeRows(reading, found)}
${writePages(result, chosen)}
${writeSource(context, result, reading)}`;
}

/** Says that no auditee has a name that was typed, if what was found is something else: a city, or only beginnings of its words. */
function writeNoName({ readings, asked }: SearchResult, chosen: number): Content {
  // If the visitor chose a reading, the others may have matches.
  const earlier = asked === undefined ? readings.slice(0, chosen) : [];
  const name = findNamed(earlier.filter(({ criteria }) => criteria.full_name === undefined));
  return (
    name !== undefined &&
    readings[chosen]?.criteria.name === undefined &&
    `There are no public reports ${name.words}. `
  );
}

const formatTotal = (total = 0): string =>
  `${total > largestTotal ? "More than " : ""}${formatNumber(Math.min(total, largestTotal))} ${total === 1 ? "report" : "reports"}`;

/** If a search finds the reports of more auditees, it does not link to each. */
const mostAuditees = 3;
/** The same for auditors. */
const mostAuditors = 3;

/** Links to the pages about what the search names. */
function writeGroups(
  { criteria: { report_ids: [report] = [], state, agency, program, uei, ein } }: Reading,
  { rows }: Found,
  total: number | undefined,
): Content {
  if (report !== undefined)
    return html`<p><a href="/record/${report}">Findings, awards and all else in report ${report}</a></p>`;
  const auditee = uei ?? ein;
  const isWhole = auditee === undefined && rows.length === total;
  const auditees = isWhole
    ? rows.filter((row) => rows.find((other) => isSameAuditee(other, row)) === row)
    : [];
  const links = [
    ...(auditees.length > mostAuditees ? [] : auditees).map((row) => {
      const link = linkToAuditee(row);
      const id = auditees.length > 1 && html` <code class="id">${link?.replace("/auditee/", "")}</code>`;
      return link && html`<a href="${link}">${row.auditee_name || "The auditee"}${id}</a>`;
    }),
    state && html`<a href="/state/${state}">all auditees in ${states[state]}</a>`,
    program && html`<a href="/program/${agency}.${program}">Program ${agency}.${program}</a>`,
    program &&
      state &&
      html`<a href="/program/${agency}.${program}?state=${state}">Program ${agency}.${program} in ${states[state]}</a>`,
    agency && html`<a href="/agency/${agency}">${agencies[agency] ?? `Agency ${agency}`}</a>`,
    auditee && html`<a href="/auditee/${auditee}">Auditee ${auditee}</a>`,
  ].filter(Boolean);
  return (
    links.length > 0 &&
    html`<p>All years and findings: ${links.map((link, index) => [index > 0 && ", ", link])}</p>`
  );
}

/** Links to the findings on a program or agency, or in an auditor's reports, in the same state and year. */
function writeNarrowedFindings({ criteria }: Reading): Content {
  const { state, year, agency, auditor_ein: auditor } = criteria;
  const narrowed = { ...(state && { state }), ...(year && { year }) };
  const where = describeNarrowing(narrowed);
  if (agency !== undefined) {
    const program = nameProgram(criteria);
    return html`<p><a href="${linkFindings({ ...narrowed, ...ofProgram(program) })}">Findings on ${program}${where}</a></p>`;
  }
  return auditor !== undefined && html`<p>${writeFindingsOf({ ...narrowed, auditor }, auditor, where)}</p>`;
}

const writeFindingsOf = (criteria: FindingCriteria, auditor: string, where: string): Html =>
  html`<a href="${linkFindings(criteria)}">Findings in reports by ${auditor}${where}</a> (<a href="${linkFindings({ ...criteria, repeat: "Y" })}">only repeat findings</a>)`;

/** Links to the reports and findings of up to three auditors that have the name, or of the only one that has exactly this name. */
function writeAuditors({ criteria: { state, year } }: Reading, { auditors }: Found): Content {
  const narrowed = { ...(state && { state }), ...(year && { year }) };
  const where = describeNarrowing(narrowed);
  const ids = (auditors?.total ?? 0) > mostAuditors ? [] : (auditors?.ids ?? []);
  return ids.map(({ id, name, reports }) => {
    const firm = name || id;
    return html`<p>All reports by <a href="${linkToSearch(id)}">${firm}</a> (EIN ${id}, ${count(reports, "report")}). ${writeFindingsOf({ ...narrowed, auditor: id }, firm, where)}</p>`;
  });
}

const writeRelated = ({ related }: Found): Content =>
  writeRelatedPrograms(related, (aln) => linkToSearch(aln));

/** Links to the other meanings that have matches. */
function writeChoices({ text, filters, readings, found: { totals } }: SearchResult, chosen: number): Content {
  const others = readings.flatMap(({ words, place }, index) =>
    index !== chosen && totals[index]
      ? [
          html`<li><a href="${linkToSearch(text, filters, place)}">Reports ${words}</a> (${formatTotal(totals[index])})</li>`,
        ]
      : [],
  );
  return (
    others.length > 0 &&
    html`<nav aria-label="Other meanings"><p>Or did you mean:</p><ul>${others}</ul></nav>`
  );
}

/** A form that narrows the search. */
function writeFilters({ facts }: PageContext, { text, filters, readings, found }: SearchResult): Html {
  const { criteria } = readings[found.chosen ?? 0] ?? {};
  const years = [...new Set([...listAuditYears(facts?.totals), filters.year ?? ""])]
    .filter(Boolean)
    .sort()
    .reverse();
  const option = (value: string, name: string, chosen = "") =>
    html`<option value="${value}"${value === chosen && html` selected`}>${name}</option>`;
  return html`<form action="/search" class="narrow only-screen" aria-label="Narrow the search"><input type="hidden" name="q" value="${text}">
<div class="fields">
  <div class="field"><label for="year">Audit year</label><select id="year" name="year">${option("", "All", filters.year)}${years.map(
    (year) => option(year, year, filters.year),
  )}</select></div>
  <div class="field"><label for="state">State</label><select id="state" name="state">${option("", "All", filters.state)}${Object.entries(
    states,
  ).map(([code, name]) => option(code, name, filters.state))}</select></div>
  <p class="check field"><input id="findings" name="findings" type="checkbox" value="1"${filters.findings && html` checked`}><label for="findings">${capitalize(nameFindingsFilter(criteria?.agency))}</label></p>
  <div class="field"><button type="submit">Narrow</button></div>
</div></form>`;
}

/** Leads to the findings whose texts have the words. */
function writeTexts({ text, found: { findings } }: SearchResult): Content {
  // The words are counted, not phrases.
  const words = text.replace(/["“”]/g, " ").trim();
  const number =
    findings > largestTotal ? `About ${formatNumber(largestTotal)} or more` : formatNumber(findings);
  return (
    findings > 0 &&
    html`<p><a href="${linkFindings({ words })}">${number} ${findings === 1 ? "finding contains" : "findings contain"} “${words}”</a>
  in the auditor’s text or the corrective action plan.</p>`
  );
}

/** Leads to the findings that a search for reports describes: "suspension and debarment 84.425". */
function writeFindingsLink({ text, filters }: SearchResult): Content {
  const criteria = readFindingsText(text, filters);
  return (
    criteria !== undefined &&
    html`<p>Search what auditors found: <a href="${linkFindings(criteria)}">${describeCriteria(criteria)
      .map(([, words]) => words)
      .join(", ")}</a></p>`
  );
}

/** Links to searches for states and names that are similar to those that were searched for, with the same filters. */
function writeNames({ text, filters, readings, found: { names } }: SearchResult): Content {
  const corrected = correctState(text);
  const { name: typed = "", state, year, findings } = findNamed(readings)?.criteria ?? {};
  const linkToName = (name: string) => {
    // If the name was typed correctly, it has no report that matches the year and the findings filter.
    const narrowed =
      simplify(name) === simplify(typed) ? {} : { ...(year && { year }), ...(findings && { findings }) };
    return linkToSearch(name, { ...(state && { state }), ...narrowed });
  };
  const isOther = (name: string) => ![text, corrected].map(simplify).includes(simplify(name));
  const links = [
    corrected !== text && html`<li><a href="${linkToSearch(corrected, filters)}">${corrected}</a></li>`,
    ...names.filter(isOther).map((name) => html`<li><a href="${linkToName(name)}">${name}</a></li>`),
  ].filter(Boolean);
  return (
    links.length > 0 && html`<nav aria-label="Similar names"><p>Did you mean:</p><ul>${links}</ul></nav>`
  );
}

/** Links to the reports of programs whose names have, or are similar to, the words that were searched for, in the same state and year. */
function writePrograms(
  { found: { programs, similarPrograms } }: SearchResult,
  { criteria }: Reading,
): Content {
  const { state, year } = criteria;
  const isOther = ({ aln }: { aln: string }) => aln !== nameProgram(criteria);
  const links = [...programs, ...similarPrograms]
    .filter(isOther)
    .map(({ aln, federal_program_name: name, awards }) => {
      const search = [aln, state, year].filter(Boolean).join(" ");
      return html`<li><a href="${linkToSearch(search)}">${aln} ${name}</a> (<a href="/program/${aln}">${formatNumber(awards)} ${awards === 1 ? "award" : "awards"} in all</a>)</li>`;
    });
  return (
    links.length > 0 &&
    html`<nav aria-label="Programs"><p>Reports with awards of ${criteria.program === undefined ? "a program" : "other programs"} with ${programs.length > 0 ? "this" : "a similar"} name:</p><ul>${links}</ul></nav>`
  );
}

/** The programs that have the name, if nothing else has it. */
function writeNamedPrograms(result: SearchResult): Content {
  const { readings, found } = result;
  const named = findNamed(readings);
  const names = found.programs.length === 1 ? "A program has a name" : "Programs have names";
  return (
    found.programs.length > 0 &&
    named !== undefined &&
    html`<p class="lead" role="status">${names} with the words “${named.criteria.name}”.
  No auditee, auditor or city with this name was found${describeNarrowing(named.criteria)}.</p>
${writePrograms(result, named)}`
  );
}

/** Whether a search is for one word, besides a state and a year. Programs are known by one, such as Medicaid; few auditees are. */
const isProgramFirst = ({ readings }: SearchResult): boolean =>
  !split(findNamed(readings)?.criteria.name ?? "").includes(" ");

/** "93.778", or of an agency "93" */
const nameProgram = ({ agency, program }: Criteria): string => [agency, program].filter(Boolean).join(".");

type FoundReport = Found["rows"][number];

/** Whether two reports are of the same auditee. Older reports have no UEI, so EINs are compared. */
function isSameAuditee(one: FoundReport, other: FoundReport): boolean {
  const haveUeis = [one, other].every(({ auditee_uei: uei }) => isUei(uei ?? ""));
  return (
    linkToAuditee(one) === linkToAuditee(other) ||
    (!haveUeis && isEin(one.auditee_ein ?? "") && one.auditee_ein === other.auditee_ein)
  );
}

const isSameAuditor = (one: FoundReport, other: FoundReport): boolean =>
  linkToAuditor(one) === linkToAuditor(other);

/** The reports on the page whose auditee or auditor has the name of another one. */
function findNamesakes(
  rows: FoundReport[],
  nameRow: (row: FoundReport) => string,
  isSame: (one: FoundReport, other: FoundReport) => boolean,
): Set<FoundReport> {
  const named = rows.map((row) => ({ row, name: simplify(nameRow(row)) }));
  const ambiguous = named.filter(({ row, name }) =>
    named.some((other) => other.name === name && !isSame(other.row, row)),
  );
  return new Set(ambiguous.map(({ row }) => row));
}

function writeRows({ criteria }: Reading, { rows }: Found): Html {
  const isOfAgency = criteria.agency !== undefined;
  const program = nameProgram(criteria);
  const money = (dollars: number | null) => (dollars === null ? "not stated" : formatMoney(dollars));
  const headings = [
    "Auditee",
    "Audit year",
    "Accepted",
    "Result",
    "Findings",
    ...(isOfAgency ? [{ text: `Findings on ${program}`, isNumber: true }] : []),
    { text: "Federal awards expended", isNumber: true },
    ...(isOfAgency ? [{ text: `Of which ${program}`, isNumber: true }] : []),
    "Auditor",
    "Report",
  ];
  const namesakes = findNamesakes(
    rows,
    ({ auditee_name: name, auditee_city: city }) => `${name}, ${city}`,
    isSameAuditee,
  );
  const firms = findNamesakes(rows, ({ auditor_firm_name: name }) => name ?? "", isSameAuditor);
  const listed = rows.map((row) => {
    const auditee = linkToAuditee(row);
    const auditor = linkToAuditor(row);
    return {
      cells: [
        html`<a href="/record/${row.report_id}">${row.auditee_name || "not stated"}</a>
          <span class="hint">${[row.auditee_city, row.auditee_state].filter(Boolean).join(", ")}</span>${namesakes.has(row) && html` <code class="id hint">${auditee?.replace("/auditee/", "") ?? "no UEI or EIN"}</code>`}`,
        html`${row.audit_year || "not stated"} ${row.fy_end_date && html`<span class="hint">fiscal year ended <span class="unbroken">${row.fy_end_date}</span></span>`} ${auditee && html`<span class="hint"><a href="${auditee}">all years</a></span>`}`,
        html`<span class="unbroken">${row.fac_accepted_date ?? "not stated"}</span>`,
        writeVerdict(row),
        describeFindings(row),
        ...(isOfAgency ? [formatNumber(row.findings_on_program ?? 0)] : []),
        money(row.total_amount_expended),
        ...(isOfAgency ? [money(row.amount_expended)] : []),
        auditor
          ? html`<a href="${auditor}">${row.auditor_firm_name || "not stated"}</a>${firms.has(row) && html` <code class="id hint">${row.auditor_ein || "no EIN"}</code>`}`
          : "not stated",
        html`<code class="id">${row.report_id}</code>
          <a href="/dissemination/report/pdf/${row.report_id}">PDF<span class="visually-hidden"> of ${row.report_id}</span></a>`,
      ],
    };
  });
  return html`<p class="hint">${cleanNote}</p>
${scroll("Reports", table("Reports", headings, listed))}`;
}

const lastPage = ({ found: { totals } }: SearchResult, chosen: number): number =>
  countPages(totals[chosen] ?? 0, { most: largestTotal, onPage: pageRows });

function writePages(result: SearchResult, chosen: number): Content {
  const { text, filters, asked, page } = result;
  const pages = lastPage(result, chosen);
  const links = Array.from({ length: pages }, (_, index) => index + 1).map(
    (each) =>
      html`<li><a href="${linkToSearch(text, filters, asked, each)}"${each === page && html` aria-current="page"`}>${each}</a></li>`,
  );
  return pages > 1 && html`<nav aria-label="Pages of reports"><ul class="choices">${links}</ul></nav>`;
}

function writeSource(context: PageContext, result: SearchResult, { criteria, words }: Reading): Html {
  const { text, filters, asked, page, found } = result;
  const path = linkToSearch(text, filters, asked, page);
  const all = criteria.agency === undefined ? "All of these reports" : "The awards that match";
  return writeExtract(context, {
    title: `Search for “${text}”: reports ${words}${page > 1 ? `, page ${page}` : ""}`,
    path,
    rows: [
      {
        name: "The reports on this page",
        csv: path.replace("/search?", "/search.csv?"),
        query: writePageQuery(found.rows.map((row) => row.report_id)),
      },
      ...(isOfOtherTables(criteria)
        ? []
        : [
            {
              name: `${all}, at most ${formatNumber(largestLimit)}`,
              query: { ...writeQuery(criteria), limit: largestLimit },
            },
          ]),
    ],
  });
}

/** The columns of a CSV file of reports. */
export const searchColumns = [
  "report_id",
  "auditee_name",
  "auditee_uei",
  "auditee_ein",
  "auditee_city",
  "auditee_state",
  "audit_year",
  "fy_end_date",
  "fac_accepted_date",
  ...resultColumns,
  "findings",
  "findings_on_program",
  "material_weaknesses",
  "repeat_findings",
  "total_amount_expended",
  "matching_amount_expended",
  "auditor_firm_name",
  "auditor_ein",
  "address",
] as const;

/** The rows of a CSV file of reports. findings_on_program and matching_amount_expended are of the agency or program that was searched for. */
export const listSearchRows = ({ rows }: Found, appUrl: string): Record<string, unknown>[] =>
  rows.map((row) => ({
    ...row,
    ...listResult(row),
    matching_amount_expended: row.amount_expended,
    address: `${appUrl}/record/${row.report_id}`,
  }));

/** What was understood, and what to do next. */
function writeNothing(context: PageContext, result: SearchResult): Html {
  const { facts } = context;
  const { text, readings } = result;
  const { report_ids: [reportId] = [], uei, ein } = readings[0]?.criteria ?? {};
  const narrowest = readings.filter(
    ({ criteria: { state, year } }) =>
      state === readings[0]?.criteria.state && year === readings[0]?.criteria.year,
  );
  const isNarrowed = readings.some(({ criteria }) => criteria.state ?? criteria.year ?? criteria.findings);
  const auditee = ein ?? (/\d/.test(uei ?? "") ? uei : undefined);
  const [, placeOf] = /^(?:city|town|village|borough|county|state) of (.+)/i.exec(text) ?? [];
  const similarPrograms =
    result.found.programs.length === 0 && readings[0] && writePrograms(result, readings[0]);
  const found = html`<p class="lead" role="status">No public report was found for “${text}”.</p>`;
  // An ID is nothing else.
  const { successor } = result.found;
  if (reportId !== undefined && (successor !== undefined || !isNarrowed))
    return html`${successor === undefined && found}${adviseOnReport(context, reportId, successor)}`;
  const schema = facts?.api[0]?.schema ?? "";
  const isSuppressed = { column: "is_public", operator: "eq", value: "false" } as const;
  const suppressed = linkToExplorer(schema, { ...emptyQuery, filters: [isSuppressed] });
  return html`${writeNamedPrograms(result) || found}
${writeSimilar(result.found.similar)}
${!isNarrowed && auditee !== undefined && adviseOnAuditee(context, auditee, result.found.similar)}
${writeRelated(result.found)}
${writeFindingsLink(result)}
${writeTexts(result)}
${isProgramFirst(result) ? [similarPrograms, writeNames(result)] : [writeNames(result), similarPrograms]}
${isNarrowed && writeFilters(context, result)}
<h2>What the search looked for</h2>
${readings.length === 0 ? html`<p>Nothing: the search has no letter or digit.</p>` : html`<ul>${narrowest.map(({ words }) => html`<li>Reports ${words}</li>`)}</ul>`}
<p>The search did not look in names of people or clusters, or in the places below. Search these in the explorer, which needs JavaScript:</p>
<ul>${elsewhere.map(
    ({ name, table, filter }) =>
      html`<li><a href="${linkToExplorer(schema, { ...emptyQuery, table, filters: [{ ...filter, value: text }] })}">${name}</a></li>`,
  )}</ul>
<h2>What to try</h2>
<ul>
  ${isNarrowed && html`<li>Leave out the state or the year${result.filters.findings ? ", or include reports without findings" : ""}.</li>`}
  ${placeOf !== undefined && html`<li>Search for <a href="/search?q=${encodeURIComponent(placeOf)}">${placeOf}</a>.</li>`}
  <li>Use fewer words, or only their first letters. Every word of a search must be in one name.</li>
  <li>Search for a UEI, an EIN or a report ID. <a href="/search">See examples</a></li>
  <li>Look for a state, a year, an agency or a program in the <a href="/totals">totals</a>.</li>
</ul>
<h2>What cannot be found</h2>
<p>Suppressed reports cannot be found, because the public sees only their report IDs. The
  <a href="${suppressed}">explorer lists them</a>, and with a Tribal key shows their data. If a report was resubmitted,
  the search finds only the newest public version.</p>`;
}

/** What the search does not look in, and how the explorer does. */
const elsewhere: { name: string; table: string; filter: Omit<Filter, "value"> }[] = [
  {
    name: "Numbers of grants and contracts (additional award identification)",
    table: "federal_awards",
    filter: { column: "additional_award_identification", operator: "eq" },
  },
  {
    name: "Numbers that pass-through entities assigned",
    table: "passthrough",
    filter: { column: "passthrough_id", operator: "eq" },
  },
  {
    name: "Names of pass-through entities",
    table: "passthrough",
    filter: { column: "passthrough_name", operator: "contains" },
  },
  { name: "Notes to the SEFA", table: "notes_to_sefa", filter: { column: "content", operator: "contains" } },
  {
    name: "Addresses of auditees",
    table: "general",
    filter: { column: "auditee_address_line_1", operator: "contains" },
  },
];
