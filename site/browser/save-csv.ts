import { largestLimit, type Query } from "../query.ts";
import { adaptForSpreadsheets, boundSource, byteOrderMark } from "../spreadsheet-csv.ts";
import { addJoined, completeColumns } from "../table-facts.ts";
import { writeTarget } from "../write-target.ts";
import type { Outcome } from "./outcome.ts";
import type { Explorer } from "./use-explorer.ts";
import type { Read } from "./use-reading.ts";

/**
 * Saves all rows of a query as a CSV file, with the API's values or adapted for spreadsheets. Like the files of the pages, a file for
 * spreadsheets ends with columns that name the data set, when it was published, and the request.
 */
export async function saveCsv(
  read: Read,
  { settings: { apiUrl } }: Explorer,
  { asked: { query }, table, total }: Outcome,
  isForSpreadsheets: boolean,
): Promise<void> {
  const pages = isForSpreadsheets ? [byteOrderMark] : [];
  const wanted = (isForSpreadsheets ? completeColumns : addJoined)(query, table);
  const target = writeTarget({ ...wanted, limit: largestLimit, offset: 0 });
  const source = boundSource(apiUrl + target, total);
  const isWhole = await read(wanted, "text/csv", ({ text, headers }, end) => {
    const [, data_set = "", data_set_published_at = ""] =
      /^"([^"]*)"; published="([^"]*)"/.exec(headers["data-set"] ?? "") ?? [];
    const origin = { data_set, data_set_published_at, source };
    const page = isForSpreadsheets ? adaptForSpreadsheets(text, origin) : text;
    // Each page starts with a header line. Column names contain no line break.
    const start = end <= largestLimit ? 0 : page.indexOf("\n") + 1;
    pages.push(page.slice(start));
  });
  if (isWhole) saveFile(`${describeFile(query)}.csv`, pages);
}

/** Returns a file name with the table and the filters: `general-auditee_state-TX-audit_year-2023`. */
function describeFile({ table, filters, extra }: Query): string {
  const parts = filters.map(({ column, operator, value }) => [column, operator.replace(/^eq$/, ""), value]);
  const words = [table, ...parts.flat(), extra].join(" ").match(/[\p{L}\p{N}_]+/gu) ?? [];
  return words.join("-").slice(0, 120);
}

function saveFile(name: string, parts: string[]): void {
  const href = URL.createObjectURL(new Blob(parts, { type: "text/csv;charset=utf-8" }));
  Object.assign(document.createElement("a"), { href, download: name }).click();
  // The browser has read it by then.
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}
