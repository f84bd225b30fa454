import path from "node:path";
import { pipeline } from "node:stream/promises";
import { type Client, DatabaseError, escapeIdentifier } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { hideValues } from "../sql/hide-values.ts";
import { countRows, type FaultList } from "./faults.ts";
import { openContent } from "./open-content.ts";
import type { SourceFileWithHeader } from "./read-headers.ts";
import { readRows, readText } from "./read-rows.ts";

const reportMilliseconds = 5_000;

/**
 * Streams a CSV file into its staging table. Rows with a fault are left out and added to the faults.
 *
 * @param report receives the number of rows so far, every few seconds
 * @returns the number of rows in the table
 * @throws Error that names the file if it cannot be read or loaded completely
 */
export async function copyFile(
  client: Client,
  file: SourceFileWithHeader,
  faults: FaultList,
  report: (line: string) => void,
): Promise<number> {
  const table = escapeIdentifier(file.table);
  const columns = file.columns.map(({ name }) => escapeIdentifier(name)).join(", ");
  await client.query(`alter table staging.${table} alter column source_file set default ${file.number}`);
  const stream = await openContent(file);
  let rows = 0;
  let line = 1;

  async function* keepGoodRows(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let reportedAt = performance.now();
    for await (const block of readRows(chunks, file.columns)) {
      let start = 0;
      for (const row of block.rows) {
        line = row.line;
        if (row.problem === undefined && row.line > 1) rows += 1;
        else {
          if (row.start > start) yield block.bytes.subarray(start, row.start);
          start = row.end;
        }
        if (row.problem !== undefined)
          faults.add({ ...row.problem, file, line, record: readText(block, row) });
      }
      const end = block.rows.at(-1)?.end ?? 0;
      if (end > start) yield block.bytes.subarray(start, end);
      if (performance.now() - reportedAt < reportMilliseconds) continue;
      reportedAt = performance.now();
      report(`${path.posix.basename(file.path)}: ${countRows(rows)} so far`);
    }
  }

  const copy = client.query(copyFrom(`copy staging.${table} (${columns}) from stdin (format csv)`));
  try {
    await pipeline(stream, keepGoodRows, copy);
  } catch (cause) {
    if (cause instanceof DatabaseError) {
      hideValues(cause);
      throw new Error(`${file.path}: ${cause.message} (${cause.where})`, { cause });
    }
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason = code === "Z_BUF_ERROR" ? "the gzipped data ends too early" : message;
    throw new Error(`${file.path}:${line}: the rest of the file cannot be read: ${reason}.`, { cause });
  }
  if (copy.rowCount !== rows)
    throw new Error(
      `${file.path}: PostgreSQL loaded ${copy.rowCount} of ${rows} rows. Nothing was published. Before version 18, PostgreSQL stops reading at a line that contains only "\\.", even inside a value. Remove that line from the file, or use PostgreSQL 18.`,
    );
  return rows;
}
