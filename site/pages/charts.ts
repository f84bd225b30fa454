import { type Html, html } from "../html.ts";
import { states } from "../names.ts";

// Pictures as SVG. A table beside each says the same in numbers.

const width = 640;
const height = 200;
const margin = { top: 24, bottom: 24 };

/** Draws a column for each value, with its text above it and its label below it. */
export function drawColumns(
  title: string,
  columns: readonly { label: string; value: number; text: string }[],
): Html {
  const most = Math.max(1, ...columns.map(({ value }) => value));
  const step = width / Math.max(1, columns.length);
  const base = height - margin.bottom;
  const drawn = columns.map(({ label, value, text }, index) => {
    const middle = (step * (index + 0.5)).toFixed(1);
    const tall = ((base - margin.top) * Math.max(0, value)) / most;
    return html`<rect x="${(step * (index + 0.15)).toFixed(1)}" y="${(base - tall).toFixed(1)}" width="${(step * 0.7).toFixed(1)}" height="${tall.toFixed(1)}"></rect>
<text x="${middle}" y="${(base - tall - 6).toFixed(1)}">${text}</text><text x="${middle}" y="${height - 6}">${label}</text>
`;
  });
  return html`<svg class="chart" viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}. The table below has the numbers.">
${drawn}<path d="M0 ${base}H${width}"></path></svg>`;
}

/** Where each state is on the map: one row of tiles a line. */
const map = `
AK .  .  .  .  .  .  .  .  .  ME
.  .  .  .  .  .  .  .  .  VT NH
WA ID MT ND MN IL WI MI NY RI MA
OR NV WY SD IA IN OH PA NJ CT .
CA UT CO NE MO KY WV VA MD DE .
.  AZ NM KS AR TN NC SC DC .  .
.  .  .  OK LA MS AL GA .  .  .
HI .  .  TX .  .  .  .  FL .  .
AS GU MP .  .  .  .  .  .  PR VI`;
const tiles = map
  .trim()
  .split("\n")
  .flatMap((line, row) =>
    line.split(/\s+/).flatMap((state, column) => (state in states ? [{ state, row, column }] : [])),
  );
const shades = 4;

/** Draws a tile for each state. The larger its value, the stronger its color, in four classes of equally many states. */
export function drawStates(title: string, values: ReadonlyMap<string, number>): Html {
  const sorted = [...values.values()].filter((value) => value > 0).sort((one, other) => one - other);
  const shade = (value: number) =>
    value > 0 ? 1 + Math.floor((shades * sorted.indexOf(value)) / sorted.length) : 0;
  const drawn = tiles.map(({ state, row, column }) => {
    const value = values.get(state) ?? 0;
    return html`<g class="shade-${shade(value)}"><rect x="${column * 50 + 1}" y="${row * 50 + 1}" width="48" height="48"></rect>
<text x="${column * 50 + 25}" y="${row * 50 + 22}">${state}</text><text class="small" x="${column * 50 + 25}" y="${row * 50 + 39}">${shorten(value)}</text></g>
`;
  });
  return html`<svg class="chart states" viewBox="0 0 550 450" role="img" aria-label="${title}. The table below has the numbers.">
${drawn}</svg>`;
}

const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 3 });

/** Writes a number shortly, such as 12.3K. */
export const shorten = (value: number): string => compact.format(value);

/** Draws a bar for a share of the largest value. */
export function drawBar(share: number): Html {
  return html`<svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"
    ><rect width="${Math.max(0, 100 * share).toFixed(2)}" height="1"></rect></svg>`;
}
