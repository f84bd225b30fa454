import { alnName, joinAln } from "../aln.ts";
import type { Column, Table } from "../api-description.ts";
import { formatNumber } from "../format.ts";
import { formatValue } from "../format-value.ts";
import { type Html, html } from "../html.ts";
import type { PageContext } from "../page-context.ts";
import type { Report } from "../report.ts";
import { writeQuery } from "../search/write-query.ts";
import { chooseShown, findColumn, findNarrative, joinParts, orderColumns } from "../table-facts.ts";
import { linkToExplorer } from "../write-target.ts";
import { scroll, table, writeDocument } from "./layout.ts";

type Row = Report[string]["rows"][number];

/** The page of a public report: what the explorer shows of it, without JavaScript. */
export function writeReport(context: PageContext, reportId: string, report: Report): string {
  const [row = {}] = report.general?.rows ?? [];
  const [version] = context.facts?.api ?? [];
  const name = String(row.auditee_name ?? reportId);
  const place = [row.auditee_city, row.auditee_state, row.audit_year, reportId];
  const [general, ...others] = version?.tables ?? [];
  const parts = listTables(others).filter((part) => countRows(report, part) > 0);
  const links = parts.map(
    (part) =>
      html`<li><a href="#${part.name}">${part.title}</a> (${formatNumber(countRows(report, part))})</li>`,
  );
  return writeDocument(context, {
    title: name,
    description: `The federal single audit of ${name}: report ${reportId}.`,
    body: html`<div class="wrap page">
<h1>${name}</h1>
<p>${place.filter(Boolean).join(" · ")}</p>
<p><a class="button" href="/dissemination/report/pdf/${reportId}">PDF of the report</a></p>
<p>The <a href="${linkToRecord(version?.schema, reportId)}">explorer</a> has the auditee’s other reports, and saves rows as CSV. It needs
  JavaScript.</p>
<nav aria-label="Parts of the report"><ul class="toc">${links}</ul></nav>
${general && writeValues(general, row, orderColumns(Object.keys(row)))}
${parts.map((part) => writePart(part, report))}
</div>`,
  });
}

/** The page for a report that the public cannot see. */
export function writeUnknownReport(context: PageContext, reportId: string): string {
  const title = "No public report has this ID";
  return writeDocument(context, {
    title,
    description: title,
    body: html`<div class="wrap page">
<p class="hint">Status 404</p>
<h1>${title}</h1>
<p>The report <code class="id">${reportId}</code> is suppressed, was resubmitted, or does not exist. If you have a Tribal key,
  <a href="${linkToRecord(context.facts?.api[0]?.schema, reportId)}">open it in the explorer</a>, and enter the key there.</p>
</div>`,
  });
}

const linkToRecord = (schema = "", reportId: string) =>
  linkToExplorer(schema, writeQuery({ report_ids: [reportId] }), true);

/** What readers of a report look for first. */
const first = ["federal_awards", "findings", "findings_text", "corrective_action_plans"];
const listTables = (tables: Table[]): Table[] => [
  ...tables
    .filter(({ name }) => first.includes(name))
    .sort((a, b) => first.indexOf(a.name) - first.indexOf(b.name)),
  ...tables.filter(({ name }) => !first.includes(name)),
];

const countRows = (report: Report, { name }: Table): number => report[name]?.total ?? 0;

function writePart(part: Table, report: Report): Html {
  const { total = 0, rows = [] } = report[part.name] ?? {};
  const joined = joinParts(part.name === "findings" ? addPrograms(rows, report) : rows.map(joinAln), part);
  const names = [...new Set(joined.flatMap(Object.keys))].filter((name) => !ofReport.has(name));
  const shown = chooseShown(part.name, names);
  return html`<section aria-labelledby="${part.name}"><h2 id="${part.name}">${part.title} (${formatNumber(total)})</h2>
${rows.length < total && html`<p>The first ${formatNumber(rows.length)} rows:</p>`}
${findNarrative(part) ? joined.map((row) => writeValues(part, row, shown)) : writeTable(part, joined, shown)}
</section>`;
}

/** Columns that have the same value in all rows of a report. */
const ofReport = new Set(["report_id", "auditee_uei", "audit_year", "fac_accepted_date"]);

/** Adds the program of each finding's award. */
function addPrograms(rows: Row[], { federal_awards: awards }: Report): Row[] {
  const programs = new Map(awards?.rows.map(joinAln).map((award) => [award.award_reference, award]));
  return rows.map((row) => {
    const award = programs.get(row.award_reference);
    return { ...row, [alnName]: award?.[alnName], federal_program_name: award?.federal_program_name };
  });
}

const listColumns = (part: Table, names: string[]): Column[] =>
  names.map((name) => findColumn(part, name)).filter((column) => column !== undefined);

function writeValues(part: Table, row: Row, names: string[]): Html {
  return html`<dl class="values">${listColumns(part, names).map(
    ({ name, label }) => html`<div><dt>${label}</dt><dd>${formatValue(name, row[name])}</dd></div>`,
  )}</dl>`;
}

function writeTable(part: Table, rows: Row[], names: string[]): Html {
  const columns = listColumns(part, names);
  const headings = columns.map(({ name, label }) => ({
    text: label,
    isNumber: typeof rows[0]?.[name] === "number",
  }));
  const cells = rows.map((row) => ({ cells: columns.map(({ name }) => formatValue(name, row[name])) }));
  return scroll(part.title, table(part.title, headings, cells));
}
