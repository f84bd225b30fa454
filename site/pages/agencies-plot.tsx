/* @jsxRuntime automatic */
/* @jsxImportSource preact */
import type { VNode } from "preact";
import { agencies } from "../agencies.ts";
import { type PlotProps, TwinTable } from "./twin-table.tsx";

const shown = 10;

/** A measure by federal agency as bars, the largest first, and all as a table. */
export function AgenciesPlot(props: PlotProps): VNode {
  const { id, caption, sums, link, describe, format } = props;
  const largest = [...sums]
    .filter(([prefix, sum]) => prefix !== "" && sum > 0)
    .sort(([, a], [, b]) => b - a)
    .slice(0, shown);
  const most = largest[0]?.[1] ?? 1;
  return (
    <figure class="plot" id={id}>
      <figcaption>
        {caption}
        {sums.size > shown && `: the ${shown} largest`}
      </figcaption>
      <ol class="bars">
        {largest.map(([prefix, sum]) => (
          <li key={prefix}>
            <a href={link(prefix)} title={describe(prefix)}>
              {prefix} {agencies[prefix]}
            </a>
            <span class="number">{format(sum)}</span>
            <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
              <rect class="bar" width={(100 * sum) / most} height={1} />
            </svg>
          </li>
        ))}
      </ol>
      <TwinTable {...props} titles={agencies} />
    </figure>
  );
}
