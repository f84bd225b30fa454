import type { Client } from "pg";
import { describeError } from "../../shared/describe-error.ts";
import type { SourceFile } from "./find-files.ts";
import { openContent } from "./open-content.ts";
import { readDefinition } from "./read-definition.ts";
import { readRecords } from "./read-rows.ts";
import { type Column, splitRow, unquote } from "./row-format.ts";

/** A source file with the columns that its first line names. */
export interface SourceFileWithHeader extends SourceFile {
  /** Its position in the order in which files are read. */
  number: number;
  columns: Column[];
  /** The number of its first row in its table, from 1. */
  firstRow: number;
}

/**
 * Reads the first line of every file before anything is loaded. Columns may be in any order. The staging tables must
 * exist.
 *
 * @throws Error with a line for each file whose first line is not a header of its table
 */
export async function readHeaders(client: Client, files: SourceFile[]): Promise<SourceFileWithHeader[]> {
  const read: { number: number; file: SourceFile; names: string[] }[] = [];
  const faults: string[] = [];
  for (const [number, file] of files.entries()) {
    await readHeader(file).then(
      (names) => read.push({ number, file, names }),
      (error) => faults.push(describeError(error)),
    );
  }
  const compare = await readDefinition("compare_headers.sql");
  const compared: SourceFileWithHeader[] = [];
  for (const { number, file, names } of read) {
    const all = read.flatMap((one) => (one.file.table === file.table ? one.names : []));
    const { rows } = await client.query<{ faults: string; columns: Column[] }>(compare, [
      file.table,
      names,
      all,
    ]);
    const { faults: found = "", columns = [] } = rows[0] ?? {};
    if (found !== "") faults.push(`${file.path}:1: ${found}.`);
    compared.push({ ...file, number, columns, firstRow: 1 });
  }
  if (faults.length > 0) throw new Error(faults.join("\n"));
  await client.query(
    `delete from data_set.awaited_columns
     where (table_name, column_name) in (select * from unnest($1::text[], $2::text[]))
       or column_name in (select name from staging.derived_columns)`,
    [read.flatMap(({ file, names }) => names.map(() => file.table)), read.flatMap(({ names }) => names)],
  );
  return compared;
}

/**
 * Reads the names of a source file's columns.
 *
 * @throws Error if it has no first line
 */
export async function readHeader(file: SourceFile): Promise<string[]> {
  const content = await openContent(file);
  try {
    // PostgreSQL accepts no zero bytes.
    for await (const { record } of readRecords(content, []))
      return splitRow(record.replace(/^\ufeff|\0/g, "")).map(unquote);
  } catch (cause) {
    throw new Error(`${file.path}:1: the header cannot be read: ${describeError(cause)}.`, { cause });
  }
  throw new Error(`${file.path}:1: the file is empty. It needs at least a header line.`);
}
