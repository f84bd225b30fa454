import { count } from "../finding-words.ts";
import { formatNumber } from "../format.ts";
import { type Html, html } from "../html.ts";

/** How many pages a search has. Rows that are not counted are on no page. */
export const countPages = (total: number, { most, onPage }: { most: number; onPage: number }): number =>
  Math.ceil(Math.min(total, most) / onPage);

/** Says that a search has fewer pages. */
export const writeNoPage = (page: number, pages: number, first: string): Html =>
  html`<p class="notice">There is no page ${formatNumber(page)}. This search has ${count(pages, "page")}.
  <a href="${first}">See the first page</a></p>`;
