import { count } from "../finding-words.ts";
import type { FindingsOfGroup } from "../findings/find-findings.ts";
import { describeValue } from "../findings/read-criteria.ts";
import { formatDay, formatNumber, writeEasternDate } from "../format.ts";
import { type Html, html } from "../html.ts";
import type { PageContext } from "../page-context.ts";
import { type Chart, chartBars, chartColumns, chartStates, shorten, writeFigure } from "./charts.ts";
import { siteName } from "./layout.ts";

const mostYears = 16;

/** What public reports state for a year. */
export type Year = Pick<
  FindingsOfGroup["years"][number],
  "audit_year" | "submissions" | "awards" | "amount_expended" | "findings"
>;

/** A chart, and the number of reports, awards or findings that it shows. */
export interface Counted {
  chart: Chart;
  behind: string;
}

/** What was expended and found each year. A year without reports has a place too. */
export function chartYears(years: readonly Year[], of = ""): { expended: Counted; findings: Counted } {
  const numbers = years.map((year) => Number(year.audit_year));
  const first = Math.min(...numbers);
  const span = Math.max(...numbers) - first + 1;
  // A mistyped year would make the others too narrow.
  const labels =
    span <= mostYears
      ? Array.from({ length: span }, (_, index) => String(first + index))
      : years.map((year) => year.audit_year);
  const columns = (name: "amount_expended" | "findings", sign = "") =>
    labels.map((label) => {
      const value = years.find((year) => year.audit_year === label)?.[name];
      if (value === undefined) return { label, value: 0, text: "none" };
      return { label, value, text: `${sign}${shorten(value)}` };
    });
  const sum = (name: "submissions" | "awards" | "findings") =>
    years.reduce((total, year) => total + (year[name] ?? 0), 0);
  const isOfReports = years.every(({ submissions }) => submissions !== null);
  const reports = isOfReports ? count(sum("submissions"), "public report") : count(sum("awards"), "award");
  return {
    expended: {
      chart: chartColumns(`Federal awards expended by audit year${of}`, columns("amount_expended", "$")),
      behind: reports,
    },
    findings: {
      chart: chartColumns(`Findings by audit year${of}`, columns("findings")),
      behind: `${count(sum("findings"), "finding")} in ${reports}`,
    },
  };
}

/** The charts of a program, an agency or a state, by their addresses. `of` ends their titles. */
export function chartGroup(found: FindingsOfGroup, of = "") {
  const { years, requirements, states } = found;
  const total = years.reduce((sum, year) => sum + year.findings, 0);
  const values = new Map(states.map(({ auditee_state: state, findings }) => [state, findings]));
  const bars = requirements.map(({ letter, findings }) => ({
    label: describeValue("requirement", letter),
    value: findings,
    text: formatNumber(findings),
  }));
  return {
    ...chartYears(years, of),
    requirements: { chart: chartBars(`Findings by requirement${of}`, bars), behind: count(total, "finding") },
    states: { chart: chartStates(`Findings by state${of}`, values), behind: count(total, "finding") },
  };
}

const sourceName = `Source: ${siteName}`;

const dateOf = ({ facts }: PageContext): Date | undefined => facts?.data_set?.published_at;

/** Writes a chart into a page, with the number of its reports and its source. */
export function writeCounted(context: PageContext, { chart, behind }: Counted, address: string): Html {
  const published = dateOf(context);
  const source = html`${behind}. ${sourceName}${published && `, data set of ${formatDay(writeEasternDate(published))}`}.`;
  return writeFigure(chart, source, address);
}

/** The lines below a chart that is a file of its own. `path` is the address of its page. */
export function describeSource(context: PageContext, { behind }: Counted, path: string): string[] {
  const { facts, appUrl } = context;
  const published = dateOf(context);
  const dataSet =
    published && `, data set ${facts?.data_set?.id}, published ${formatDay(writeEasternDate(published))}`;
  return [`${behind}. ${sourceName}${dataSet ?? ""}.`, `${appUrl}${path}`];
}
