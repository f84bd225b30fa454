import { capitalize, formatMoney, formatNumber } from "../format.ts";
import { type Html, html } from "../html.ts";
import { type Group, linkCounted, linkGroup, linkTotal, type Measure, measures } from "../link-total.ts";
import type { PageContext } from "../page-context.ts";
import { readPage } from "../read-filters.ts";
import type { Sums } from "../totals.ts";
import { drawBar } from "./charts.ts";
import { scroll, table } from "./layout.ts";

type Sort = Measure | "name";
/** The visitor's choices, in the query string. */
export interface Asked {
  year: string | undefined;
  sort: Sort | undefined;
  /** The page of programs, from 1. */
  page: number;
}

export function readAsked(parameters: PageContext["asked"], years: string[]): Asked {
  return {
    year: years.find((year) => year === parameters.year),
    sort: (["name", ...Object.keys(measures)] as Sort[]).find((sort) => sort === parameters.sort),
    page: readPage(parameters.page) ?? 1,
  };
}

export function linkTo({ year, sort, page }: Asked): string {
  const parameters = new URLSearchParams({
    ...(year && { year }),
    ...(sort && { sort }),
    ...(page > 1 && { page: String(page) }),
  });
  return parameters.size === 0 ? "/totals" : `/totals?${parameters}`;
}

type Line = [name: string, sums: Partial<Sums>];

/** Sorts totals as asked, or else the largest amounts first. */
export function listLines(
  sums: Map<string, Sums>,
  asked: Asked,
  otherwise: Sort = "amount_expended",
  describe = (name: string) => name,
): Line[] {
  const sort = asked.sort ?? otherwise;
  return [...sums].sort(([one, a], [other, b]) =>
    sort === "name" ? describe(one).localeCompare(describe(other)) : b[sort] - a[sort],
  );
}

interface Section {
  asked: Asked;
  schema: string;
  id: string;
  caption: string;
  column: Group["column"];
  /** In their order. */
  lines: Line[];
  describe: (name: string) => string;
  /** The URL of a name, if it leads neither to its reports nor to the rows of the first number. */
  link?: (name: string) => string;
  after?: Html;
}

/** A table of totals. Each name and number is a link to what it counts, and each heading sorts. */
export function writeSection({
  asked,
  schema,
  id,
  caption,
  column,
  lines,
  describe,
  link,
  after,
}: Section): Html {
  const shown = (Object.keys(measures) as Measure[]).filter((key) => key in (lines[0]?.[1] ?? measures));
  const sort = asked.sort ?? (id === "year" ? "name" : "amount_expended");
  const measure = sort !== "name" && shown.includes(sort) ? sort : "amount_expended";
  const most = Math.max(1, ...lines.map(([, sums]) => sums[measure] ?? 0));
  const heading = capitalize(id);
  const headings = (["name", ...shown] as const).map((name) => ({
    text: name === "name" ? heading : measures[name],
    isNumber: name !== "name",
    link: `${linkTo({ ...asked, page: 1, sort: name })}#${id}`,
    sorted: sort === name && (name === "name" ? ("ascending" as const) : ("descending" as const)),
  }));
  const linkRows = (name: string, key: Measure) =>
    linkCounted(asked.year, { column, value: name }, key) ??
    linkTotal(schema, asked.year, { column, value: name }, key);
  const writeName = (name: string) =>
    name === ""
      ? "not stated"
      : html`<a href="${link?.(name) ?? linkGroup({ column, value: name }) ?? linkRows(name, shown[0] ?? "awards")}">${describe(name)}</a>`;
  const writeNumber = (name: string, key: Measure, value: number) => {
    const text = key === "amount_expended" ? formatMoney(value) : formatNumber(value);
    return [
      value === 0 ? text : html`<a href="${linkRows(name, key)}">${text}</a>`,
      key === measure && drawBar(value / most),
    ];
  };
  const rows = lines.map(([name, sums]) => ({
    isMarked: name !== "" && name === asked.year,
    cells: [writeName(name), ...shown.map((key) => writeNumber(name, key, sums[key] ?? 0))],
  }));
  return html`<section id="${id}" aria-labelledby="by-${id}"><h2 id="by-${id}">${caption}</h2>
${scroll(caption, table(caption, headings, rows))}${after}</section>`;
}
