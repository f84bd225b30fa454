import { isUtf8 } from "node:buffer";

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

/**
 * Cuts the bytes of a CSV file (RFC 4180, as PostgreSQL's COPY reads it) into records. Holds a chunk and the record
 * that it breaks off in, and no more.
 */
export async function* readRecords(chunks: AsyncIterable<Buffer>): AsyncGenerator<CsvBlock> {
  let rest: Buffer = Buffer.alloc(0);
  // State of the record that `rest` is the beginning of.
  let position = 0;
  let line = 1;
  let lines = 1;
  let fields = 1;
  let isQuoted = false;
  let wasReturn = false;
  let hasBareReturn = false;

  for await (const chunk of chunks) {
    const bytes: Buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const records: CsvRecord[] = [];
    let start = 0;
    for (; position < bytes.length; position += 1) {
      const byte = bytes[position];
      if (isQuoted) {
        if (byte === quote) isQuoted = false;
        else if (byte === lineFeed) lines += 1;
        continue;
      }
      if (byte === lineFeed) {
        const end = wasReturn ? position - 1 : position;
        const problem = hasBareReturn ? "has a carriage return outside quotes" : undefined;
        records.push({ start, end, line, lines, fields, problem });
        start = position + 1;
        line += lines;
        lines = 1;
        fields = 1;
        wasReturn = false;
        hasBareReturn = false;
        continue;
      }
      if (wasReturn) hasBareReturn = true;
      wasReturn = byte === carriageReturn;
      if (byte === comma) fields += 1;
      else if (byte === quote) isQuoted = true;
    }
    markUnreadable(bytes, records);
    if (records.length > 0) yield { bytes, records };
    rest = bytes.subarray(start);
    position = rest.length;
    if (rest.length > longestRecordBytes) {
      const problem = `does not end within ${longestRecordBytes >> 20} MB: is a closing quote missing?`;
      yield { bytes: rest, records: [{ start: 0, end: 100, line, lines: Infinity, fields, problem }] };
      return;
    }
  }
  if (rest.length === 0) return;
  const problem = isQuoted ? "has a quote that is never closed" : undefined;
  const end = wasReturn ? rest.length - 1 : rest.length;
  const records = [{ start: 0, end, line, lines, fields, problem }];
  markUnreadable(rest, records);
  yield { bytes: rest, records };
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
