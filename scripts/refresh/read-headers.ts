import { parse } from "csv-parse/sync";
import type { Client } from "pg";
import { describeError } from "../../service/describe-error.ts";
import type { SourceFile } from "./find-files.ts";
import { readRecords } from "./read-records.ts";
import { openContent } from "./stored-file.ts";

/** A source file with the columns its first line names. */
export interface FileWithHeader extends SourceFile {
  columns: string[];
  /** Lines that the header takes. */
  headerLines: number;
}

/**
 * Reads the first line of every file before anything is loaded. Columns are taken by name, in any order. The
 * staging tables must be there.
 *
 * @throws Error with a line for each file whose first line is no header of its table
 */
export async function readHeaders(client: Client, files: SourceFile[]): Promise<FileWithHeader[]> {
  const read: FileWithHeader[] = [];
  const faults: string[] = [];
  for (const file of files) {
    try {
      const header = await readHeader(file);
      const found = await compareColumns(client, file, header.columns);
      if (found.length > 0) faults.push(`${file.path}:1: ${found.join("; ")}.`);
      read.push({ ...file, ...header });
    } catch (error) {
      faults.push(describeError(error));
    }
  }
  if (faults.length > 0) throw new Error(faults.join("\n"));
  return read;
}

async function readHeader(file: SourceFile): Promise<{ columns: string[]; headerLines: number }> {
  const { stream } = await openContent(file);
  try {
    for await (const { bytes, records } of readRecords(stream)) {
      const [first] = records;
      if (first === undefined) continue;
      if (first.problem !== undefined) throw new Error(`the first line ${first.problem}`);
      const text = bytes.toString("utf8", first.start, first.end);
      const [columns = []] = parse(text, { bom: true, relax_quotes: true }) as string[][];
      return { columns, headerLines: first.lines };
    }
  } catch (cause) {
    const { message } = cause as Error;
    throw new Error(`${file.path}:1: the file cannot be read: ${message}.`, { cause });
  } finally {
    stream.destroy();
  }
  throw new Error(`${file.path}:1: the file is empty; it should at least have a header line.`);
}

async function compareColumns(client: Client, file: SourceFile, columns: string[]): Promise<string[]> {
  const { rows } = await client.query<{ name: string; is_derived: boolean }>(
    `select attname as name, attname in (select name from staging.derived_columns) as is_derived
     from pg_catalog.pg_attribute
     where attrelid = $1::regclass and attnum > 0 and attname not in ('source_file', 'source_line')`,
    [`staging.${file.table}`],
  );
  const expected = rows.map(({ name }) => name);
  const unknown = columns.filter((name) => !expected.includes(name));
  const missing = rows.flatMap(({ name, is_derived }) =>
    is_derived || columns.includes(name) ? [] : [name],
  );
  const twice = columns.filter((name, index) => columns.indexOf(name) !== index);
  return [
    ...(unknown.length > 0
      ? [`unknown columns ${unknown.map((name) => JSON.stringify(name.slice(0, 60))).join(", ")}`]
      : []),
    ...(missing.length > 0 ? [`missing columns ${missing.join(", ")}`] : []),
    ...(twice.length > 0 ? [`columns given twice ${twice.join(", ")}`] : []),
  ];
}
