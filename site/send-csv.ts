import type { FastifyReply, FastifyRequest } from "fastify";
import { writeUtcDate } from "./format.ts";
import type { PageContext } from "./page-context.ts";
import { sendBody } from "./send-body.ts";
import { boundSource, byteOrderMark, writeForSpreadsheets } from "./spreadsheet-csv.ts";

type Row = Readonly<Record<string, unknown>>;

/** Writes rows as CSV that spreadsheets show as it is: no text becomes a formula, and no code becomes a number. */
export function writeSpreadsheet(columns: readonly string[], rows: readonly Row[]): string {
  const cells = rows.map((row) => columns.map((column) => writeCell(row[column])));
  return byteOrderMark + writeForSpreadsheets(columns.map(writeCell), cells);
}

function writeCell(value: unknown): string {
  if (value === null || value === undefined) return "";
  const text = Array.isArray(value) ? value.join("; ") : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const longestName = 100;

/** Names a file for what it has, and for the date of its data set: "findings-93.778-TX-2026-11-28". */
function nameFile(parts: readonly NamePart[], { facts }: Pick<PageContext, "facts">): string {
  const name = parts
    .filter(Boolean)
    .join("-")
    .replace(/[^\w.]+/g, "-");
  const published = facts?.data_set && writeUtcDate(facts.data_set.published_at);
  return [name.slice(0, longestName).replace(/-+$/, ""), published].filter(Boolean).join("-");
}
type NamePart = string | false | undefined;

/**
 * Sends rows as a CSV file for spreadsheets. The last columns name the data set, when it was published, and the file's address, so that copied
 * rows still do.
 *
 * @param path the address to cite, if the requested one returns other rows on another day
 */
export function sendSpreadsheet(
  request: FastifyRequest,
  reply: FastifyReply,
  context: Pick<PageContext, "facts" | "appUrl">,
  {
    name,
    columns,
    rows,
    path = request.url,
  }: { name: readonly NamePart[]; columns: readonly string[]; rows: readonly Row[]; path?: string },
): FastifyReply {
  const dataSet = context.facts?.data_set;
  const origin = {
    data_set: dataSet?.id,
    data_set_published_at: dataSet?.published_at.toISOString(),
    source: boundSource(context.appUrl + path, rows.length),
  };
  reply.headers({
    "cache-control": "public, no-cache",
    "content-disposition": `attachment; filename="${nameFile(name, context)}.csv"`,
  });
  const body = writeSpreadsheet(
    [...columns, ...Object.keys(origin)],
    rows.map((row) => ({ ...row, ...origin })),
  );
  return sendBody(request, reply, { body, type: "text/csv; charset=utf-8" });
}
