import { parse } from "csv-parse/sync";
import type { Client } from "pg";
import { describeError } from "../../service/describe-error.ts";
import { chooseCheck, type ValueCheck } from "./check-value.ts";
import type { SourceFile } from "./find-files.ts";
import { readRecords } from "./read-records.ts";
import { openContent } from "./stored-file.ts";

/** A source file with the columns its first line names. */
export interface FileWithHeader extends SourceFile {
  columns: string[];
  /** Of the columns' values, in order. */
  checks: (ValueCheck | undefined)[];
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
      const expected = await readColumns(client, file);
      const found = compareColumns(expected, header.columns);
      if (found.length > 0) faults.push(`${file.path}:1: ${found.join("; ")}.`);
      const checks = header.columns.map((name) => {
        const column = expected.find((it) => it.name === name);
        return column && chooseCheck(column);
      });
      read.push({ ...file, ...header, checks });
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
      const problem = first.problem ?? first.malformed?.problem;
      if (problem !== undefined) throw new Error(`the first line ${problem}`);
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

interface ExpectedColumn {
  name: string;
  type: string;
  is_derived: boolean;
}

async function readColumns(client: Client, file: SourceFile): Promise<ExpectedColumn[]> {
  const { rows } = await client.query<ExpectedColumn>(
    `select attname as name, typname as type, attname in (select name from staging.derived_columns) as is_derived
     from pg_catalog.pg_attribute join pg_catalog.pg_type on pg_type.oid = atttypid
     where attrelid = $1::regclass and attnum > 0 and attname not in ('source_file', 'source_line')`,
    [`staging.${file.table}`],
  );
  return rows;
}

function compareColumns(columns: ExpectedColumn[], given: string[]): string[] {
  const expected = columns.map(({ name }) => name);
  const unknown = given.filter((name) => !expected.includes(name));
  const missing = columns.flatMap(({ name, is_derived }) =>
    is_derived || given.includes(name) ? [] : [name],
  );
  const twice = given.filter((name, index) => given.indexOf(name) !== index);
  return [
    ...(unknown.length > 0
      ? [`unknown columns ${unknown.map((name) => JSON.stringify(name.slice(0, 60))).join(", ")}`]
      : []),
    ...(missing.length > 0 ? [`missing columns ${missing.join(", ")}`] : []),
    ...(twice.length > 0 ? [`columns given twice ${twice.join(", ")}`] : []),
  ];
}
