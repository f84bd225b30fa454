import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { type Client, DatabaseError, escapeIdentifier } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import type { SourceFile } from "./find-files.ts";

/** Columns that a file may leave out: the database derives them. */
const derivedColumns = new Set([
  "auditee_uei",
  "audit_year",
  "fac_accepted_date",
  "is_multiple_eins",
  "is_secondary_auditors",
  "original_submission_date",
  "resubmission_version",
  "resubmission_status",
]);

/**
 * Streams one CSV file into its staging table. Columns are taken by name, in any order.
 *
 * @returns the number of rows
 * @throws Error that names the file and, where it is one line's fault, the line, column and value
 */
export async function copyFile(client: Client, file: SourceFile): Promise<number> {
  const columns = await readHeader(file.path);
  await checkColumns(client, file, columns);
  const list = columns.map(escapeIdentifier).join(", ");
  const stream = client.query(
    copyFrom(`copy staging.${escapeIdentifier(file.table)} (${list}) from stdin (format csv, header true)`),
  );
  try {
    await pipeline(createReadStream(file.path, { highWaterMark: 1 << 20 }), stream);
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    // PostgreSQL says "COPY general, line 7, column audit_year: …".
    const where = /^COPY \w+, line (\d+)(?:, column (.*))?/s.exec(error.where ?? "");
    const line = where === null ? "" : `:${where[1]}`;
    const column = where?.[2] === undefined ? "" : ` (column ${where[2]})`;
    throw new Error(`${file.path}${line}: ${error.message}${column}`, { cause: error });
  }
  return stream.rowCount;
}

async function readHeader(file: string): Promise<string[]> {
  const handle = await open(file);
  try {
    for await (const line of handle.readLines()) {
      return line
        .replace(/^\uFEFF/, "")
        .split(",")
        .map((name) => name.replace(/^"(.*)"$/, "$1"));
    }
  } finally {
    await handle.close();
  }
  throw new Error(`${file}: the file is empty; it should at least have a header line.`);
}

async function checkColumns(client: Client, file: SourceFile, columns: string[]): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    "select attname as name from pg_catalog.pg_attribute where attrelid = $1::regclass and attnum > 0",
    [`staging.${file.table}`],
  );
  const expected = rows.map(({ name }) => name);
  const unknown = columns.filter((name) => !expected.includes(name));
  const missing = expected.filter((name) => !columns.includes(name) && !derivedColumns.has(name));
  const twice = columns.filter((name, index) => columns.indexOf(name) !== index);
  const faults = [
    ...(unknown.length > 0
      ? [`unknown columns ${unknown.map((name) => JSON.stringify(name.slice(0, 60))).join(", ")}`]
      : []),
    ...(missing.length > 0 ? [`missing columns ${missing.join(", ")}`] : []),
    ...(twice.length > 0 ? [`columns given twice ${twice.join(", ")}`] : []),
  ];
  if (faults.length > 0) throw new Error(`${file.path}:1: ${faults.join("; ")}.`);
}
