import { isUtf8 } from "node:buffer";
import { parse } from "csv-parse/sync";
import type { Fault } from "./faults.ts";
import type { CsvBlock, CsvRecord } from "./read-records.ts";

/** What is wrong with a record that COPY is not given. */
export function describeBrokenRecord(
  { bytes }: CsvBlock,
  record: CsvRecord,
  columns: string[],
): Omit<Fault, "file" | "line"> | undefined {
  const { problem, fields, malformed, mistyped } = record;
  const isWhole = problem === undefined && malformed === undefined && fields === columns.length;
  if (isWhole && mistyped === undefined) return undefined;
  const own = bytes.subarray(record.start, Math.min(record.end, record.start + 100_000));
  const bad = isWhole ? mistyped : malformed;
  if (problem === undefined && bad !== undefined) {
    const value = bytes.toString("utf8", bad.start, bad.end);
    return { column: columns[bad.index], value: value.slice(0, 60), problem: bad.problem };
  }
  if (problem === undefined) {
    return {
      value: own.toString("utf8").slice(0, 60),
      problem: `has ${fields} ${fields === 1 ? "value" : "values"} where the header has ${columns.length}`,
    };
  }
  const values = splitValues(own);
  const index = values.findIndex((value) => !isUtf8(value) || value.includes(0));
  return index === -1
    ? { value: own.toString("utf8").slice(0, 60), problem }
    : { column: columns[index], value: escapeBytes(values[index] ?? own).slice(0, 100), problem };
}

/** The values of a record whose bytes may not be text. */
function splitValues(record: Buffer): Buffer[] {
  const options = { relax_quotes: true, relax_column_count: true, skip_records_with_error: true };
  const [values = []] = parse(record.toString("latin1"), options) as string[][];
  return values.map((value) => Buffer.from(value, "latin1"));
}

/** Shows bytes that are not text as \xNN. */
function escapeBytes(value: Buffer): string {
  if (isUtf8(value)) return value.toString("utf8");
  return value.toString("latin1").replaceAll(/[^\x20-\x7e]/g, (character) => {
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
}
