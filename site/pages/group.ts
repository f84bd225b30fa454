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

/** What a page is about: a program, also in one state, an agency or a state. */
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

/** What readers call a group: "93.778 Medical Assistance Program in Texas". */
function nameGroup({ kind, value, criteria: { state } }: Group, name: string | null): string {
  if (kind === "state") return states[value] ?? value;
  const place = state === undefined ? "" : ` in ${states[state]}`;
  return `${value} ${(kind === "agency" ? agencies[value] : name) ?? ""}`.trim() + place;
}

/** Whether the group is a program in one state. */
export const isInState = ({ kind, criteria }: Group): boolean =>
  kind === "program" && criteria.state !== undefined;

/** The address of a group's page, or with a suffix of one of its files. */
export const linkToGroup = (group: Group, suffix: "" | ".csv" | `/${string}.svg` = ""): string =>
  `/${group.kind}/${group.value}${suffix}${isInState(group) ? `?state=${group.criteria.state}` : ""}`;

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
  if (chart === undefined || (group.criteria.state !== undefined && name === "states")) return undefined;
  return writeSvg(chart.chart, describeSource(context, chart, linkToGroup(group)));
}

/** The page of a program, an agency or a state: charts, and under each the table with its numbers. */
export function writeGroup(context: PageContext, group: Group, found: FindingsOfGroup): string {
  const title = nameGroup(group, found.name);
  const sum = (name: "findings" | "amount_expended") =>
    found.years.reduce((total, year) => total + year[name], 0);
  const charts = chartGroup(found);
  const draw = (name: ChartName) => writeCounted(context, charts[name], linkToGroup(group, `/${name}.svg`));
  return writeDocument(context, {
    title,
    description: `Federal awards expended and audit findings of ${title}, by year.`,
    feed: readChanges(group.criteria)?.search,
    body: html`<div class="wrap page">
<h1>${title}</h1>
<p class="lead">Public reports state ${formatMoney(sum("amount_expended"))} expended and
  <a href="${linkFindings(group.criteria)}">${count(sum("findings"), "finding")}</a>${writeSpan(found)}.
  See the <a href="${linkToReports(group)}">reports</a>${isInState(group) && html`, or the program in <a href="/program/${group.value}">all states</a>`}.</p>
${writeRelatedPrograms(found.related, linkToProgram, { together: linkTogether(group.criteria) })}
${writeYears(group, found, draw)}
${found.programs && writeProgramsOfAgency(group.value, found.programs)}
${writeRequirements(group, found)}
${group.criteria.state === undefined && writeStates(group, found, draw)}
${writeAuditees(group, found)}
${writeSource(context, group, title)}
</div>`,
  });
}

const linkToReports = (group: Group): string =>
  `/search?q=${encodeURIComponent(group.value)}${isInState(group) ? `&state=${group.criteria.state}` : ""}`;

function writeSpan({ years }: FindingsOfGroup): string {
  const [first, last] = [years[0]?.audit_year, years.at(-1)?.audit_year];
  return first === last ? `, in audit year ${first}` : `, in audit years ${first} to ${last}`;
}

/** The page for a number or a state that no public report has. */
export function writeUnknownGroup(
  context: PageContext,
  group: Group,
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
  const { kind, value } = group;
  const title = `No public report has this ${kind}`;
  const named = [...programs, ...similar].map(
    ({ aln, federal_program_name: name }) =>
      html`<li><a href="${linkToGroup({ ...group, value: aln })}">${aln} ${name}</a></li>`,
  );
  return writeNotFound(
    context,
    title,
    html`<p>${named.length === 0 && `No public award or finding has the ${kind} “${cut(value, 60)}”. `}Look for it in the
  <a href="/totals#${kind}">totals</a>, or <a href="/search">search</a> for its name.</p>${
    named.length > 0 &&
    html`<nav aria-label="Programs"><p>Did you mean a program with ${programs.length > 0 ? "this" : "a similar"} name?</p><ul>${named}</ul></nav>`
  }${writeRelatedPrograms(related, linkToProgram)}`,
  );
}

/** The page for a program that no public report of a state has, or for what is not a state. */
export function writeNotInState(
  context: PageContext,
  { value, criteria: { state } }: Group,
  typedState: string,
): string {
  const title =
    state === undefined
      ? `“${cut(typedState, 60)}” is not a state`
      : `No public report from ${states[state]} has program ${value}`;
  return writeNotFound(
    context,
    title,
    html`<p>See the program in <a href="${linkToProgram(value)}">all states</a>.</p>`,
  );
}

const linkToProgram = (aln: string): string => `/program/${aln}`;

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
  group: Group,
  { requirements, without_requirement: others }: FindingsOfGroup,
): Html {
  const { criteria } = group;
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
    html`${rows.length > 0 && [html`<p>A finding counts for each requirement that it concerns. <a class="only-screen" href="${linkToGroup(group, "/requirements.svg")}">Chart of findings by requirement as SVG</a></p>`, list]}
${others > 0 && html`<p>For ${count(others, "finding")}, the requirement is not stated.</p>`}
${rows.length === 0 && others === 0 && html`<p>No findings.</p>`}`,
  );
}

function writeStates(group: Group, found: FindingsOfGroup, draw: Draw): Content {
  const { criteria } = group;
  const isOfProgram = group.kind === "program";
  const rows = found.states.map(({ auditee_state: state, amount_expended: amount, findings }) => {
    const name = states[state] ?? state;
    const ofState = { ...criteria, state };
    const counted = formatNumber(findings);
    return {
      cells: isOfProgram
        ? [
            state in states
              ? html`<a href="${linkToGroup({ ...group, criteria: ofState })}">${name}</a>`
              : name,
            formatMoney(amount ?? 0),
            findings === 0 ? "0" : html`<a href="${linkFindings(ofState)}">${counted}</a>`,
          ]
        : [html`<a href="${linkFindings(ofState)}">${name}</a>`, counted],
    };
  });
  if (rows.length === 0) return false;
  const headings = ["State", ...(isOfProgram ? [number("Expended")] : []), number("Findings")];
  const title = isOfProgram
    ? "Expended and findings by state of the auditee"
    : "Findings by state of the auditee";
  return section(
    "states",
    title,
    html`<div class="map">${draw("states")}</div>
<details><summary>${isOfProgram ? "Amounts expended and findings by state" : "The numbers as a table"}</summary>${scroll("Numbers by state", table(title, headings, rows))}</details>`,
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

function writeSource(context: PageContext, group: Group, title: string): Html {
  const { kind, value, criteria } = group;
  const [name, column] = tables[kind];
  const isOfState = isInState(group);
  const filters: [string, string][] = [[column, `eq.${value}`]];
  if (isOfState) filters.push(["auditee_state", `eq.${criteria.state}`]);
  return writeExtract(context, {
    title,
    path: linkToGroup(group),
    changes: readChanges(criteria),
    rows: [
      {
        name: "Totals by year",
        csv: linkToGroup(group, ".csv"),
        query: {
          ...emptyQuery,
          table: isOfState ? "totals_by_program_and_state" : name,
          extra: writeExtra(filters),
          order: ["audit_year"],
        },
      },
      ...(kind === "program" && !isOfState
        ? [
            {
              name: "Totals by year and state",
              query: {
                ...emptyQuery,
                table: "totals_by_program_and_state",
                extra: writeExtra(filters),
                order: ["audit_year", "auditee_state"],
              },
            },
          ]
        : []),
      {
        name: `The newest ${formatNumber(mostInFile)} findings`,
        csv: linkFindings(criteria, 1, "/findings.csv"),
      },
      ...writeFindingsQueries(criteria),
    ],
  });
}
