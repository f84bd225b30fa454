import { type Content, type Html, html } from "../html.ts";
import { states } from "../names.ts";

// Charts as SVG. A table beside each says the same in numbers.

/** A chart, and what it shows in words. */
export interface Chart {
  title: string;
  description: string;
  width: number;
  height: number;
  /** A class for its style. */
  kind?: string;
  draw: (paint: Paint) => Html;
}

type Part = "bar" | "axis" | "text" | "label" | "small" | `shade-${number}` | `on-shade-${number}`;
/** Returns the attributes that color a part. */
type Paint = (part: Part) => Html | false;

/** On a page, the style sheet colors the parts. */
const paintPage: Paint = (part) => /^(small|label|shade-.)$/.test(part) && html` class="${part}"`;

const shadeColors = ["#f0f0f0", "#d9e8f6", "#aacdec", "#2378c3", "#1a4480"];
const ink = "#1b1b1b";
/** A file has the colors inside: the same as on a page in light colors. */
const paintFile: Paint = (part) => {
  const shade = Number(/\d$/.exec(part));
  if (part === "bar") return html` fill="#2378c3"`;
  if (part === "axis") return html` stroke="#a9aeb1"`;
  if (part === "small") return html` font-size="12"`;
  if (part === "label") return html` text-anchor="start"`;
  if (part.startsWith("shade")) return html` fill="${shadeColors[shade]}"`;
  return html` fill="${part === "text" || shade < 3 ? ink : "#ffffff"}"`;
};

/** Writes a chart into a page. */
export const writeChart = ({ title, description, width, height, kind = "", draw }: Chart): Html =>
  html`<svg class="${`chart ${kind}`.trim()}" viewBox="0 0 ${width} ${height}" role="img"><title>${title}</title><desc>${description}</desc>
${draw(paintPage)}</svg>`;

/** Writes a chart with what says where it comes from. `address` is that of the chart alone. */
export const writeFigure = (chart: Chart, source: Content, address: string): Html =>
  html`<figure><figcaption><strong>${chart.title}</strong> <span class="hint">${source} <a class="only-screen" href="${address}">Chart<span class="visually-hidden"> of ${chart.title}</span> as SVG</a></span></figcaption>
${writeChart(chart)}</figure>`;

const space = 24;
/** About how wide a character is. */
const widths = { title: 12.3, source: 6.6 };

/** Writes a chart as a file of its own, with its title and its source. */
export function writeSvg(
  { title, description, width, height, draw }: Chart,
  source: readonly string[],
): string {
  const headings = wrap(title, Math.floor(width / widths.title));
  const sources = source.flatMap((line) => wrap(line, Math.floor(width / widths.source)));
  const top = space + 28 * headings.length;
  const bottom = top + height + space;
  const [wholeWidth, wholeHeight] = [width + 2 * space, bottom + 18 * sources.length + space / 2];
  const lines = (texts: string[], from: number, step: number) =>
    texts.map((text, index) => html`<text x="${space}" y="${from + step * index}">${text}</text>`);
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="${wholeWidth}" height="${wholeHeight}" viewBox="0 0 ${wholeWidth} ${wholeHeight}" role="img" font-family="Roboto, Segoe UI, Open Sans, Helvetica, Arial, sans-serif">
<title>${clean(title)}</title>
<desc>${clean(`${description} ${source.join(" ")}`)}</desc>
<rect width="${wholeWidth}" height="${wholeHeight}" fill="#ffffff"/>
<g fill="${ink}" font-size="20" font-weight="700">${lines(headings, space + 14, 28)}</g>
<g transform="translate(${space} ${top})" font-size="15" text-anchor="middle">
${draw(paintFile)}</g>
<g fill="#565c65" font-size="12">${lines(sources, bottom + 12, 18)}</g>
</svg>
`.html;
}

/** Removes characters that XML cannot have. */
const clean = (text: string): string => text.replace(/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/gu, " ");

/** Splits a text into lines between words. SVG does not. */
function wrap(text: string, widest: number): string[] {
  const lines: string[] = [];
  for (const word of clean(text)
    .split(" ")
    .flatMap((each) => each.match(new RegExp(`.{1,${widest}}`, "gu")) ?? [])) {
    const longer = `${lines.at(-1) ?? ""} ${word}`;
    if (lines.length > 0 && longer.length <= widest) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

interface Bar {
  label: string;
  value: number;
  text: string;
}

const describeBars = (bars: readonly Bar[]): string =>
  bars.map(({ label, text }) => `${label}: ${text}`).join("; ");

const height = 200;
const margin = { top: 24, bottom: 24 };

/** A column for each value, with its text above it and its label below it. */
export function chartColumns(title: string, columns: readonly Bar[]): Chart {
  const width = 640;
  const most = Math.max(1, ...columns.map(({ value }) => value));
  const step = width / Math.max(1, columns.length);
  const base = height - margin.bottom;
  const drawn = columns.map(({ label, value, text }, index) => {
    const middle = (step * (index + 0.5)).toFixed(1);
    const tall = ((base - margin.top) * Math.max(0, value)) / most;
    return {
      bar: html`<rect x="${(step * (index + 0.15)).toFixed(1)}" y="${(base - tall).toFixed(1)}" width="${(step * 0.7).toFixed(1)}" height="${tall.toFixed(1)}"/>`,
      text: html`<text x="${middle}" y="${(base - tall - 6).toFixed(1)}">${text}</text><text x="${middle}" y="${height - 6}">${label}</text>
`,
    };
  });
  return {
    title,
    description: `${describeBars(columns)}.`,
    width,
    height,
    draw: (paint) => html`<g${paint("bar")}>${drawn.map(({ bar }) => bar)}</g>
<g${paint("text")}>${drawn.map(({ text }) => text)}</g><path${paint("axis")} d="M0 ${base}H${width}"/>`,
  };
}

/** A bar for each value, with its label before it and its text after it. */
export function chartBars(title: string, bars: readonly Bar[]): Chart {
  const [row, labels, longest] = [28, 300, 270];
  const most = Math.max(1, ...bars.map(({ value }) => value));
  const lengths = bars.map(({ value }) => (longest * Math.max(0, value)) / most);
  const drawn = bars.map(({ label, text }, index) => {
    const y = row * index + 19;
    return html`<text x="0" y="${y}">${label}</text><text x="${(labels + (lengths[index] ?? 0) + 6).toFixed(1)}" y="${y}">${text}</text>
`;
  });
  return {
    title,
    description: `${describeBars(bars)}.`,
    width: 640,
    height: row * Math.max(1, bars.length),
    draw: (paint) => html`<g${paint("bar")}>${lengths.map(
      (length, index) =>
        html`<rect x="${labels}" y="${row * index + 4}" width="${length.toFixed(1)}" height="${row - 8}"/>`,
    )}</g>
<g${paint("text")}><g${paint("label")}>${drawn}</g></g>`,
  };
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

/** A tile for each state. The larger its value, the stronger its color, in four classes of equally many states. */
export function chartStates(title: string, values: ReadonlyMap<string, number>): Chart {
  const sorted = [...values.values()].filter((value) => value > 0).sort((one, other) => one - other);
  const shade = (value: number) =>
    value > 0 ? 1 + Math.floor((shades * sorted.indexOf(value)) / sorted.length) : 0;
  const most = [...values].sort(([, one], [, other]) => other - one).slice(0, 5);
  const bars = most.map(([state, value]) => ({ label: states[state] ?? state, value, text: shorten(value) }));
  return {
    title,
    description: `A map with a tile for each state. The stronger its color, the more. The states with the most: ${describeBars(bars) || "none"}.`,
    width: 550,
    height: 450,
    kind: "states",
    draw: (paint) =>
      html`${tiles.map(({ state, row, column }) => {
        const value = values.get(state) ?? 0;
        const level = shade(value);
        return html`<g${paint(`shade-${level}`)}><rect x="${column * 50 + 1}" y="${row * 50 + 1}" width="48" height="48"/>
<g${paint(`on-shade-${level}`)}><text x="${column * 50 + 25}" y="${row * 50 + 22}">${state}</text><text${paint("small")} x="${column * 50 + 25}" y="${row * 50 + 39}">${shorten(value)}</text></g></g>
`;
      })}`,
  };
}

const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 3 });

/** Writes a number shortly, such as 12.3K. */
export const shorten = (value: number): string => compact.format(value);

/** Draws a bar for a share of the largest value. */
export function drawBar(share: number): Html {
  return html`<svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"
    ><rect width="${Math.max(0, 100 * share).toFixed(2)}" height="1"></rect></svg>`;
}
