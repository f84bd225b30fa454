import type { Row } from "../../shared/format-table.ts";

/** Formats some columns of the rows as CSV (RFC 4180) with a header, without a line break at the end. */
export function formatCsv(columns: string[], rows: Row[]): string {
  const lines = [columns, ...rows.map((row) => columns.map((name) => String(row[name] ?? "")))];
  return lines.map((values) => values.map(quote).join(",")).join("\n");
}

const quote = (value: string) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
