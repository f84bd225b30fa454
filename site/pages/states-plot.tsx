/* @jsxRuntime automatic */
/* @jsxImportSource preact */
import { scaleQuantile } from "d3-scale";
import type { VNode } from "preact";
import { shortenSum } from "../totals.ts";
import { type PlotProps, TwinTable } from "./twin-table.tsx";

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

/** A measure by state as a map of equal squares, and as a table. */
export function StatesPlot(props: PlotProps): VNode {
  const { id, caption, sums, link, describe } = props;
  const step = 44;
  const side = 42;
  // As many states in each class, so that one large state does not make all others look alike.
  const shade = scaleQuantile(
    [...sums].filter(([state, sum]) => state in tiles && sum > 0).map(([, sum]) => sum),
    Array.from({ length: classes }, (_, index) => index),
  );
  const limits = [...new Set(shade.quantiles().map(Math.ceil))];
  const classOf = (sum: number) => limits.filter((limit) => sum >= limit).length;
  const bounds = [1, ...limits.filter((limit) => limit > 1)];
  return (
    <figure class="plot" id={id}>
      <figcaption>{caption}</figcaption>
      <svg viewBox={`0 0 ${11 * step} ${8 * step}`}>
        <title>{caption}</title>
        {Object.entries(tiles).map(([state, [column, row]]) => {
          const sum = sums.get(state);
          const kind = sum === undefined || sum <= 0 ? "none" : classOf(sum);
          const tile = (
            <g class={`tile tile--${kind}`} transform={`translate(${column * step} ${row * step})`}>
              <title>{sum === undefined ? `${state}: no submissions` : describe(state)}</title>
              <rect width={side} height={side} rx={3} />
              <text class="tile-name" x={side / 2} y={19}>
                {state}
              </text>
              <text class="tile-value" x={side / 2} y={34}>
                {shortenSum(sum ?? 0)}
              </text>
            </g>
          );
          // By keyboard, the table has the same links in fewer stops.
          return sum === undefined ? (
            tile
          ) : (
            <a key={state} href={link(state)} tabIndex={-1}>
              {tile}
            </a>
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
              {next === undefined ? `${shortenSum(bound)} or more` : describeRange(bound, next)}
            </li>
          );
        })}
      </ul>
      <TwinTable {...props} />
    </figure>
  );
}

function describeRange(from: number, next: number): string {
  const [first, last] = [from, next - 1].map(shortenSum);
  return first === last ? `${first}` : `${first}–${last}`;
}
