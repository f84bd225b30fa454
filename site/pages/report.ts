import { joinAln } from "../aln.ts";
import type { Column, Table } from "../api-description.ts";
import { isEin, isReportId, isUei } from "../check/read-list.ts";
import { describeOpinion, entityTypes } from "../finding-words.ts";
import { linkFindings } from "../findings/read-criteria.ts";
import { capitalize, formatDay, formatMoney, formatNumber, nameYear, writeEasternDate } from "../format.ts";
import { formatValue } from "../format-value.ts";
import { type Content, type Html, html } from "../html.ts";
import type { PageContext } from "../page-context.ts";
import { emptyQuery, largestLimit } from "../query.ts";
import type { Report, ShownReport } from "../report.ts";
import { cut } from "../search/words.ts";
import { writeQuery } from "../search/write-query.ts";
import { type Successor, writeReplaced } from "../successors.ts";
import { chooseShown, findColumn, isNarrative, orderColumns } from "../table-facts.ts";
import {
  cleanNote,
  explainDecisions,
  explainVerdict,
  isClean,
  nameVerdict,
  writeDueBadge,
} from "../verdict.ts";
import { linkToExplorer } from "../write-target.ts";
import { writeAwards } from "./awards.ts";
import { writeExtract } from "./extract.ts";
import { linkToPdf, writeFindings } from "./findings-list.ts";
import { printedLink, scroll, table, writeDocument } from "./layout.ts";
import { writeNotFound } from "./problem.ts";

type Row = Record<string, unknown>;

/** The page of a public report: whether it is clean, its findings beside their plans, then its other rows. */
export function writeReport(context: PageContext, asked: Omit<ShownReport, "appUrl">): string {
  const shown = { ...asked, appUrl: context.appUrl };
  const { reportId, report } = shown;
  const { general } = report;
  const tables = (context.facts?.api[0]?.tables ?? []).filter(({ name }) => report.parts[name] !== undefined);
  const others = tables
    .filter(({ name }) => name !== "federal_awards")
    .sort((one, other) => Number(other.name === "notes_to_sefa") - Number(one.name === "notes_to_sefa"));
  const name = String(general.auditee_name || reportId);
  const counted = { ...report.result, ...report.counts };
  const verdict = isClean(counted);
  const why = explainVerdict(counted);
  const sections = [
    ["findings", "Findings", report.counts.findings],
    ...tables.map((part) => [part.name, part.title, report.parts[part.name]?.total ?? 0] as const),
  ] as const;
  return writeDocument(context, {
    title: `${name}, ${nameYear(general.audit_year)}`,
    description: `The federal single audit of ${name}: ${why}.`,
    body: html`<div class="wrap page">
<h1>${linkAuditee(general, name)}</h1>
<p class="verdict${verdict === false && " verdict--found"}">${verdict !== undefined && html`<strong>${nameVerdict(verdict)}:</strong> `}${why}.</p>
${verdict !== undefined && html`<p class="hint">${cleanNote}</p>`}
${writeFacts(report)}
${writeOtherYears(report)}
<p class="row only-screen"><a class="button" href="${linkToPdf(reportId)}">PDF of the report</a></p>
${writeAddresses(shown)}
<nav class="only-screen" aria-label="Parts of the report"><ul class="toc">${sections.map(
      ([id, title, total]) => html`<li><a href="#${id}">${title}</a> (${formatNumber(total)})</li>`,
    )}<li><a href="#extract">CSV, API and citation</a></li></ul></nav>
${writeFindings(shown)}
${writeAwards(shown)}
${others.map((part) => writePart(part, shown))}
${writeGeneral(context, general)}
${writeReportExtract(context, reportId, {
  name,
  year: general.audit_year,
  tables: [...(report.counts.findings > 0 ? findingTables : []), ...tables.map((part) => part.name)],
})}
</div>`,
  });
}

/** The page for a report that the public cannot see. */
export function writeUnknownReport(
  context: PageContext,
  reportId: string,
  successor: Successor | undefined,
): string {
  const title = successor ? "This report was replaced" : "No public report has this ID";
  return writeNotFound(context, title, adviseOnReport(context, reportId, successor));
}

/**
 * Says which report replaced one, or what may be wrong with an ID that no public report has. A suppressed report is like one that
 * does not exist.
 */
export function adviseOnReport(
  { facts }: PageContext,
  reportId: string,
  successor: Successor | undefined,
): Html {
  if (successor !== undefined) return html`<p>${writeReplaced(successor)}</p>`;
  const schema = facts?.api[0]?.schema ?? "";
  const explorer = linkToExplorer(schema, writeQuery({ report_ids: [reportId] }), true);
  if (!isReportId(reportId.toUpperCase()))
    return html`<p><code class="id">${cut(reportId, 60)}</code> is not a report ID. A report ID is a year, a month, a source and ten digits, such as
  <code class="id">2023-06-GSAFAC-0000000001</code>.</p>`;
  return html`<p>The report <code class="id">${reportId}</code> is suppressed, was resubmitted, or does not exist: check the digits. If you have a
  Tribal key, <a href="${explorer}">open it in the explorer</a>, and enter the key there. If it was resubmitted, search for the auditee’s name, UEI or EIN
  to find the newest report.</p>`;
}

/** The path of an auditee's page. Older reports have no UEI. */
export function linkToAuditee({ auditee_uei: uei, auditee_ein: ein }: Row): string | undefined {
  if (isUei(String(uei))) return `/auditee/${uei}`;
  return isEin(String(ein)) ? `/auditee/${ein}` : undefined;
}

/** The path of an auditor's reports. */
export function linkToAuditor({ auditor_ein: ein, auditor_firm_name: name }: Row): string | undefined {
  const searched = isEin(String(ein)) ? String(ein) : String(name ?? "");
  return searched === "" ? undefined : `/search?${new URLSearchParams({ q: searched })}`;
}

const linkTo = (path: string | undefined, text: Content): Content =>
  path === undefined ? text : html`<a href="${path}">${text}</a>`;
const linkAuditee = (general: Row, name: string) => linkTo(linkToAuditee(general), name);

function writeFacts(report: Report): Html {
  const { general } = report;
  const day = (column: string) => general[column] && formatDay(String(general[column]));
  const expended = general.total_amount_expended;
  const place = [general.auditee_city, general.auditee_state].filter(Boolean).join(", ");
  const entries: [string, Content][] = [
    ["Audit year", String(general.audit_year ?? "")],
    ["Fiscal year", [day("fy_start_date"), day("fy_end_date")].filter(Boolean).join(" to ")],
    ["Federal awards expended", typeof expended === "number" && formatMoney(expended)],
    ["Opinion on the financial statements", describeOpinion(report.result)],
    ["Auditee", [entityTypes[String(general.entity_type)], place].filter(Boolean).join(", ")],
    ["UEI", isUei(String(general.auditee_uei)) && writeId(general.auditee_uei)],
    ["EIN", isEin(String(general.auditee_ein)) && writeId(general.auditee_ein)],
    ["Auditor", linkTo(linkToAuditor(general), String(general.auditor_firm_name ?? ""))],
    ["Accepted", [String(day("fac_accepted_date") || "not stated"), describeResubmission(report)]],
    ["Management decision due", describeDecision(report)],
    ["Report ID", writeId(general.report_id)],
  ];
  return html`<dl class="facts">${entries.map(
    ([term, value]) => value && html`<div><dt>${term}</dt><dd>${value}</dd></div>`,
  )}</dl>`;
}

/** " (resubmitted: version 2, replaces 2023-06-GSAFAC-0000000001)" */
function describeResubmission({ general, replaced }: Report): Content {
  const { resubmission_version: version } = general;
  const id = replaced?.report_id;
  return (
    Number(version) > 1 &&
    html` (resubmitted: version ${String(version)}${id !== undefined && html`, replaces <a href="/record/${id}">${id}</a>`})`
  );
}

const writeId = (id: unknown): Html => html`<code class="id">${String(id)}</code>`;

/** When the management decision on the findings is due. */
function describeDecision({ counts, management_decision_due: due }: Report): Content {
  if (counts.findings === 0) return false;
  if (due === null) return "not known, because the report does not state when it was accepted";
  const today = writeEasternDate(new Date());
  return html`${formatDay(due)}${writeDueBadge(due, today)} <span class="hint">${capitalize(explainDecisions(today))}</span>`;
}

/** Where paper leads. */
function writeAddresses({ appUrl, reportId, report }: ShownReport): Html {
  const auditee = linkToAuditee(report.general);
  const address = (name: string, path: string) =>
    html`<li>${name}: <span class="address">${appUrl}${path}</span></li>`;
  return html`<ul class="print-only">${address("PDF of the report", linkToPdf(reportId))}${
    auditee !== undefined && address("All years of this auditee", auditee)
  }</ul>`;
}

function writeOtherYears({ general, other_reports: others }: Report): Content {
  const all = linkToAuditee(general);
  const years = [general.audit_year, ...others.map(({ audit_year: year }) => year)];
  const isAlone = (year: string | null) => years.filter((each) => each === year).length === 1;
  const links = others.map(
    ({ report_id: id, audit_year: year }) =>
      html`<li><a href="/record/${id}">${year ?? id}${year !== null && !isAlone(year) && `: ${id}`}</a></li>`,
  );
  return (
    (links.length > 0 || all !== undefined) &&
    html`<nav class="only-screen" aria-label="Other years"><ul class="choices">${links.length > 0 && html`<li>Other years:</li>`}${links}${
      all !== undefined &&
      html`<li><a href="${all}">All years of this auditee</a></li>
  <li><a href="${linkFindings({ auditee: all.replace("/auditee/", "") })}">Its findings in all years</a></li>`
    }</ul></nav>`
  );
}

/** Columns that have the same value in all rows of a report, and those that say nothing about it. */
const left = new Set(["report_id", "auditee_uei", "audit_year", "fac_accepted_date", "row_number"]);

function writePart(part: Table, { appUrl, reportId, report }: ShownReport): Html {
  const { total = 0, rows = [] } = report.parts[part.name] ?? {};
  const joined = rows.map(joinAln);
  const names = [...new Set(joined.flatMap(Object.keys))].filter((name) => !left.has(name));
  const shown = chooseShown(part.name, names);
  return html`<section aria-labelledby="${part.name}"><h2 id="${part.name}">${part.title} (${formatNumber(total)})</h2>
${rows.length < total && html`<p>The first ${formatNumber(rows.length)} rows. ${printedLink(appUrl, `/record/${reportId}/${part.name}.csv`, "All rows as CSV")}</p>`}
${isNarrative(part) ? joined.map((row) => writeValues(part, row, shown)) : writeTable(part, joined, shown)}
</section>`;
}

/** All that the report states, contacts last. */
function writeGeneral({ facts }: PageContext, general: Row): Content {
  const part = facts?.api[0]?.tables.find(({ name }) => name === "general");
  return (
    part &&
    html`<section aria-labelledby="general"><h2 id="general">All facts and contacts</h2>
${writeValues(
  part,
  general,
  orderColumns(part.columns.map(({ name }) => name)).filter((name) => (general[name] ?? "") !== ""),
)}</section>`
  );
}

const listColumns = (part: Table, names: string[]): Column[] =>
  names.map((name) => findColumn(part, name)).filter((column) => column !== undefined);

function writeValues(part: Table, row: Row, names: string[]): Html {
  return html`<dl class="values">${listColumns(part, names).map(
    ({ name, label, words }) =>
      html`<div><dt>${label}</dt><dd>${formatValue(name, row[name], words)}</dd></div>`,
  )}</dl>`;
}

function writeTable(part: Table, rows: Row[], names: string[]): Html {
  const columns = listColumns(part, names);
  const headings = columns.map(({ name, label }) => ({
    text: label,
    isNumber: typeof rows[0]?.[name] === "number",
  }));
  const cells = rows.map((row) => ({
    cells: columns.map(({ name, words }) => formatValue(name, row[name], words)),
  }));
  return scroll(part.title, table(part.title, headings, cells));
}

const findingTables = ["finding_summaries", "findings_text", "corrective_action_plans"];

function writeReportExtract(
  context: PageContext,
  reportId: string,
  { name, year, tables }: { name: string; year: unknown; tables: string[] },
): Html {
  const described = context.facts?.api[0]?.tables ?? [];
  return writeExtract(context, {
    title: `Single audit of ${name}, ${nameYear(year)}, report ${reportId}`,
    path: `/record/${reportId}`,
    rows: described
      .filter((part) => tables.includes(part.name))
      .map((part) => ({
        name: part.title,
        csv: `/record/${reportId}/${part.name}.csv`,
        query: {
          ...emptyQuery,
          table: part.name,
          filters: [{ column: "report_id", operator: "eq", value: reportId }],
          limit: largestLimit,
        },
      })),
  });
}
