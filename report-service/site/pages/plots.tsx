/* @jsxRuntime automatic */
/* @jsxImportSource preact */
import { scaleBand, scaleLinear, scaleQuantile } from "d3-scale";
import type { VNode } from "preact";
import { Scroll } from "../scroll.tsx";
import type { DataSet } from "../service-facts.ts";

type Counts = DataSet["submission_counts"];

const format = new Intl.NumberFormat("en-US");

/** Adds the submissions up by one property, unstated ones under "". */
function sumBy(counts: Counts, property: "audit_year" | "state"): Map<string, number> {
  const sums = new Map<string, number>();
  for (const count of counts) {
    const key = count[property] ?? "";
    sums.set(key, (sums.get(key) ?? 0) + count.submissions);
  }
  return sums;
}

/** Submissions by audit year as bars, and as a table. */
export function YearsPlot({ counts }: { counts: Counts }): VNode {
  const sums = sumBy(counts, "audit_year");
  const years = [...sums].filter(([year]) => year !== "").sort(([a], [b]) => a.localeCompare(b));
  const size = { width: 480, height: 280, top: 24, bottom: 28 };
  const x = scaleBand(
    years.map(([year]) => year),
    [0, size.width],
  ).padding(0.2);
  const y = scaleLinear(
    [0, Math.max(1, ...years.map(([, submissions]) => submissions))],
    [size.height - size.bottom, size.top],
  );
  const middle = (year: string) => (x(year) ?? 0) + x.bandwidth() / 2;
  return (
    <figure class="plot">
      <figcaption>Public submissions by audit year</figcaption>
      <svg
        viewBox={`0 0 ${size.width} ${size.height}`}
        role="img"
        aria-labelledby="years-title"
        aria-describedby="years-summary"
      >
        <title id="years-title">Public submissions by audit year</title>
        {years.map(([year, submissions]) => (
          <g key={year}>
            <rect
              class="bar"
              x={x(year)}
              y={y(submissions)}
              width={x.bandwidth()}
              height={y(0) - y(submissions)}
            />
            <text class="bar-value" x={middle(year)} y={y(submissions) - 6}>
              {format.format(submissions)}
            </text>
            <text class="bar-name" x={middle(year)} y={size.height - 8}>
              {year}
            </text>
          </g>
        ))}
        <line class="axis" x1={0} x2={size.width} y1={y(0)} y2={y(0)} />
      </svg>
      <p id="years-summary" class="visually-hidden">
        The table below has the same numbers.
      </p>
      <TwinTable
        id="years"
        caption="Public submissions by audit year"
        heading="Audit year"
        rows={years}
        unstated={sums.get("")}
      />
    </figure>
  );
}

/** Where each state stands on the map of equal squares: column and row. */
const tiles: Record<string, [number, number]> = {
  ...{ AK: [0, 0], ME: [10, 0], WI: [5, 1], VT: [9, 1], NH: [10, 1] },
  ...{
    WA: [0, 2],
    ID: [1, 2],
    MT: [2, 2],
    ND: [3, 2],
    MN: [4, 2],
    IL: [5, 2],
    MI: [6, 2],
    NY: [8, 2],
    MA: [9, 2],
  },
  ...{
    OR: [0, 3],
    NV: [1, 3],
    WY: [2, 3],
    SD: [3, 3],
    IA: [4, 3],
    IN: [5, 3],
    OH: [6, 3],
    PA: [7, 3],
    NJ: [8, 3],
  },
  ...{
    CT: [9, 3],
    RI: [10, 3],
    CA: [0, 4],
    UT: [1, 4],
    CO: [2, 4],
    NE: [3, 4],
    MO: [4, 4],
    KY: [5, 4],
    WV: [6, 4],
  },
  ...{
    VA: [7, 4],
    MD: [8, 4],
    DE: [9, 4],
    AZ: [1, 5],
    NM: [2, 5],
    KS: [3, 5],
    AR: [4, 5],
    TN: [5, 5],
    NC: [6, 5],
  },
  ...{
    SC: [7, 5],
    DC: [8, 5],
    OK: [3, 6],
    LA: [4, 6],
    MS: [5, 6],
    AL: [6, 6],
    GA: [7, 6],
    HI: [0, 7],
    TX: [3, 7],
  },
  ...{ FL: [8, 7], PR: [10, 7], VI: [10, 6], AS: [0, 6], GU: [0, 5], MP: [1, 6] },
};
const classes = 5;

/** Submissions by state as a map of equal squares, and as a table. */
export function StatesPlot({ counts }: { counts: Counts }): VNode {
  const sums = sumBy(counts, "state");
  const states = [...sums].filter(([state]) => state !== "").sort(([a], [b]) => a.localeCompare(b));
  const step = 44;
  const side = 42;
  // As many states in each class, so that one large state does not make all others look alike.
  const shade = scaleQuantile(
    states.filter(([state]) => state in tiles).map(([, submissions]) => submissions),
    Array.from({ length: classes }, (_, index) => index),
  );
  const limits = [...new Set(shade.quantiles().map(Math.ceil))];
  const classOf = (submissions: number) => limits.filter((limit) => submissions >= limit).length;
  const bounds = [1, ...limits.filter((limit) => limit > 1)];
  return (
    <figure class="plot">
      <figcaption>Public submissions by the auditee's state</figcaption>
      <svg
        viewBox={`0 0 ${11 * step} ${8 * step}`}
        role="img"
        aria-labelledby="states-title"
        aria-describedby="states-summary"
      >
        <title id="states-title">Public submissions by the auditee's state</title>
        {Object.entries(tiles).map(([state, [column, row]]) => {
          const submissions = sums.get(state) ?? 0;
          return (
            <g
              key={state}
              class={submissions === 0 ? "tile tile--none" : `tile tile--${classOf(submissions)}`}
              transform={`translate(${column * step} ${row * step})`}
            >
              <rect width={side} height={side} rx={3} />
              <text class="tile-name" x={side / 2} y={19}>
                {state}
              </text>
              <text class="tile-value" x={side / 2} y={34}>
                {shorten(submissions)}
              </text>
            </g>
          );
        })}
      </svg>
      <ul class="legend" aria-hidden="true">
        {bounds.map((bound, index) => {
          const next = bounds[index + 1];
          return (
            <li key={bound}>
              <svg viewBox="0 0 16 16" class={`tile tile--${classOf(bound)}`} aria-hidden="true">
                <rect width={16} height={16} rx={2} />
              </svg>
              {next === undefined ? `${format.format(bound)} or more` : describeRange(bound, next - 1)}
            </li>
          );
        })}
      </ul>
      <p id="states-summary" class="visually-hidden">
        The table below has the same numbers.
      </p>
      <TwinTable
        id="states"
        caption="Public submissions by the auditee's state"
        heading="State"
        rows={states}
        unstated={sums.get("")}
      />
    </figure>
  );
}

function describeRange(from: number, to: number): string {
  return from === to ? format.format(from) : `${format.format(from)}–${format.format(to)}`;
}

function shorten(number: number): string {
  return number < 10_000 ? format.format(number) : `${Math.round(number / 1000)}k`;
}

function TwinTable({
  id,
  caption,
  heading,
  rows,
  unstated,
}: {
  id: string;
  caption: string;
  heading: string;
  rows: [string, number][];
  unstated: number | undefined;
}): VNode {
  const all: [string, number][] = unstated === undefined ? rows : [...rows, ["not stated", unstated]];
  return (
    <details class="twin">
      <summary>
        The numbers as a table<span class="visually-hidden">: {caption}</span>
      </summary>
      <Scroll label={caption} kind="scroll--short">
        <table id={`${id}-table`}>
          <caption class="visually-hidden">{caption}</caption>
          <thead>
            <tr>
              <th scope="col">{heading}</th>
              <th scope="col" class="number">
                Submissions
              </th>
            </tr>
          </thead>
          <tbody>
            {all.map(([name, submissions]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td class="number">{format.format(submissions)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </details>
  );
}
