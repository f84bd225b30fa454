import { count } from "../finding-words.ts";
import {
  type FindingsOfGroup,
  mostInFile,
  type NamedPrograms,
  type RelatedPrograms,
} from "../findings/find-findings.ts";
import {
  describeValue,
  type FindingCriteria,
  linkFindings,
  linkTogether,
} from "../findings/read-criteria.ts";
import { writeFindingsQueries } from "../findings/write-query.ts";
import { formatMoney, formatNumber } from "../format.ts";
import { type Content, type Html, html } from "../html.ts";
import { agencies, states } from "../names.ts";
import type { PageContext } from "../page-context.ts";
import { emptyQuery } from "../query.ts";
import { cut } from "../search/words.ts";
import { notCounted } from "../totals.ts";
import { writeExtra } from "../write-target.ts";
import { writeRelatedPrograms } from "./awards.ts";
import { drawBar, writeSvg } from "./charts.ts";
import { writeExtract } from "./extract.ts";
import { readChanges } from "./findings.ts";
import { type Counted, chartGroup, describeSource, writeCounted } from "./group-charts.ts";
import { scroll, table, writeDocument } from "./layout.ts";
import { writeNotFound } from "./problem.ts";
import { writeProgramsOfAgency } from "./program-years.ts";

/** What a page is about: a program, an agency or a state. */
export interface Group {
  kind: "program" | "agency" | "state";
  value: string;
  criteria: FindingCriteria;
}

const tables = {
  program: ["totals_by_program", "aln"],
  agency: ["totals_by_agency", "federal_agency_prefix"],
  state: ["totals_by_state", "auditee_state"],
} as const;

/** What readers call a group: "93.778 Medical Assistance Program". */
function nameGroup({ kind, value }: Group, name: string | null): string {
  if (kind === "state") return states[value] ?? value;
  return `${value} ${(kind === "agency" ? agencies[value] : name) ?? ""}`.trim();
}

type ChartName = keyof ReturnType<typeof chartGroup>;

/** A chart of a program, an agency or a state as a file. Undefined if there is none with this name. */
export function writeGroupChart(
  context: PageContext,
  group: Group,
  found: FindingsOfGroup,
  name: string,
): string | undefined {
  const charts: Record<string, Counted> = chartGroup(found, `, ${nameGroup(group, found.name)}`);
  const chart = Object.hasOwn(charts, name) ? charts[name] : undefined;
  if (chart === undefined || (group.kind === "state" && name === "states")) return undefined;
  return writeSvg(chart.chart, describeSource(context, chart, `/${group.kind}/${group.value}`));
}

/** The page of a program, an agency or a state: charts, and under each the table with its numbers. */
export function writeGroup(context: PageContext, group: Group, found: FindingsOfGroup): string {
  const title = nameGroup(group, found.name);
  const sum = (name: "findings" | "amount_expended") =>
    found.years.reduce((total, year) => total + year[name], 0);
  const charts = chartGroup(found);
  const draw = (name: ChartName) =>
    writeCounted(context, charts[name], `/${group.kind}/${group.value}/${name}.svg`);
  return writeDocument(context, {
    title,
    description: `Federal awards expended and audit findings of ${title}, by year.`,
    feed: readChanges(group.criteria)?.search,
    body: html`<div class="wrap page">
<h1>${title}</h1>
<p class="lead">Public reports state ${formatMoney(sum("amount_expended"))} expended and
  <a href="${linkFindings(group.criteria)}">${count(sum("findings"), "finding")}</a>${writeSpan(found)}.
  See the <a href="/search?q=${encodeURIComponent(group.value)}">reports</a>.</p>
${writeRelatedPrograms(found.related, linkToGroup, { together: linkTogether(group.criteria) })}
${writeYears(group, found, draw)}
${found.programs && writeProgramsOfAgency(group.value, found.programs)}
${writeRequirements(group, found)}
${group.kind !== "state" && writeStates(group, found, draw)}
${writeAuditees(group, found)}
${writeSource(context, group, title)}
</div>`,
  });
}

function writeSpan({ years }: FindingsOfGroup): string {
  const [first, last] = [years[0]?.audit_year, years.at(-1)?.audit_year];
  return first === last ? `, in audit year ${first}` : `, in audit years ${first} to ${last}`;
}

/** The page for a number or a state that no public report has. */
export function writeUnknownGroup(
  context: PageContext,
  { kind, value }: Group,
  {
    related,
    programs = [],
    similar = [],
  }: {
    related?: RelatedPrograms | null | undefined;
    /** For a name, the programs that have it, or else those with similar names. */
    programs?: NamedPrograms;
    similar?: NamedPrograms;
  } = {},
): string {
  const title = `No public report has this ${kind}`;
  const named = [...programs, ...similar].map(
    ({ aln, federal_program_name: name }) => html`<li><a href="${linkToGroup(aln)}">${aln} ${name}</a></li>`,
  );
  return writeNotFound(
    context,
    title,
    html`<p>No public award or finding has the ${kind} “${cut(value, 60)}”. Look for it in the
  <a href="/totals#${kind}">totals</a>, or <a href="/search">search</a> for its name.</p>${
    named.length > 0 &&
    html`<nav aria-label="Programs"><p>Did you mean a program with ${programs.length > 0 ? "this" : "a similar"} name?</p><ul>${named}</ul></nav>`
  }${writeRelatedPrograms(related, linkToGroup)}`,
  );
}

const linkToGroup = (aln: string): string => `/program/${aln}`;

const section = (id: string, heading: string, body: Content): Html =>
  html`<section aria-labelledby="${id}"><h2 id="${id}">${heading}</h2>${body}</section>`;

const number = (text: string) => ({ text, isNumber: true });

type Draw = (name: ChartName) => Html;

function writeYears({ criteria }: Group, { years }: FindingsOfGroup, draw: Draw): Html {
  const rows = years.map((year) => ({
    cells: [
      year.audit_year,
      formatMoney(year.amount_expended),
      year.findings === 0
        ? "0"
        : html`<a href="${linkFindings({ ...criteria, year: year.audit_year })}">${formatNumber(year.findings)}</a>`,
      formatNumber(year.material_weaknesses),
    ],
  }));
  const headings = ["Audit year", number("Expended"), number("Findings"), number("Material weaknesses")];
  return section(
    "years",
    "By audit year",
    html`<div class="charts">${draw("expended")}${draw("findings")}</div>
${scroll("Numbers by audit year", table("Expended and findings by audit year", headings, rows))}
<p class="hint">${notCounted}</p>`,
  );
}

function writeRequirements(
  { kind, value, criteria }: Group,
  { requirements, without_requirement: others }: FindingsOfGroup,
): Html {
  const most = requirements[0]?.findings ?? 1;
  const rows = requirements.map(({ letter, findings }) => ({
    cells: [
      html`<a href="${linkFindings({ ...criteria, requirement: letter })}">${describeValue("requirement", letter)}</a>`,
      [formatNumber(findings), drawBar(findings / most)],
    ],
  }));
  const list = scroll(
    "Findings by requirement",
    table("Findings by requirement", ["Requirement", number("Findings")], rows),
  );
  return section(
    "requirements",
    "Findings by requirement",
    html`${rows.length > 0 && [html`<p>A finding counts for each requirement that it concerns. <a class="only-screen" href="/${kind}/${value}/requirements.svg">Chart of findings by requirement as SVG</a></p>`, list]}
${others > 0 && html`<p>For ${count(others, "finding")}, the requirement is not stated.</p>`}
${rows.length === 0 && others === 0 && html`<p>No findings.</p>`}`,
  );
}

function writeStates({ criteria }: Group, found: FindingsOfGroup, draw: Draw): Content {
  const rows = found.states.map(({ auditee_state: state, findings }) => ({
    cells: [
      html`<a href="${linkFindings({ ...criteria, state })}">${states[state] ?? state}</a>`,
      formatNumber(findings),
    ],
  }));
  if (rows.length === 0) return false;
  return section(
    "states",
    "Findings by state of the auditee",
    html`<div class="map">${draw("states")}</div>
<details><summary>The numbers as a table</summary>${scroll("Findings by state", table("Findings by state", ["State", number("Findings")], rows))}</details>`,
  );
}

function writeAuditees({ criteria }: Group, { auditees }: FindingsOfGroup): Content {
  const rows = auditees.map((auditee) => ({
    cells: [
      html`<a href="/auditee/${auditee.auditee_uei}">${auditee.auditee_name || "not stated"}</a>
        <span class="hint">${[auditee.auditee_city, auditee.auditee_state].filter(Boolean).join(", ")}</span>`,
      formatNumber(auditee.findings),
      formatNumber(auditee.material_weaknesses),
      formatNumber(auditee.repeat_findings),
      auditee.newest,
    ],
  }));
  const headings = [
    "Auditee",
    number("Findings"),
    number("Material weaknesses"),
    number("Repeat"),
    "Newest report with findings",
  ];
  return (
    rows.length > 0 &&
    section(
      "auditees",
      "Auditees with the most findings",
      html`<p>Counts all years, and only auditees with a UEI. See <a href="${linkFindings(criteria)}">all findings</a>.</p>
${scroll("Auditees", table("Auditees with the most findings", headings, rows))}`,
    )
  );
}

function writeSource(context: PageContext, { kind, value, criteria }: Group, title: string): Html {
  const [name, column] = tables[kind];

  const extra = writeExtra([[column, `eq.${value}`]]);
  return writeExtract(context, {
    title,
    path: `/${kind}/${value}`,
    changes: readChanges(criteria),
    rows: [
      {
        name: "Totals by year",
        csv: `/${kind}/${value}.csv`,
        query: { ...emptyQuery, table: name, extra, order: ["audit_year"] },
      },
      {
        name: `The newest ${formatNumber(mostInFile)} findings`,
        csv: linkFindings(criteria, 1, "/findings.csv"),
      },
      ...writeFindingsQueries(criteria),
    ],
  });
}
