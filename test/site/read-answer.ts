import type { Visit } from "./visit.ts";

type Page = Visit["page"];

/** What a person reads in the rows that are shown. */
export const readCells = (page: Page): Promise<(string | null)[][]> =>
  page
    .locator(".rows-table tbody tr")
    .evaluateAll((trs) => trs.map((tr) => [...tr.children].map((cell) => cell.textContent)));

/** Waits for an answer whose first row is this one. */
export const waitForRows = (page: Page, from: number) =>
  page.getByText(new RegExp(`^Status 20\\d · rows? ${from.toLocaleString("en-US")}\\b`)).waitFor();

/** Whether the focus is anywhere. */
export const hasFocus = (page: Page) =>
  page.evaluate("document.activeElement !== document.body && document.activeElement !== null");
