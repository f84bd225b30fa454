import { isUtf8 } from "node:buffer";
import type { ValueCheck } from "./check-value.ts";

/** A value at fault, as bytes of the block it is in. */
export interface BadValue {
  /** Which of the record's values, from 0. */
  index: number;
  start: number;
  end: number;
  problem: string;
}

/** One record of a CSV file, as bytes of the block it is in. */
export interface CsvRecord {
  start: number;
  /** Without the line break that ends it. */
  end: number;
  /** The line of the file that it begins on, from 1. */
  line: number;
  /** How many lines it takes: more than one where quoted text has line breaks. */
  lines: number;
  fields: number;
  /** What makes it unreadable, if anything. */
  problem: string | undefined;
  /** The first value that does not end or is not quoted as values are. */
  malformed: BadValue | undefined;
  /** The first value that a check refused. */
  mistyped: BadValue | undefined;
}

/** A stretch of a CSV file with its whole records. */
export interface CsvBlock {
  bytes: Buffer;
  records: CsvRecord[];
}

const quote = 0x22;
const comma = 0x2c;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const longestRecordBytes = 8 << 20;
const bareReturn = "has a carriage return outside quotes, where lines end with a line feed";

/** How far a file has been cut, and what is known of the record that is being read. */
interface Cut {
  /** Where its record begins. */
  start: number;
  line: number;
  lines: number;
  fields: number;
  fieldStart: number;
  /** Where the last quote was that closed something. */
  closedAt: number;
  isQuoted: boolean;
  wasReturn: boolean;
  malformed: BadValue | undefined;
  mistyped: BadValue | undefined;
  /** What is wrong with the form of the value that is being read. */
  oddity: string | undefined;
}

type Checks = readonly (ValueCheck | undefined)[];

const firstCut: Cut = {
  start: 0,
  line: 1,
  lines: 1,
  fields: 1,
  fieldStart: 0,
  closedAt: -2,
  isQuoted: false,
  wasReturn: false,
  malformed: undefined,
  mistyped: undefined,
  oddity: undefined,
};

/**
 * Cuts the bytes of a CSV file (RFC 4180) into records. COPY would take quotes anywhere in a value, and make one value of
 * what they enclose: such records are marked, and so is a last one without a line break, of which nobody knows whether
 * it is whole. Holds a chunk and the record that it breaks off in, and no more.
 *
 * @param checks of the values of each record, in order
 */
export async function* readRecords(
  chunks: AsyncIterable<Buffer>,
  checks: Checks = [],
): AsyncGenerator<CsvBlock> {
  let rest: Buffer = Buffer.alloc(0);
  const cut = { ...firstCut };
  for await (const chunk of chunks) {
    const bytes: Buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const records = cutRecords(bytes, rest.length, cut, checks);
    markUnreadable(bytes, records);
    if (records.length > 0) yield { bytes, records };
    rest = bytes.subarray(cut.start);
    shift(cut, cut.start);
    if (rest.length > longestRecordBytes) {
      cut.oddity ??= `does not end within ${longestRecordBytes >> 20} MB: is a closing quote missing?`;
      const record = endRecord(rest, cut, checks, Math.min(rest.length, cut.fieldStart + 100));
      yield { bytes: rest, records: [{ ...record, end: 100, lines: Infinity }] };
      return;
    }
  }
  if (rest.length === 0) return;
  cut.oddity ??= cut.isQuoted
    ? "has a quote that is never closed"
    : "has no line break after it: the file may have been cut off";
  const record = endRecord(rest, cut, checks, cut.wasReturn ? rest.length - 1 : rest.length);
  markUnreadable(rest, [record]);
  yield { bytes: rest, records: [record] };
}

/** @param from where to go on: what is before was seen */
function cutRecords(bytes: Buffer, from: number, cut: Cut, checks: Checks): CsvRecord[] {
  const records: CsvRecord[] = [];
  for (let position = from; position < bytes.length; position += 1) {
    const byte = bytes[position];
    if (cut.isQuoted) {
      if (byte === quote) {
        cut.isQuoted = false;
        cut.closedAt = position;
      } else if (byte === lineFeed) cut.lines += 1;
      continue;
    }
    if (byte === lineFeed) {
      records.push(endRecord(bytes, cut, checks, cut.wasReturn ? position - 1 : position));
      beginRecord(cut, position + 1);
      continue;
    }
    if (cut.wasReturn) cut.oddity ??= bareReturn;
    cut.wasReturn = byte === carriageReturn;
    if (byte === comma) {
      endValue(bytes, cut, checks, position);
      cut.fields += 1;
      cut.fieldStart = position + 1;
    } else if (byte === quote) {
      // The first byte of a value, or the second of a doubled quote.
      if (position === cut.fieldStart || position - 1 === cut.closedAt) cut.isQuoted = true;
      else cut.oddity ??= "has a quote in the middle";
    } else if (position - 1 === cut.closedAt && !cut.wasReturn) {
      cut.oddity ??= "has text after its closing quote";
    }
  }
  return records;
}

function beginRecord(cut: Cut, start: number): void {
  cut.line += cut.lines;
  cut.lines = 1;
  cut.fields = 1;
  cut.start = start;
  cut.fieldStart = start;
  cut.wasReturn = false;
  cut.malformed = undefined;
  cut.mistyped = undefined;
}

/** The bytes before are gone. */
function shift(cut: Cut, bytes: number): void {
  cut.start -= bytes;
  cut.fieldStart -= bytes;
  cut.closedAt -= bytes;
  for (const bad of [cut.malformed, cut.mistyped]) {
    if (bad === undefined) continue;
    bad.start -= bytes;
    bad.end -= bytes;
  }
}

function endValue(bytes: Buffer, cut: Cut, checks: Checks, end: number): void {
  const { fieldStart: start, oddity } = cut;
  const index = cut.fields - 1;
  if (oddity !== undefined) {
    cut.malformed ??= { index, start, end, problem: oddity };
    cut.oddity = undefined;
  } else if (cut.mistyped === undefined) {
    const problem = checks[index]?.(bytes, start, end);
    if (problem !== undefined) cut.mistyped = { index, start, end, problem };
  }
}

function endRecord(bytes: Buffer, cut: Cut, checks: Checks, end: number): CsvRecord {
  endValue(bytes, cut, checks, end);
  const { start, line, lines, fields, malformed, mistyped } = cut;
  const hasMark = bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf;
  const problem =
    line > 1 && hasMark ? "begins with a byte order mark, as where two files were joined" : undefined;
  return { start, end, line, lines, fields, problem, malformed, mistyped };
}

/** Marks the records that hold bytes which are not text. */
function markUnreadable(bytes: Buffer, records: CsvRecord[]): void {
  const first = records[0];
  const last = records.at(-1);
  if (first === undefined || last === undefined) return;
  const whole = bytes.subarray(first.start, last.end);
  if (isUtf8(whole) && !whole.includes(0)) return;
  for (const record of records) {
    const own = bytes.subarray(record.start, record.end);
    if (!isUtf8(own)) record.problem ??= "has a byte that is not UTF-8";
    else if (own.includes(0)) record.problem ??= "has a zero byte";
  }
}
