import { type ChangesFilter, readChangesFilter } from "../changes-filter.ts";
import type { CheckedEntry, Wanted } from "../check/check-reports.ts";
import {
  type Decision,
  type DecisionSort,
  type DueFilter,
  dueFilters,
  filterDecisions,
  judgeDue,
} from "../check/decisions.ts";
import { type List, mostEntries } from "../check/read-list.ts";
import { describeAnswer, isMistyped, judge } from "../check/write-check-rows.ts";
import { count } from "../finding-words.ts";
import { writeFindingsQueries } from "../findings/write-query.ts";
import { capitalize, formatDay, formatNumber, writeUtcDate } from "../format.ts";
import { type Content, type Html, html } from "../html.ts";
import type { PageContext } from "../page-context.ts";
import { emptyQuery, largestLimit } from "../query.ts";
import { nameVerdict } from "../verdict.ts";
import { writeExtract } from "./extract.ts";
import { scroll, table, writeDocument } from "./layout.ts";

/** A list, and what was found for it. */
interface CheckResult {
  /** What was typed. */
  typed: { list: string; year: string; aln: string; due: string; sort: string };
  list: List;
  wanted: Wanted;
  checked: CheckedEntry[];
  /** The path that shows the same result. Undefined if the list is too long for an address. */
  path: string | undefined;
  today: Date;
  /** All management decisions, and those that the page shows, in their order. */
  decisions: Decision[];
  shownDecisions: Decision[];
  due: DueFilter;
  sort: DecisionSort;
}

const title = "Check a list";

/** The page that checks a list of UEIs, EINs and report IDs. Without a list, it has only the form. */
export function writeCheck(context: PageContext, result: CheckResult | undefined): string {
  return writeDocument(context, {
    path: "/check",
    title,
    description: "Which auditees of a list have filed a single audit, and what was found.",
    feed: result && readChanges(result)?.search,
    body: html`<div class="wrap page">
<h1>${title}</h1>
<p class="lead">Paste UEIs, EINs or report IDs to see which have a public single audit, and what the auditors found.</p>
${result && [writeUnusedFilters(result), writeResult(context, result)]}
${writeForm(context, result)}
</div>`,
  });
}

function writeForm({ facts }: PageContext, result: CheckResult | undefined): Html {
  const { list = "", year = "", aln = "" } = result?.typed ?? {};
  const known = facts?.totals?.totals_by_state.map((total) => total.audit_year ?? "") ?? [];
  const years = [...new Set([...known, year])].filter(Boolean).sort().reverse();
  return html`<section${result && html` class="only-screen"`} aria-labelledby="form">${result ? html`<h2 id="form">Check another list</h2>` : html`<h2 id="form" class="visually-hidden">The list</h2>`}
<form action="/check" method="post">
<div class="field"><label for="list">UEIs, EINs or report IDs</label>
  <textarea id="list" name="u" rows="8" required spellcheck="false" autocomplete="off" aria-describedby="list-hint">${list}</textarea>
  <span class="hint" id="list-hint">One on each line, or with commas, tabs or spaces between them. At most ${formatNumber(mostEntries)}.</span></div>
<div class="row">
  <div class="field"><label for="year">Audit year</label>
    <select id="year" name="year"><option value="">The newest report</option>${years.map(
      (each) => html`<option${each === year && html` selected`}>${each}</option>`,
    )}</select></div>
  <div class="field"><label for="aln">Program (ALN) or agency, if only its findings matter</label>
    <input id="aln" name="aln" maxlength="100" autocomplete="off" placeholder="93.778 or HHS" value="${aln}"></div>
  <div class="field"><label for="due">Management decisions</label>
    <select id="due" name="due">${Object.entries(dueFilters).map(
      ([value, words]) =>
        html`<option value="${value === "recent" ? "" : value}"${value === result?.due && html` selected`}>${words}</option>`,
    )}</select></div>
</div>
<button type="submit">Check</button>
</form></section>`;
}

function writeResult(context: PageContext, result: CheckResult): Content {
  const { list, checked, path } = result;
  if (list.entries.length === 0)
    return html`<p class="notice" role="status">Nothing in the list is a UEI (12 letters and digits), an EIN (9 digits) or a report ID
  (such as 2023-06-GSAFAC-0000000001).</p>${writeUnread(list)}`;
  return html`${path === undefined && writeAgain(result)}
<p role="status">${describeResult(result)}</p>
${writeUnread(list)}
${writeRepeated(list)}
${
  list.left > 0 &&
  html`<p class="notice">Only the first ${formatNumber(mostEntries)} entries were checked. ${formatNumber(list.left)} more were left out. Check
  them as another list.</p>`
}
${writeDecisions(result)}
${writeRows(result)}
${
  checked.some((line) => line.kind && line.report === undefined && !isMistyped(line)) &&
  html`<p class="hint">“Nothing public found” means that no public report${result.wanted.year && ` of audit year ${result.wanted.year}`} names the UEI or EIN.
  The audit may not be due or not be filed, it may name another UEI or EIN, or it may be suppressed. A report ID without a public report is
  suppressed, was resubmitted, or does not exist.</p>`
}
<p class="hint">A finding counts once, however many programs it concerns. The pass-through entity or agency responsible must issue its management decision within
  six months of the date on which the Federal Audit Clearinghouse accepted the report (2 CFR 200.521(d)). “Past due” means due before
  ${writeDate(result.today)}, when this page was made.</p>
${
  path === undefined &&
  html`<p class="notice">The list is too long for an address, so this page cannot be bookmarked and has no feed. Keep the CSV file, or split the
  list.</p>
<p class="only-screen">${writeButton("CSV for spreadsheets", "/check.csv", "rows", "", "")} ${writeButton("CSV of the management decisions", "/check.csv", "rows", "decisions", "")}</p>`
}
${writeSource(context, result)}`;
}

/** A year or a program that was typed, but not understood. */
function writeUnusedFilters({ typed, wanted }: CheckResult): Content {
  return [
    typed.year !== "" &&
      wanted.year === undefined &&
      html`<p class="notice">“${typed.year}” is not an audit year, such as 2023. The newest reports are shown.</p>`,
    typed.aln !== "" &&
      wanted.aln === undefined &&
      html`<p class="notice">“${typed.aln}” is neither a program’s number, such as 93.778, nor an agency, such as 93 or HHS. It was ignored.</p>`,
  ];
}

/** Which changes concern a list. A list that is too long for an address has no feed either. */
const readChanges = ({ path, list }: CheckResult): ChangesFilter | undefined =>
  path === undefined ? undefined : readChangesFilter({ u: list.entries.map(({ id }) => id).join(",") });

/** "60 entries, newest reports: 55 with a public report, 5 with nothing public found. Of these reports, 12 have findings: 34 in all." */
function describeResult({ list, checked, wanted: { year, aln } }: CheckResult): string {
  const entries = list.entries.length;
  const mistyped = checked.filter(isMistyped).length;
  const reports = listReports(checked);
  const found = checked.filter(({ report }) => report !== undefined).length;
  const withFindings = reports.filter(({ findings }) => findings > 0);
  const sum = withFindings.reduce((total, { findings }) => total + findings, 0);
  const onAln = reports.reduce((total, { findings_on_aln: findings }) => total + (findings ?? 0), 0);
  const notClean = reports.filter((report) => judge(report).isClean === false).length;
  const have = (number: number, one: string, more: string) =>
    number === 0 ? `none ${one}` : `${formatNumber(number)} ${number === 1 ? one : more}`;
  const findings =
    withFindings.length > 0 &&
    `: ${formatNumber(sum)} in all${aln ? `, ${formatNumber(onAln)} on ${aln}` : ""}`;
  return `${count(entries, "entry", "entries")}${year ? `, audit year ${year}` : ", newest reports"}: ${formatNumber(found)} with a public report,
  ${formatNumber(entries - found - mistyped)} with nothing public found${mistyped > 0 ? `, ${formatNumber(mistyped)} mistyped` : ""}. Of these reports,
  ${have(notClean, "is not clean", "are not clean")}, and ${have(withFindings.length, "has findings", "have findings")}${findings || ""}.`;
}

/** Each report once, in the order of the list. */
const listReports = (checked: CheckedEntry[]) => [
  ...new Map(
    checked.flatMap(({ report }) => (report === undefined ? [] : [[report.report_id, report] as const])),
  ).values(),
];

function writeUnread({ unread }: List): Content {
  const shown = unread.slice(0, 20);
  const more = unread.length - shown.length;
  return (
    unread.length > 0 &&
    html`<div class="notice"><p>Not understood (${formatNumber(unread.length)}): ${shown.map(
      (entry, index) => html`${index > 0 && ", "}“${entry}”`,
    )}${more > 0 && ` and ${formatNumber(more)} more`}. Check the spelling, or search for a name instead.</p></div>`
  );
}

/** What was pasted several times counts once. */
function writeRepeated({ repeated }: List): Content {
  const named = [...new Set(repeated)];
  const more = named.length - 20;
  return (
    named.length > 0 &&
    html`<p class="notice">${capitalize(count(repeated.length, "entry", "entries"))} ${repeated.length === 1 ? "repeats" : "repeat"}
  another and ${repeated.length === 1 ? "counts" : "count"} once: ${named.slice(0, 20).join(", ")}${more > 0 && ` and ${formatNumber(more)} more`}.</p>`
  );
}

/** The most management decisions on a page. */
const mostDecisions = 200;

/** The management decisions on all reports that were found, also on older ones. */
function writeDecisions(result: CheckResult): Content {
  const { decisions, shownDecisions, due, sort, path, today, wanted } = result;
  if (decisions.length === 0) return false;
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
      writeDueDate(decision.due, today),
      html`<a href="/record/${decision.report_id}">${decision.auditee_name || decision.report_id}</a>`,
      decision.audit_year,
      formatNumber(decision.findings),
    ],
  }));
  const left = shownDecisions.length - rows.length;
  const name = "Management decisions";
  return html`<section aria-labelledby="due"><h2 id="due">${name}</h2>
<nav class="printed" aria-label="Which management decisions"><ul class="choices">${Object.entries(
    dueFilters,
  ).map(([filter, words]) => {
    const text = `${words} (${formatNumber(filterDecisions(decisions, filter as DueFilter, today).length)})`;
    const isShown = filter === due;
    const current = isShown && html` aria-current="true"`;
    return html`<li>${path ? html`<a href="${changePath(path, { due: filter })}#due"${current}>${text}</a>` : writeButton(text, "/check#due", "due", filter, "link", current)}</li>`;
  })}</ul></nav>
<p>${describeDecisions(result)}</p>
${rows.length > 0 && scroll(name, table(name, headings, rows))}
${left > 0 && html`<p>${formatNumber(left)} more are in the CSV file.</p>`}
<p class="hint">A decision is due six months after the Federal Audit Clearinghouse accepted the report. The clearinghouse does not say which decisions were issued.</p>
</section>`;
}

const writeDate = (date: Date): string => formatDay(writeUtcDate(date));

/** Which decisions are listed, on which reports, and when. */
function describeDecisions({
  decisions,
  shownDecisions,
  due,
  today,
  wanted: { year, aln },
}: CheckResult): Html {
  return html`${dueFilters[due]}: ${shownDecisions.length === 0 ? "none" : formatNumber(shownDecisions.length)} of
  ${count(decisions.length, "decision")}, as of ${writeDate(today)}. Decisions are due on every report of these auditees
  with findings${aln && ` on ${aln}`}, ${year ? `for audit year ${year}` : "in all years"}. <a href="#rows">The list</a> below has only
  ${year ? "one report" : "the newest report"} of each entry.`;
}

/** The path of a check with another choice. */
function changePath(path: string, choice: Record<string, string>): string {
  const [first = "", ...others] = path.split("&");
  const parameters = new URLSearchParams({
    ...Object.fromEntries(new URLSearchParams(others.join("&"))),
    ...choice,
  });
  return `${first}&${parameters}`;
}

/** A date on which a decision is due, marked if it is past or near. */
function writeDueDate(due: string, today: Date): Html {
  const state = judgeDue(due, today);
  return html`<time class="unbroken" datetime="${due}">${due}</time>${
    state !== "due later" &&
    html` <span class="badges"><span${state === "past due" && html` class="grave"`}>${state}</span></span>`
  }`;
}

function writeRows({ checked, today, wanted: { aln } }: CheckResult): Html {
  const headings = [
    "Auditee",
    "Filed",
    "Result",
    { text: "Findings", isNumber: true },
    ...(aln ? [{ text: `On ${aln}`, isNumber: true }] : []),
    ...["Material weaknesses", "Repeat", "With questioned costs"].map((text) => ({
      text: aln ? `${text} on ${aln}` : text,
      isNumber: true,
    })),
    "Management decision due",
  ];
  const rows = checked.map((entry) => ({ cells: writeCells(entry, aln !== undefined, today) }));
  return html`<h2 id="rows">The list</h2>${scroll("The list", table("The list", headings, rows))}`;
}

function writeCells(line: CheckedEntry, hasAln: boolean, today: Date): Content[] {
  const { typed, kind, report } = line;
  const id = kind === undefined ? typed : line.id;
  const entry = html`<span class="hint">${typed}${typed.toUpperCase() !== id && typed.replace("-", "") !== id && kind && `, read as the EIN ${id}`}</span>`;
  if (report === undefined) return [entry, describeAnswer(line), ...Array<string>(hasAln ? 7 : 6).fill("–")];
  const number = (value: number | null) => formatNumber(value ?? 0);
  const others = report.reports - 1;
  const { isClean, opinions } = judge(report);
  return [
    html`<a href="/record/${report.report_id}">${report.auditee_name || report.report_id}</a>
  <span class="hint">${[report.auditee_city, report.auditee_state].filter(Boolean).join(", ")}</span> ${entry}
  ${!report.is_own && html`<span class="hint">as an additional ${kind}</span>`}`,
    html`<span class="unbroken">${report.fac_accepted_date ?? "date not stated"}</span>
  <span class="hint">audit year ${report.audit_year}${others > 0 && html`; <a href="/auditee/${id}">${count(others, "other report")}</a>`}</span>`,
    [nameVerdict(isClean), html` <span class="hint">${opinions}</span>`],
    number(report.findings),
    ...(hasAln ? [number(report.findings_on_aln)] : []),
    number(report.material_weaknesses),
    number(report.repeat_findings),
    number(report.questioned_costs),
    report.management_decision_due === null ? "–" : writeDueDate(report.management_decision_due, today),
  ];
}

/** The list again, for buttons, if it is too long for an address. They come after this form, so that their choices count. */
const writeAgain = ({
  typed,
  wanted,
}: CheckResult): Html => html`<form id="again" action="/check" method="post">
<input type="hidden" name="u" value="${typed.list}"><input type="hidden" name="year" value="${wanted.year ?? ""}"><input type="hidden" name="aln" value="${wanted.aln ?? ""}"><input type="hidden" name="due" value="${typed.due}"><input type="hidden" name="sort" value="${typed.sort}"></form>`;

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

/** Requests whose addresses every proxy accepts. */
const idsInRequest = 200;

function writeSource(context: PageContext, result: CheckResult): Content {
  const {
    list,
    checked,
    decisions,
    path,
    wanted: { year, aln },
  } = result;
  const ids = listReports(checked).map(({ report_id: id }) => id);
  const parts = Array.from({ length: Math.ceil(ids.length / idsInRequest) }, (_, part) =>
    ids.slice(part * idsInRequest, (part + 1) * idsInRequest),
  );
  const of = (part: number) => (parts.length > 1 ? `, part ${part + 1} of ${parts.length}` : "");
  const rows = parts.flatMap((listed, part) => {
    const filters = [{ column: "report_id", operator: "in" as const, value: listed.join("\n") }];
    return [
      { name: `Reports${of(part)}`, query: { ...emptyQuery, filters, limit: idsInRequest } },
      ...writeFindingsQueries(aln === undefined ? {} : aln.includes(".") ? { aln } : { agency: aln }).map(
        ({ query }) => ({
          name: `Their findings${aln ? ` on ${aln}` : ""}${of(part)}`,
          query: { ...query, filters, limit: largestLimit },
        }),
      ),
    ];
  });
  const csv = path?.replace("/check?", "/check.csv?");
  const [first, ...others] = rows;
  return writeExtract(context, {
    title: `Check of ${count(list.entries.length, "entry", "entries")}${year ? `, audit year ${year}` : ""}${aln ? `, ${aln}` : ""}`,
    path,
    changes: readChanges(result),
    rows:
      first === undefined
        ? []
        : [
            { ...first, ...(csv !== undefined && { csv }) },
            ...others,
            ...(csv !== undefined && decisions.length > 0
              ? [{ name: "Management decisions", csv: `${csv}&rows=decisions` }]
              : []),
          ],
  });
}
