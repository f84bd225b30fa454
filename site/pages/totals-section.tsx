/* @jsxRuntime automatic */
/* @jsxImportSource preact */
import type { VNode } from "preact";
import { agencies } from "../agencies.ts";
import { linkToExplorer } from "../example-request.ts";
import type { PageContext } from "../page-context.ts";
import { emptyQuery } from "../query.ts";
import {
  type Asked,
  formatSum,
  linkToTotals,
  type Measure,
  measures,
  readAsked,
  sumBy,
  type Totals,
  type TotalsTable,
} from "../totals.ts";
import { AgenciesPlot } from "./agencies-plot.tsx";
import { StatesPlot } from "./states-plot.tsx";
import type { PlotProps } from "./twin-table.tsx";
import { YearsPlot } from "./years-plot.tsx";

/** Dollars, awards, submissions and findings by year, state and agency: plots, tables, files, and the rows behind them. */
export function TotalsSection({
  told,
  asked: parameters,
  schema,
}: {
  told: Totals;
  asked: PageContext["asked"];
  /** The version that serves the totals. */
  schema: string;
}): VNode {
  const all = sumBy(told.totals_by_state, "submissions", (row) => row.audit_year);
  const years = [...all.keys()].filter(Boolean).sort();
  const asked = readAsked(parameters, years);
  const { measure, year } = asked;
  const when = year === undefined ? "all audit years" : `audit year ${year}`;
  const common = {
    measure: measures[measure],
    format: (sum: number) => formatSum(measure, sum),
  };
  return (
    <section aria-labelledby="totals">
      <h2 id="totals">
        {measures[measure]}, {when}
      </h2>
      <p>
        Totals of what is public, computed when the data set was published. Federal money that one auditee
        passes through to another is expended by both, and counted for both.
      </p>
      <Choices asked={asked} years={years} />
      <div class="plots">
        <YearsPlot
          {...common}
          id="years"
          caption={`${measures[measure]} by audit year`}
          heading="Audit year"
          sums={sumBy(told.totals_by_state, measure, (row) => row.audit_year)}
          link={(name) => linkToTotals({ measure, year: name })}
          describe={(name) => describe(told.totals_by_state, name, (row) => row.audit_year)}
        />
        <StatesPlot
          {...common}
          {...describeSums(told.totals_by_state, asked, (row) => row.auditee_state)}
          id="states"
          caption={`${measures[measure]} by the auditee’s state, ${when}`}
          heading="State"
          link={linkTo(schema, "general", "auditee_state", year)}
        />
        <AgenciesPlot
          {...common}
          {...describeSums(told.totals_by_agency, asked, (row) => row.federal_agency_prefix)}
          id="agencies"
          caption={`${measures[measure]} by federal agency, ${when}`}
          heading="Agency"
          link={linkTo(schema, "federal_awards", "federal_agency_prefix", year)}
        />
      </div>
      <Sources schema={schema} asked={asked} />
    </section>
  );
}

function Choices({ asked, years }: { asked: Asked; years: string[] }): VNode {
  const choice = (label: string, to: Asked, isCurrent: boolean) => (
    <li key={label}>
      <a href={linkToTotals(to)} aria-current={isCurrent ? "true" : undefined}>
        {label}
      </a>
    </li>
  );
  return (
    <>
      <nav aria-label="What is added up">
        <ul class="choices">
          {Object.entries(measures).map(([measure, label]) =>
            choice(label, { ...asked, measure: measure as Measure }, measure === asked.measure),
          )}
        </ul>
      </nav>
      <nav aria-label="Audit year">
        <ul class="choices">
          {choice("All years", { ...asked, year: undefined }, asked.year === undefined)}
          {years.map((year) => choice(year, { ...asked, year }, year === asked.year))}
        </ul>
      </nav>
    </>
  );
}

/** What a plot shows of the rows of the chosen year. */
function describeSums<Row extends Totals[TotalsTable][number]>(
  rows: Row[],
  { measure, year }: Asked,
  nameOf: (row: Row) => string | null,
): Pick<PlotProps, "sums" | "describe"> {
  const chosen = rows.filter((row) => year === undefined || row.audit_year === year);
  return {
    sums: sumBy(chosen, measure, nameOf),
    describe: (name) => describe(chosen, name, nameOf),
  };
}

/** All measures of one name, a line each. */
function describe<Row extends Totals[TotalsTable][number]>(
  rows: Row[],
  name: string,
  nameOf: (row: Row) => string | null,
): string {
  const own = rows.filter((row) => nameOf(row) === name);
  const lines = Object.entries(measures).map(([measure, label]) => {
    const sum = own.reduce((found, row) => found + row[measure as Measure], 0);
    return `${label}: ${formatSum(measure as Measure, sum)}`;
  });
  return [[name, agencies[name]].filter(Boolean).join(" "), ...lines].join("\n");
}

/** Links to the rows that a total counts. */
function linkTo(schema: string, table: string, column: string, year: string | undefined): PlotProps["link"] {
  const amount = table === "general" ? "total_amount_expended" : "amount_expended";
  return (name) =>
    linkToExplorer(schema, {
      ...emptyQuery,
      table,
      filters: Object.entries({ ...(year && { audit_year: year }), [column]: name }).map(
        ([column, value]) => ({
          column,
          operator: "eq",
          value,
        }),
      ),
      order: [{ column: amount, direction: "desc.nullslast" }],
    });
}

function Sources({ schema, asked: { year, measure } }: { schema: string; asked: Asked }): VNode {
  const tables: [TotalsTable, string][] = [
    ["totals_by_state", "by state and year"],
    ["totals_by_agency", "by agency and year"],
  ];
  return (
    <ul class="toc">
      {tables.map(([table, what]) => (
        <li key={table}>
          <a href={`/${table}.csv`} download>
            All totals {what} (CSV)
          </a>
        </li>
      ))}
      {tables.map(([table]) => (
        <li key={table}>
          <a
            href={linkToExplorer(schema, {
              ...emptyQuery,
              table,
              filters: year === undefined ? [] : [{ column: "audit_year", operator: "eq", value: year }],
              order: [{ column: measure, direction: "desc.nullslast" }],
              limit: 100,
            })}
          >
            Ask the API for <code>{table}</code>
          </a>
        </li>
      ))}
    </ul>
  );
}
