import { formatMoney, formatNumber } from "../format.ts";
import { type Html, html } from "../html.ts";
import { agencies, states } from "../names.ts";
import type { PageContext } from "../page-context.ts";
import { emptyQuery } from "../query.ts";
import { type Measure, measures, type Sums, sumBy, type Totals } from "../totals.ts";
import { linkToExplorer } from "../write-target.ts";
import { scroll, table, writeDocument } from "./layout.ts";

type Sort = Measure | "name";
/** The visitor's choices, in the query string. */
interface Asked {
  year: string | undefined;
  sort: Sort | undefined;
}

/** Submissions, awards, dollars and findings by year, state and agency. Every name links to its rows. */
export function writeTotals(context: PageContext): string {
  const { facts } = context;
  const schema = facts?.api.find(({ tables }) =>
    tables.some(({ name }) => name === "totals_by_state"),
  )?.schema;
  const hasTotals = schema !== undefined && (facts?.totals?.totals_by_state.length ?? 0) > 0;
  return writeDocument(context, {
    path: "/totals",
    title: "Totals",
    description:
      "Federal dollars, awards and findings of all public single audits, by year, state and agency.",
    body: html`<div class="wrap page">
<h1>Totals</h1>
${
  hasTotals && facts?.totals
    ? writeTables(context, facts.totals, schema)
    : html`<p class="notice">There are no totals now. Reload this page in a minute.</p>`
}
</div>`,
  });
}

function writeTables({ asked: parameters, facts }: PageContext, totals: Totals, schema: string): Html {
  const byYear = sumBy(totals.totals_by_state, (row) => row.audit_year);
  const years = [...byYear.keys()].filter(Boolean).sort();
  const asked: Asked = {
    year: years.find((year) => year === parameters.year),
    sort: (["name", ...Object.keys(measures)] as Sort[]).find((sort) => sort === parameters.sort),
  };
  const { year } = asked;
  const when = year === undefined ? "all audit years" : `audit year ${year}`;
  const ofYear = <Row extends { audit_year: string | null }>(rows: Row[]) =>
    rows.filter((row) => year === undefined || row.audit_year === year);
  const explore = (from: string, column: string, value: string, amount: string) => {
    const values = { ...(year && { audit_year: year }), [column]: value };
    const filters = Object.entries(values).map(
      ([column, value]) => ({ column, operator: "eq", value }) as const,
    );
    const order = [`${amount}.desc.nullslast`];
    return linkToExplorer(schema, { ...emptyQuery, table: from, filters, order });
  };
  const byState = sumBy(ofYear(totals.totals_by_state), (row) => row.auditee_state);
  const byAgency = sumBy(ofYear(totals.totals_by_agency), (row) => row.federal_agency_prefix);
  const rows = facts?.data_set?.rows ?? {};
  return html`<p class="lead">All public audits, added up when the data set was published. Choose a name to see its rows,
  or a heading to sort.</p>
<nav aria-label="Audit year"><ul class="choices">
  ${[undefined, ...years].map(
    (each) =>
      html`<li><a href="${linkTo({ ...asked, year: each })}"${each === year && html` aria-current="true"`}>${each ?? "All years"}</a></li>`,
  )}
</ul></nav>
${writeTable("By audit year", "Year", byYear, asked, (name) => [linkTo({ ...asked, year: name }), name])}
${writeTable(`By state of the auditee, ${when}`, "State", byState, asked, (name) => [
  explore("general", "auditee_state", name, "total_amount_expended"),
  `${name} ${states[name] ?? ""}`,
])}
${writeTable(`By federal agency, ${when}`, "Agency", byAgency, asked, (name) => [
  explore("federal_awards", "federal_agency_prefix", name, "amount_expended"),
  `${name} ${agencies[name] ?? ""}`,
])}
<section aria-labelledby="counting"><h2 id="counting">How these are counted</h2>
<ul>
  <li>A finding counts once, even if it concerns several awards. The table <code>findings</code> has a row for each award
    that a finding concerns: ${formatNumber(rows.findings ?? 0)} rows for
    ${formatNumber([...byYear.values()].reduce((sum, { findings }) => sum + findings, 0))} findings. Material weaknesses
    are counted in the same way. By agency, a finding counts once for each agency that it concerns.</li>
  <li>A submission counts once for each agency whose money it reports, so the submissions by agency add up to more than
    the submissions by state.</li>
  <li>If an auditee passes federal money through to another auditee, both expend it, and it counts for both.</li>
  <li>Suppressed and superseded submissions are not counted.</li>
</ul>
<p>The API serves these totals as ${["totals_by_state", "totals_by_agency"].map(
    (name, index) =>
      html`${index > 0 && " and "}<a href="${linkToExplorer(schema, { ...emptyQuery, table: name, limit: 1000 })}"><code>${name}</code></a>`,
  )}.</p></section>`;
}

function linkTo({ year, sort }: Asked): string {
  const parameters = new URLSearchParams({ ...(year && { year }), ...(sort && { sort }) });
  return parameters.size === 0 ? "/totals" : `/totals?${parameters}`;
}

/** @param link returns the URL and the text of a name's link */
function writeTable(
  caption: string,
  heading: string,
  sums: Map<string, Sums>,
  asked: Asked,
  link: (name: string) => [string, string],
): Html {
  const sort = asked.sort ?? (heading === "Year" ? "name" : "amount_expended");
  const measure = sort === "name" ? "amount_expended" : sort;
  const most = Math.max(1, ...[...sums.values()].map((each) => each[measure]));
  const headings = Object.entries({ name: heading, ...measures }).map(([name, text]) => ({
    text,
    isNumber: name !== "name",
    link: linkTo({ ...asked, sort: name as Sort }),
    sorted: sort === name && (name === "name" ? ("ascending" as const) : ("descending" as const)),
  }));
  const sorted = [...sums].sort(([one, a], [other, b]) =>
    sort === "name" ? one.localeCompare(other) : b[sort] - a[sort],
  );
  const rows = sorted.map(([name, each]) => {
    const [url, text] = link(name);
    const numbers = (Object.keys(measures) as Measure[]).map((key) => [
      key === "amount_expended" ? formatMoney(each[key]) : formatNumber(each[key]),
      key === measure && drawBar(each[key] / most),
    ]);
    const first = name === "" ? "not stated" : html`<a href="${url}">${text}</a>`;
    return { isMarked: name !== "" && name === asked.year, cells: [first, ...numbers] };
  });
  const id = heading.toLowerCase();
  return html`<section id="${id}" aria-labelledby="by-${id}"><h2 id="by-${id}">${caption}</h2>
${scroll(caption, table(caption, headings, rows, "wide"))}</section>`;
}

function drawBar(share: number): Html {
  const width = Math.max(0, 100 * share).toFixed(2);
  return html`<svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"
    ><rect width="${width}" height="1"></rect></svg>`;
}
