import { type ChangesFilter, readChangesFilter } from "../changes-filter.ts";
import { type CheckedEntry, type CheckedResult, writeId } from "../check/check-reports.ts";
import {
  type Change,
  changes,
  describeFound,
  describeRepeats,
  describeReports,
  findReportOf,
  hasChanged,
  listReports,
} from "../check/compare-years.ts";
import {
  type Decision,
  type DecisionSort,
  type DueFilter,
  dueFilters,
  filterDecisions,
} from "../check/decisions.ts";
import { type List, mayBeId, mostEntries } from "../check/read-list.ts";
import { mostYears, type Wanted, writeWanted } from "../check/read-wanted.ts";
import type { CheckResult } from "../check/run-check.ts";
import {
  describeAnswer,
  describeMissing,
  describeNone,
  explainMissing,
  isMistyped,
  isUnread,
  linkToEntry,
  listFiled,
} from "../check/write-check-rows.ts";
import { count, questionedCostsNote } from "../finding-words.ts";
import { mostInFile } from "../findings/find-findings.ts";
import { linkFindings, ofProgram } from "../findings/read-criteria.ts";
import { writeFindingsQueries } from "../findings/write-query.ts";
import { capitalize, formatDay, formatNumber, nameYear } from "../format.ts";
import { type Content, type Html, html } from "../html.ts";
import type { PageContext } from "../page-context.ts";
import { emptyQuery, largestLimit } from "../query.ts";
import { isComparable, linkSimilar, mostSuggestedFor } from "../similar-ids.ts";
import { linkSuccessor } from "../successors.ts";
import { listAuditYears } from "../totals.ts";
import {
  cleanNote,
  describeReasons,
  explainPastDue,
  isClean,
  noDueDate,
  writeDueBadge,
  writeVerdict,
} from "../verdict.ts";
import { writeExtract } from "./extract.ts";
import { scroll, table, writeDocument } from "./layout.ts";

const title = "Check a list";

/** The page that checks a list of UEIs, EINs and report IDs. Without a list, it has only the form. */
export function writeCheck(context: PageContext, result: CheckResult | undefined): string {
  return writeDocument(context, {
    path: "/check",
    title,
    description: "Check which auditees of a list have a public report, and what the auditors found.",
    feed: result && readChanges(result)?.search,
    body: html`<div class="wrap page">
<h1>${title}</h1>
<p class="lead">Paste UEIs, EINs or report IDs to see which have a public report, and what the auditors found.</p>
${result && [writeUnreadFilters(result), writeResult(context, result)]}
${writeForm(context, result)}
</div>`,
  });
}

function writeForm({ facts }: PageContext, result: CheckResult | undefined): Html {
  const { list = "", year = "", aln = "" } = result?.typed ?? {};
  const chosen = result?.wanted.compared ? (result.wanted.years?.join(",") ?? "all") : year;
  const newest = listAuditYears(facts?.totals);
  const pairs = newest
    .slice(1, mostYears)
    .map((year, place) => [`${newest[place]},${year}`, `${newest[place]} and ${year}`]);
  const isListed = ["all", ...pairs.map(([value]) => value)].includes(chosen);
  const years = [...new Set([...newest, ...(isListed ? [] : [chosen])])].filter(Boolean).sort().reverse();
  return html`<section${result && html` class="only-screen"`} aria-labelledby="form">${result ? html`<h2 id="form">Check another list</h2>` : html`<h2 id="form" class="visually-hidden">The list</h2>`}
<form action="/check" method="post">
<div class="field"><label for="list">UEIs, EINs or report IDs</label>
  <textarea id="list" name="u" rows="8" required spellcheck="false" autocomplete="off" aria-describedby="list-hint">${list}</textarea>
  <span class="hint" id="list-hint">One on each line, or with commas, tabs or spaces between them. At most ${formatNumber(mostEntries)}.</span></div>
<div class="row">
  <div class="field"><label for="year">Audit year</label>
    <select id="year" name="year"><option value="">The newest report</option><option value="all"${chosen === "all" && html` selected`}>Compare the newest ${mostYears} years</option>${years.map(
      (each) => html`<option${each === chosen && html` selected`}>${each}</option>`,
    )}${
      pairs.length > 0 &&
      html`<optgroup label="Compare two years">${pairs.map(
        ([value, words]) =>
          html`<option value="${value}"${value === chosen && html` selected`}>${words}</option>`,
      )}</optgroup>`
    }</select></div>
  <div class="field"><label for="aln">Program (ALN) or agency, if only its findings matter</label>
    <input id="aln" name="aln" maxlength="100" autocomplete="off" placeholder="93.778 or HHS" value="${aln}"></div>
  <div class="field"><label for="due-filter">Management decisions</label>
    <select id="due-filter" name="due">${Object.entries(dueFilters).map(
      ([value, words]) =>
        html`<option value="${value === "recent" ? "" : value}"${value === result?.wanted.due && html` selected`}>${words}</option>`,
    )}</select></div>
  <div class="field"><label for="as-of">Decisions as of (today if empty)</label>
    <input id="as-of" name="as_of" type="date" value="${result?.wanted.asOf}"></div>
  <div class="field"><label for="change">Rows, if years are compared</label>
    <select id="change" name="change"><option value="">All</option>${Object.entries(changes).map(
      ([value, words]) =>
        html`<option value="${value}"${value === result?.wanted.change && html` selected`}>${words}</option>`,
    )}</select></div>
</div>
<button type="submit">Check</button>
</form></section>`;
}

function writeResult(context: PageContext, result: CheckResult): Content {
  const { list, checked, path } = result;
  const nothing =
    list.entries.length === 0 &&
    html`<p class="notice" role="status">Nothing in the list is a UEI (12 letters and digits), an EIN (9 digits) or a report ID
  (such as 2023-06-GSAFAC-0000000001).</p>`;
  if (nothing && checked.every(({ similar }) => similar.length === 0))
    return html`${nothing}${writeDoubtful(result)}`;
  return html`${path === undefined && writeAgain(result)}
${nothing || html`<p role="status">${describeList(result)}</p>`}
${result.wanted.compared && writeYears(result)}
${writeDoubtful(result)}
${writeRepeated(list)}
${
  list.left > 0 &&
  html`<p class="notice">Only the first ${formatNumber(mostEntries)} entries were checked. ${formatNumber(list.left)} more were left out. Check
  them as another list.</p>`
}
${writeJumps(result)}
${writeFindingsLink(result)}
${result.wanted.compared ? writeComparison(result) : writeRows(result)}
${
  (result.wanted.compared ||
    checked.some(
      (line) => line.kind && (line.report ?? line.successor) === undefined && !isMistyped(line),
    )) &&
  html`<p class="hint">“No public report” means that no public report names the UEI or EIN as its auditee’s, or none of that audit year does.
  The report may not be due, may not have been filed, may name another UEI or EIN, or may be suppressed. A report ID without a public report is
  suppressed, was resubmitted, or does not exist.</p>`
}
${writeSuggestedFor(result)}
${writeDecisions(result)}
<p class="hint">A finding counts once, however many programs it concerns. ${cleanNote}</p>
${
  path === undefined &&
  html`<p class="notice">The list is too long for an address, so this page cannot be bookmarked, and has no feed and no page of its findings. Keep the CSV file, or split the
  list.</p>
<p class="only-screen">${writeButton("CSV for spreadsheets", "/check.csv", "rows", "", "")} ${writeButton("CSV of the management decisions", "/check.csv", "rows", "decisions", "")}</p>`
}
${writeSource(context, result)}`;
}

/** Says that there are entries beyond those that can have suggestions. */
const writeSuggestedFor = ({ checked }: CheckResult): Content =>
  checked.filter((line) => (line.report ?? line.other) === undefined && isComparable(writeId(line))).length >
    mostSuggestedFor &&
  html`<p class="hint">Similar UEIs and EINs are suggested only for the first ${mostSuggestedFor} without a public report.</p>`;

/** Links to a check of the list with the suggested IDs, if no entry has several. */
function writeCorrected({ checked, path }: CheckResult): Content {
  const ids = checked.map((line) => line.similar[0]?.similar_id ?? (line.kind ? line.id : line.typed));
  const suggested = checked.filter(({ similar }) => similar.length > 0);
  return (
    path !== undefined &&
    suggested.length > 0 &&
    suggested.every(({ similar }) => similar.length === 1) &&
    html`<p class="only-screen"><a href="${path.replace(/u=[^&]*/, `u=${ids.map(encodeURIComponent).join(",")}`)}">Check the list with the suggested ${suggested.length === 1 ? "ID" : "IDs"}</a></p>`
  );
}

/** What was asked for, but is not understood. */
const writeUnreadFilters = ({ wanted: { unread } }: CheckResult): Content =>
  unread.length > 0 && html`<p class="notice">${unread.join(" ")}</p>`;

/** The findings of a list, on one year if one was asked for. Undefined if the list is too long for an address. */
function linkToFindings(
  { path, list, wanted: { aln, years } }: CheckResult,
  file = "/findings",
): string | undefined {
  return path === undefined
    ? undefined
    : linkFindings(
        {
          ...(aln !== undefined && ofProgram(aln)),
          ...(years && { year: years.toSorted().join() }),
          u: list.entries.map(({ id }) => id).join(","),
        },
        1,
        file,
      );
}

/** Leads to the findings of all reports of a list, including older ones. */
function writeFindingsLink(result: CheckResult): Content {
  const { aln, years } = result.wanted;
  const link = linkToFindings(result);
  return (
    link !== undefined &&
    result.decisions.length > 0 &&
    html`<p class="only-screen"><a href="${link}">Read the findings of this list</a>${aln && ` on ${aln}`}, ${describeYears(years)}.</p>`
  );
}

/** "in all years", "for audit years 2023, 2022" */
const describeYears = (years: string[] | undefined): string =>
  years ? `for audit year${years.length > 1 ? "s" : ""} ${years.join(", ")}` : "in all years";

/** Links to the parts of a long page. */
function writeJumps({ decisions }: CheckResult): Content {
  const parts = [
    ["rows", "The list"],
    ...(decisions.length > 0 ? [["due", `Management decisions (${formatNumber(decisions.length)})`]] : []),
    ["extract", "CSV, API and citation"],
    ["form", "Check another list"],
  ];
  return html`<nav aria-label="On this page"><ul class="choices">${parts.map(([id, text]) => html`<li><a href="#${id}">${text}</a></li>`)}</ul></nav>`;
}

/** Which changes concern a list. A list that is too long for an address has no feed either. */
const readChanges = ({ path, list }: CheckResult): ChangesFilter | undefined =>
  path === undefined ? undefined : readChangesFilter({ u: list.entries.map(({ id }) => id).join(",") });

/** "60 entries: 58 read, 2 not understood. Newest reports: 55 with a public report, 3 with no public report. Of these reports, 43 are clean, …" */
function describeList({ list, checked, wanted }: CheckResult): string {
  const number = (has: (line: CheckedEntry) => unknown) => checked.filter(has).length;
  const unread = number(isUnread);
  const placeholders = number((line) => !line.kind && !isUnread(line));
  const read = checked.length - unread - placeholders;
  const found = number(({ report }) => report);
  const elsewhere = number(({ other }) => other);
  const replaced = number(({ successor }) => successor);
  const suggested = number((line) => line.kind && !isMistyped(line) && line.similar.length > 0);
  const without = read - found - elsewhere - replaced;
  const same = number(({ sameAs }) => sameAs);
  const asked = wanted.compared
    ? `audit years ${wanted.compared.join(", ")}`
    : wanted.years
      ? `audit year ${wanted.years.join(", ")}`
      : nameReports(list, "newest reports", "the reports named", "newest reports and the reports named");
  const parts = [
    `${found === 0 ? "none" : formatNumber(found)} with a public report${same > 0 ? ` (${formatNumber(same)} of these ${same === 1 ? "shares" : "share"} a report with an earlier entry)` : ""}`,
    elsewhere > 0 && `${formatNumber(elsewhere)} with reports of other years only`,
    replaced > 0 && `${formatNumber(replaced)} replaced by another report`,
    without > 0 &&
      `${formatNumber(without)} with no public report${suggested > 0 ? ` (${formatNumber(suggested)} similar to another auditee’s ID)` : ""}`,
  ].filter(Boolean);
  const reports = wanted.compared ? "" : describeReports(listReports(checked), wanted.aln);
  const entries = count(checked.length, "entry", "entries");
  const others = [
    unread > 0 && `, ${formatNumber(unread)} not understood`,
    placeholders > 0 && `, ${formatNumber(placeholders)} without a UEI`,
  ].filter(Boolean);
  const start =
    others.length === 0
      ? `${entries}, ${asked}`
      : `${entries}: ${formatNumber(read)} read${others.join("")}. ${capitalize(asked)}`;
  return `${start}: ${parts.join(", ")}.${reports && ` Of these reports, ${reports}`}`;
}

/** The most entries that a notice names. */
const mostNamed = 20;

/** " and 5 more", beyond those that a notice names. */
const countMore = ({ length }: unknown[]): string =>
  length > mostNamed ? ` and ${formatNumber(length - mostNamed)} more` : "";
const nameFirst = (entries: string[]): string =>
  `${entries.slice(0, mostNamed).join(", ")}${countMore(entries)}`;

/** The entries that may be mistyped, each with what may be meant, and the words that have no row. */
function writeDoubtful(result: CheckResult): Content {
  const { checked, list, wanted } = result;
  const doubtful = checked.filter((entry) => isUnread(entry) || entry.similar.length > 0);
  const words = list.unread.filter((typed) => !mayBeId({ typed }));
  const more = countMore(doubtful);
  return (
    doubtful.length + words.length > 0 &&
    html`<div class="notice">${
      doubtful.length > 0 &&
      html`<p>Not understood, or similar to an auditee’s ID (${formatNumber(doubtful.length)}):</p>
<ul>${doubtful.slice(0, mostNamed).map((entry) => html`<li>“${entry.typed}”, ${writeAnswer(entry, wanted)}</li>`)}${more && html`<li>${more}</li>`}</ul>
${writeCorrected(result)}`
    }${
      words.length > 0 &&
      html`<p>Words that are not IDs (${formatNumber(words.length)}): ${nameFirst(words.map((word) => `“${word}”`))}. To find a name, search for it instead.</p>`
    }</div>`
  );
}

/** What was pasted several times counts once. */
function writeRepeated({ repeated }: List): Content {
  const named = [...new Set(repeated)];
  return (
    named.length > 0 &&
    html`<p class="notice">${capitalize(count(repeated.length, "entry", "entries"))} ${repeated.length === 1 ? "repeats" : "repeat"}
  another and ${repeated.length === 1 ? "counts" : "count"} once: ${nameFirst(named)}.</p>`
  );
}

/** The most management decisions on a page. */
const mostDecisions = 200;

/** The management decisions on all reports that were found, also on older ones. */
function writeDecisions(result: CheckResult): Content {
  const { decisions, shownDecisions, laterDecisions: later, due, path, asOf, wanted } = result;
  const name = "Management decisions";
  if (decisions.length === 0)
    return (
      later > 0 &&
      html`<section aria-labelledby="due"><h2 id="due">${name}</h2>
<p>None as of ${formatDay(asOf)}: ${count(later, "report")} with findings ${later === 1 ? "was" : "were"} accepted after that day.</p></section>`
    );
  const sort = wanted.sort ?? "due";
  const findings = wanted.aln ? `Findings on ${wanted.aln}` : "Findings";
  const heading = (text: string, by: DecisionSort, isNumber = false) => ({
    text,
    isNumber,
    ...(path
      ? { link: `${changePath(path, { sort: by })}#due` }
      : { control: writeButton(text, "/check#due", "sort", by) }),
    sorted: sort === by && (by === "findings" ? ("descending" as const) : ("ascending" as const)),
  });
  const headings = [
    heading("Due", "due"),
    heading("Auditee", "auditee"),
    "Audit year",
    heading(findings, "findings", true),
  ];
  const rows = shownDecisions.slice(0, mostDecisions).map((decision) => ({
    cells: [
      writeDueDate(decision.due, asOf),
      html`<a href="/record/${decision.report_id}">${decision.auditee_name || decision.report_id}</a> <span class="hint">${[decision.auditee_city, decision.auditee_state].filter(Boolean).join(", ")}</span>`,
      html`${nameYear(decision.audit_year)}${writeResubmitted(decision)}`,
      formatNumber(decision.findings),
    ],
  }));
  const left = shownDecisions.length - rows.length;
  return html`<section aria-labelledby="due"><h2 id="due">${name}</h2>
<nav class="printed" aria-label="Which management decisions"><ul class="choices">${Object.entries(
    dueFilters,
  ).map(([filter, words]) => {
    const text = `${words} (${formatNumber(filterDecisions(decisions, filter as DueFilter, asOf).length)})`;
    return html`<li>${linkChoice(path, text, { due: filter }, "#due", filter === due)}</li>`;
  })}</ul></nav>
<p>${describeDecisions(result)}</p>
${rows.length > 0 && scroll(name, table(name, headings, rows))}
${left > 0 && html`<p>${formatNumber(left)} more are in the CSV file.</p>`}
<p class="hint">The pass-through entity or agency responsible must issue its decision within six months after the Federal Audit Clearinghouse accepted the report
  (2 CFR 200.521(d)). For a resubmitted report, the six months begin when the resubmission was accepted. ${explainPastDue(asOf)}</p>
</section>`;
}

/** Which decisions are listed, on which reports, and when. */
function describeDecisions({
  list,
  decisions,
  shownDecisions,
  laterDecisions: later,
  due,
  path,
  asOf,
  wanted: { years, compared, aln, due: asked },
}: CheckResult): Html {
  const undated = decisions.filter((decision) => decision.due === null).length;
  const hasAuditees = list.entries.some(({ kind }) => kind !== "report ID");
  // A named report is checked whatever its year, unless years are compared.
  const when = (hasAuditees || compared) && describeYears(years);
  return html`${dueFilters[due]}: ${shownDecisions.length === 0 ? "none" : formatNumber(shownDecisions.length)} of
  ${count(decisions.length, "decision")}, as of ${formatDay(asOf)}.${
    asked === undefined &&
    due === "all" &&
    " No decision was due in the 12 months before that day, and none is due later, so all are shown."
  }${shownDecisions.length === 0 && html` ${linkChoice(path, "Show all decisions", { due: "all" }, "#due")}.`} A decision is due on
  ${nameReports(list, "every report of these auditees", "every report in the list", "every report of these auditees and every report in the list")}
  that has findings${aln && ` on ${aln}`}${when && `, ${when}`}.${
    undated > 0 &&
    ` ${formatNumber(undated)} of ${count(decisions.length, "report")} ${undated === 1 ? "has" : "have"} ${noDueDate}.`
  }${
    later > 0 &&
    ` ${count(later, "report")} accepted after ${formatDay(asOf)} ${later === 1 ? "is" : "are"} left out.`
  }${!compared && hasAuditees && html` <a href="#rows">The list</a> above has only ${years ? "one report" : "the newest report"} of each UEI and EIN.`}`;
}

/** The path of a check with another choice. */
function changePath(path: string, choice: Record<string, string>): string {
  const [first = "", ...others] = path.split("&");
  const chosen = { ...Object.fromEntries(new URLSearchParams(others.join("&"))), ...choice };
  const parameters = new URLSearchParams(Object.entries(chosen).filter(([, value]) => value !== ""));
  return [first, String(parameters).replaceAll("%2C", ",")].filter(Boolean).join("&");
}

/** A link to the check with another choice. If its list is too long for an address, a button, which sends the first of several. */
function linkChoice(
  path: string | undefined,
  text: string,
  choice: Record<string, string>,
  place = "",
  isCurrent = false,
): Html {
  const current = isCurrent && html` aria-current="true"`;
  if (path !== undefined) return html`<a href="${changePath(path, choice)}${place}"${current}>${text}</a>`;
  const [[name, value] = ["", ""]] = Object.entries(choice);
  return writeButton(text, `/check${place}`, name, value, "link", current);
}

const resubmitted = "resubmitted (first filed earlier)";
const writeResubmitted = ({ resubmission_version: version }: Decision): Content =>
  version > 1 && html` <span class="hint">${resubmitted}</span>`;

/** A date on which a decision is due, marked if it is past or near. */
const writeDueDate = (due: string | null, asOf: string): Content =>
  due === null
    ? noDueDate
    : html`<time class="unbroken" datetime="${due}">${due}</time>${writeDueBadge(due, asOf)}`;

/** Names the reports that a list asks for: those of its auditees, those that it names, or both. */
function nameReports({ entries }: List, ofAuditees: string, named: string, both: string): string {
  const ids = entries.filter(({ kind }) => kind === "report ID").length;
  if (ids === 0) return ofAuditees;
  return ids === entries.length ? named : both;
}

/** How many reports of each year are clean, with links to the check of that year. */
function writeYears({ checked, path, wanted: { aln, compared: years = [] } }: CheckResult): Html {
  const reports = listReports(checked);
  return html`<ul class="printed">${years.map((year) => {
    const ofYear = reports.filter((report) => report.audit_year === year);
    return html`<li>${linkChoice(path, year, { year, change: "" })}: ${
      ofYear.length === 0
        ? "no public report."
        : `${count(ofYear.length, "report")}. Of these, ${describeReports(ofYear, aln)}`
    }</li>`;
  })}</ul>
${writeOtherYears(checked, years, path)}`;
}

/** Leads to the years that are not compared, some at a time. */
function writeOtherYears(checked: CheckedEntry[], years: string[], path: string | undefined): Content {
  const filed = checked.flatMap(({ report, other }) => (report ?? other)?.filed ?? []);
  const others = [...new Set(filed)]
    .filter((year) => year !== null && !years.includes(year))
    .sort()
    .reverse();
  const links = splitInto(others, mostYears).map(
    (compared, part) =>
      html`${part > 0 && "; "}${linkChoice(path, compared.join(", "), { year: compared.join(",") })}`,
  );
  return (
    links.length > 0 &&
    html`<p class="hint only-screen">At most ${mostYears} audit years are shown side by side. Other years of this list: ${links}.</p>`
  );
}

/** The list with the audit years beside each other. */
function writeComparison(result: CheckResult): Html {
  const { shownEntries, wanted } = result;
  const { compared: years = [] } = wanted;
  const rows = shownEntries.map((entry) => ({
    cells: [
      writeAuditee(entry, wanted),
      ...years.map((year) => writeFound(entry, findReportOf(entry, year), wanted.aln)),
    ],
  }));
  const name = "The list by audit year";
  return html`<h2 id="rows">${name}</h2>
${writeChanges(result)}
${rows.length === 0 ? html`<p>No entries.</p>` : scroll(name, table(name, ["Auditee", ...years], rows))}`;
}

/** Links to the entries whose findings changed, with how many they are. */
function writeChanges({ checked, path, wanted }: CheckResult): Html {
  const { aln, change } = wanted;
  const link = (value: Change | "", text: string, entries: number) => {
    const words = `${text} (${formatNumber(entries)})`;
    return html`<li>${linkChoice(path, words, { change: value }, "#rows", value === (change ?? ""))}</li>`;
  };
  return html`<nav class="printed" aria-label="Which entries"><ul class="choices">${link("", "All", checked.length)}${Object.entries(
    changes,
  ).map(([value, words]) =>
    link(
      value as Change,
      words,
      checked.filter((entry) => hasChanged(entry, wanted, value as Change)).length,
    ),
  )}</ul></nav>
<p class="hint">For each entry, the two newest of these reports are compared.${aln && ` Only findings on ${aln} are counted, but “clean” concerns the whole report.`}
  A repeat is a finding that the report marks as repeated from an earlier audit.</p>`;
}

function writeFound(
  entry: CheckedEntry,
  report: CheckedResult | undefined,
  aln: string | undefined,
): Content {
  if (report === undefined) return describeNone(entry) ?? "–";
  const notes = [
    aln && report.findings > 0 && `on ${aln}: ${describeRepeats(report.findings_on_aln ?? 0, report)}`,
    report.findings === 0 && isClean(report) === false && describeReasons(report),
  ].filter(Boolean);
  return html`<a href="/record/${report.report_id}">${describeFound(report, aln)}</a>${notes.length > 0 && html` <span class="hint">${notes.join("; ")}</span>`}`;
}

function writeRows({ checked, asOf, path, wanted }: CheckResult): Html {
  const { aln } = wanted;
  const headings = [
    "Auditee",
    "Accepted",
    "Result",
    { text: "Findings", isNumber: true },
    ...(aln ? [{ text: `On ${aln}`, isNumber: true }] : []),
    ...["Material weaknesses", "Repeat", "With questioned costs"].map((text) => ({
      text: aln ? `${text} on ${aln}` : text,
      isNumber: true,
    })),
    "Management decision due",
  ];
  const rows = checked.map((entry) => ({ cells: writeCells(entry, wanted, asOf) }));
  return html`<h2 id="rows">The list</h2>
<p class="hint">${questionedCostsNote} ${linkChoice(path, "Compare the years", { year: "all" })} side by side.</p>
${scroll("The list", table("The list", headings, rows))}`;
}

/** An auditee's name and place, and the entry as it was typed. */
function writeAuditee(entry: CheckedEntry, wanted: Wanted): Html {
  const { typed, kind, reports, sameAs, other } = entry;
  const report = entry.report ?? other;
  const id = kind === undefined ? typed : entry.id;
  const asTyped = html`<span class="hint">${typed}${typed.toUpperCase() !== id && typed.replace("-", "") !== id && kind && `, read as the EIN ${id}`}</span>`;
  if (report === undefined)
    return html`${asTyped}${wanted.compared && html` <span class="hint">${writeAnswer(entry, wanted)}</span>`}`;
  const link = wanted.compared || other ? linkToEntry(entry) : `/record/${report.report_id}`;
  return html`<a href="${link}">${report.auditee_name || report.report_id}</a>
  <span class="hint">${[report.auditee_city, report.auditee_state].filter(Boolean).join(", ")}</span> ${asTyped}
  ${!report.is_own && html`<span class="hint">as an additional ${kind}</span>`}
  ${sameAs !== "" && html`<span class="hint">same ${reports.length === 1 ? "report" : "reports"} as ${sameAs}</span>`}
  ${wanted.compared && other && html`<span class="hint">filed ${listFiled(other)}</span>`}`;
}

function writeAnswer(entry: CheckedEntry, wanted: Wanted): Content {
  if (entry.successor) return linkSuccessor(entry.successor);
  if (entry.similar.length > 0)
    return html`${explainMissing(entry)}: did you mean ${linkSimilar(entry.similar)}?`;
  return describeAnswer(entry, wanted);
}

function writeCells(line: CheckedEntry, wanted: Wanted, asOf: string): Content[] {
  const { kind, report, other } = line;
  const auditee = writeAuditee(line, wanted);
  if (report === undefined) {
    const answer = other
      ? html`${describeMissing(wanted)}; filed <a href="/record/${other.report_id}">${nameYear(other.audit_year)}</a>${listFiled(other).replace(/^[^,]*/, "")}`
      : writeAnswer(line, wanted);
    return [auditee, answer, ...Array<string>(wanted.aln ? 7 : 6).fill("–")];
  }
  const number = (value: number | null) => formatNumber(value ?? 0);
  const others = report.reports - 1;
  return [
    auditee,
    html`<span class="unbroken">${report.fac_accepted_date ?? "date not stated"}</span>
  <span class="hint">${report.audit_year ? `audit year ${report.audit_year}` : "audit year not stated"}${report.resubmission_version > 1 && `; ${resubmitted}`}${others > 0 && html`; <a href="/auditee/${kind && line.id}">${count(others, "other report")}</a>`}</span>`,
    writeVerdict(report),
    number(report.findings),
    ...(wanted.aln ? [number(report.findings_on_aln)] : []),
    number(report.material_weaknesses),
    number(report.repeat_findings),
    number(report.questioned_costs),
    report.needs_decision ? writeDueDate(report.management_decision_due, asOf) : "–",
  ];
}

/** The list again, for buttons, if it is too long for an address. They come after this form, so that their choices count. */
const writeAgain = ({
  typed,
  wanted,
}: CheckResult): Html => html`<form id="again" action="/check" method="post">
${Object.entries({ u: typed.list, ...writeWanted(wanted) }).map(
  ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
)}</form>`;

/** A button that sends the list again with a choice. */
const writeButton = (
  text: string,
  path: string,
  name: string,
  value: string,
  kind = "link",
  current: Content = "",
): Html =>
  html`<button type="submit" form="again" formaction="${path}" name="${name}" value="${value}"${kind && html` class="${kind}"`}${current}>${text}</button>`;

const splitInto = <Item>(items: Item[], most: number): Item[][] =>
  Array.from({ length: Math.ceil(items.length / most) }, (_, part) =>
    items.slice(part * most, (part + 1) * most),
  );

/** Requests whose addresses every proxy accepts. */
const idsInRequest = 200;
/** The most reports that a page writes requests for. A comparison may have more. */
const mostInRequests = 1000;

function writeSource(context: PageContext, result: CheckResult): Content {
  const { checked, decisions, due, asOf, path, wanted } = result;
  const { aln } = wanted;
  const all = listReports(checked).map(({ report_id: id }) => id);
  const ids = all.slice(0, mostInRequests);
  const parts = splitInto(ids, idsInRequest);
  const of = (part: number) => (parts.length > 1 ? `, part ${part + 1} of ${parts.length}` : "");
  const requests = parts.flatMap((listed, part) => {
    const filters = [{ column: "report_id", operator: "in" as const, value: listed.join("\n") }];
    return [
      { name: `Reports${of(part)}`, query: { ...emptyQuery, filters, limit: idsInRequest } },
      ...writeFindingsQueries(aln === undefined ? {} : ofProgram(aln)).map(({ query }) => ({
        name: `Their findings${aln ? ` on ${aln}` : ""}${of(part)}`,
        query: { ...query, filters, limit: largestLimit },
      })),
    ];
  });
  // Lists the same decisions on any day.
  const kept = path && decisions.length > 0 ? changePath(path, { as_of: asOf, due }) : path;
  const csv = kept?.replace("/check?", "/check.csv?");
  const findings = linkToFindings(result, "/findings.csv");
  const asked = wanted.compared ?? wanted.years ?? [];
  return html`${writeExtract(context, {
    title: [
      `Check of ${count(checked.length, "entry", "entries")}`,
      asked.length > 0 && `audit ${asked.length > 1 ? "years" : "year"} ${asked.join(", ")}`,
      aln,
    ]
      .filter(Boolean)
      .join(", "),
    path: kept,
    changes: readChanges(result),
    rows: [
      ...(csv !== undefined ? [{ name: "The list", csv }] : []),
      ...(csv !== undefined && decisions.length > 0
        ? [{ name: "Management decisions", csv: `${csv}&rows=decisions` }]
        : []),
      ...(findings !== undefined && decisions.length > 0
        ? [{ name: `The newest ${formatNumber(mostInFile)} findings of this list`, csv: findings }]
        : []),
      ...requests,
    ],
  })}${
    all.length > ids.length &&
    html`<p class="hint">The requests are for the first ${formatNumber(mostInRequests)} of ${formatNumber(all.length)} reports. Check each year, or a part of the
  list, for the others. The CSV file has all.</p>`
  }`;
}
