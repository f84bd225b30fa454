import { type Html, html } from "../html.ts";
import type { PageContext } from "../page-context.ts";
import { sumBy } from "../totals.ts";
import { writeSvg } from "./charts.ts";
import { type Counted, chartYears, describeSource, writeCounted, type Year } from "./group-charts.ts";

const listYears = ({ facts }: PageContext): Year[] =>
  [...sumBy(facts?.totals?.totals_by_state ?? [], (row) => row.audit_year)]
    .filter(([year]) => year !== "")
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([audit_year, sums]) => ({ audit_year, ...sums }));

export const hasYears = (context: PageContext): boolean => listYears(context).length > 0;

/** What all public reports state for each year, as charts. */
export function writeTotalYears(context: PageContext): Html {
  const { expended, findings } = chartYears(listYears(context));
  return html`<div class="charts">${writeCounted(context, expended, "/totals/expended.svg")}${writeCounted(context, findings, "/totals/findings.svg")}</div>`;
}

/** One of these charts as a file. Undefined if there is none with this name. */
export function writeTotalChart(context: PageContext, name: string): string | undefined {
  const charts: Record<string, Counted> = chartYears(listYears(context), ", all public reports");
  const chart = Object.hasOwn(charts, name) && hasYears(context) ? charts[name] : undefined;
  return chart && writeSvg(chart.chart, describeSource(context, chart, "/totals"));
}
