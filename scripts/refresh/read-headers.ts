import { parse } from "csv-parse";
import type { Client } from "pg";
import { describeError } from "../../service/describe-error.ts";
import type { SourceFile } from "./find-files.ts";
import type { Column } from "./row-format.ts";
import { openContent } from "./storage.ts";

/** A source file with the columns that its first line names. */
export interface SourceFileWithHeader extends SourceFile {
  /** Its place in the order in which files are read. */
  number: number;
  columns: Column[];
  /** The number of its first row in its table, from 1. */
  firstRow: number;
}

const longestHeaderBytes = 1 << 16;

interface ExpectedColumn extends Column {
  is_derived: boolean;
}

/**
 * Reads the first line of every file before anything is loaded. Columns may stand in any order. The staging tables must
 * exist.
 *
 * @throws Error with a line for each file whose first line is not a header of its table
 */
export async function readHeaders(client: Client, files: SourceFile[]): Promise<SourceFileWithHeader[]> {
  const read: SourceFileWithHeader[] = [];
  const faults: string[] = [];
  for (const [number, file] of files.entries()) {
    try {
      const names = await readHeader(file);
      const expected = await readColumns(client, file.table);
      const found = compareColumns(expected, names);
      if (found.length > 0) throw new Error(`${file.path}:1: ${found.join("; ")}.`);
      const columns = names.flatMap((name) => expected.find((column) => column.name === name) ?? []);
      read.push({ ...file, number, columns, firstRow: 1 });
    } catch (error) {
      faults.push(describeError(error));
    }
  }
  if (faults.length > 0) throw new Error(faults.join("\n"));
  return read;
}

async function readHeader(file: SourceFile): Promise<string[]> {
  const parser = parse({
    bom: true,
    record_delimiter: ["\n", "\r\n"],
    relax_column_count: true,
    to: 1,
    max_record_size: longestHeaderBytes,
  });
  const { stream } = await openContent(file);
  stream.on("error", (error) => parser.destroy(error));
  try {
    for await (const names of stream.pipe(parser)) return names;
  } catch (cause) {
    const { message } = cause as Error;
    throw new Error(`${file.path}:1: the header cannot be read: ${message}.`, { cause });
  } finally {
    stream.destroy();
  }
  throw new Error(`${file.path}:1: the file is empty. It needs at least a header line.`);
}

async function readColumns(client: Client, table: string): Promise<ExpectedColumn[]> {
  const { rows } = await client.query<ExpectedColumn>(
    `select attname as name, format_type(atttypid, atttypmod) as type,
       attname in (select name from staging.derived_columns) as is_derived
     from pg_catalog.pg_attribute
     where attrelid = $1::regclass and attnum > 0 and attname not in ('source_file', 'source_row')`,
    [`staging.${table}`],
  );
  return rows;
}

function compareColumns(expected: ExpectedColumn[], given: string[]): string[] {
  const unknown = given.filter((name) => !expected.some((column) => column.name === name));
  const missing = expected.filter(({ name, is_derived }) => !is_derived && !given.includes(name));
  const repeated = given.filter((name, index) => given.indexOf(name) !== index);
  return [
    ["unknown", unknown.map((name) => JSON.stringify(name.slice(0, 60)))] as const,
    ["missing", missing.map(({ name }) => name)] as const,
    ["repeated", repeated] as const,
  ].flatMap(([what, names]) => (names.length === 0 ? [] : `${what} columns ${names.join(", ")}`));
}
