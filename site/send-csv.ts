import type { FastifyReply, FastifyRequest } from "fastify";
import { sendBody } from "./send-body.ts";
import { byteOrderMark, writeForSpreadsheets } from "./spreadsheet-csv.ts";

type Row = Readonly<Record<string, unknown>>;

/** Writes rows as CSV that spreadsheets show as it is: no text becomes a formula, and no code becomes a number. */
export function writeSpreadsheet(columns: readonly string[], rows: readonly Row[]): string {
  const cells = rows.map((row) => columns.map((column) => writeCell(row[column])));
  return byteOrderMark + writeForSpreadsheets(columns, cells);
}

function writeCell(value: unknown): string {
  if (value === null || value === undefined) return "";
  const text = Array.isArray(value) ? value.join("; ") : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Sends rows as a CSV file for spreadsheets. */
export function sendSpreadsheet(
  request: FastifyRequest,
  reply: FastifyReply,
  { name, columns, rows }: { name: string; columns: readonly string[]; rows: readonly Row[] },
): FastifyReply {
  reply.headers({
    "cache-control": "public, no-cache",
    "content-disposition": `attachment; filename="${name.replace(/[^\w.-]+/g, "-")}.csv"`,
  });
  return sendBody(request, reply, { body: writeSpreadsheet(columns, rows), type: "text/csv; charset=utf-8" });
}
