/* @jsxRuntime automatic */
/* @jsxImportSource preact */
import { scaleBand, scaleLinear } from "d3-scale";
import type { VNode } from "preact";
import { shortenSum } from "../totals.ts";
import { type PlotProps, TwinTable } from "./twin-table.tsx";

const size = { width: 480, height: 280, top: 24, bottom: 28 };

/** A measure by audit year as bars, and as a table. */
export function YearsPlot(props: PlotProps): VNode {
  const { id, caption, sums, link, describe } = props;
  const years = [...sums].filter(([year]) => year !== "").sort(([a], [b]) => a.localeCompare(b));
  const x = scaleBand(
    years.map(([year]) => year),
    [0, size.width],
  ).padding(0.2);
  const y = scaleLinear(
    [0, Math.max(1, ...years.map(([, sum]) => sum))],
    [size.height - size.bottom, size.top],
  );
  const middle = (year: string) => (x(year) ?? 0) + x.bandwidth() / 2;
  return (
    <figure class="plot" id={id}>
      <figcaption>{caption}</figcaption>
      <svg viewBox={`0 0 ${size.width} ${size.height}`}>
        <title>{caption}</title>
        {years.map(([year, sum]) => (
          <a key={year} href={link(year)} tabIndex={-1}>
            <title>{describe(year)}</title>
            <rect
              class="bar"
              x={x(year)}
              y={y(Math.max(0, sum))}
              width={x.bandwidth()}
              height={y(0) - y(Math.max(0, sum))}
            />
            <text class="bar-value" x={middle(year)} y={y(Math.max(0, sum)) - 6}>
              {shortenSum(sum)}
            </text>
            <text class="bar-name" x={middle(year)} y={size.height - 8}>
              {year}
            </text>
          </a>
        ))}
        <line class="axis" x1={0} x2={size.width} y1={y(0)} y2={y(0)} />
      </svg>
      <TwinTable {...props} />
    </figure>
  );
}
