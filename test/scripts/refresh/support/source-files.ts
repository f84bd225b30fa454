import { readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { repositoryDirectory } from "../../../../scripts/deploy/deploy-database.ts";

export type Row = Record<string, string>;

const migrations = path.join(repositoryDirectory, "migrations");
const tables = readdirSync(migrations)
  .map((name) => readFileSync(path.join(migrations, name), "utf8"))
  .join("\n");

/** The columns of a table's source files. */
export function listColumns(table: string): string[] {
  const [, body = ""] = tables.split(`create table disclosed.${table} (`);
  return [...(body.split(");")[0] ?? "").matchAll(/^ +(?!row_number)(\w+) \w+/gm)].map(
    ([, name = ""]) => name,
  );
}

/** Writes a CSV file and returns its text. Values are not quoted; a value that a row lacks is empty, which means null. */
export async function writeCsv(
  directory: string,
  table: string,
  rows: Row[],
  { columns = listColumns(table), name = `${table}.csv` } = {},
): Promise<string> {
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column] ?? ""))];
  const text = `${lines.map((line) => line.join(",")).join("\n")}\n`;
  await writeFile(path.join(directory, name), text);
  return text;
}

export const submission = (number: number, more: Row = {}): Row => ({
  report_id: `2023-06-GSAFAC-${String(number).padStart(10, "0")}`,
  auditee_uei: `UEI${number}`,
  audit_year: "2023",
  fac_accepted_date: "2024-01-31",
  is_public: "t",
  ...more,
});
/** Public submissions with these numbers. */
export const submissions = (...numbers: number[]): Row[] => numbers.map((number) => submission(number));
export const id = (number: number) => submission(number).report_id ?? "";
export const range = (count: number, first = 1) => Array.from({ length: count }, (_, index) => first + index);
