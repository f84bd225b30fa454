import { isUtf8 } from "node:buffer";
import {
  type Column,
  describeProblem,
  describeRow,
  matchAnyRow,
  matchRow,
  type RowProblem,
  show,
  splitRow,
} from "./row-format.ts";

/** A row of a source file, as a range of its block's bytes. The first row is the header. */
interface SourceRow {
  start: number;
  /** After its line break. */
  end: number;
  /** The line of the file that it begins on, from 1. */
  line: number;
  problem: RowProblem | undefined;
}

/** A part of a source file with whole rows. */
interface Block {
  bytes: Buffer;
  rows: SourceRow[];
}

// On some rows of 5 MB, V8's regular expressions overflow the stack. The longest texts have about 32,000 characters.
const longestRowBytes = 2 << 20;

/**
 * Splits a CSV file (RFC 4180) into rows, and checks each row. Keeps in memory one chunk, and the row that continues in the
 * next chunk.
 *
 * @throws Error after a row that does not end within 2 MB: the rest of the file could be part of it
 */
export async function* readRows(chunks: AsyncIterable<Buffer>, columns: Column[]): AsyncGenerator<Block> {
  const reader = new RowReader(columns);
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const rows = reader.readRows(bytes);
    if (rows.length > 0) yield { bytes, rows };
    rest = bytes.subarray(rows.at(-1)?.end ?? 0);
    if (rest.length <= longestRowBytes) continue;
    const row = reader.describeRest(rest, `does not end within ${longestRowBytes >> 20} MB`);
    yield { bytes: rest, rows: [row] };
    throw new Error(`${describeProblem(row.problem)}: a closing quote may be missing`);
  }
  if (rest.length > 0) yield { bytes: rest, rows: [reader.describeRest(rest, describeEnd(rest))] };
}

/** Reads the rows of one file, block by block. */
class RowReader {
  readonly #columns: Column[];
  readonly #anyRow = matchAnyRow();
  /** Known once the header has shown how lines end. */
  #goodRow: RegExp | undefined;
  /** The line on which the next row begins. */
  #line = 1;

  constructor(columns: Column[]) {
    this.#columns = columns;
  }

  /** Returns the rows that end in these bytes, which must begin with a row. */
  readRows(bytes: Buffer): SourceRow[] {
    const text = bytes.toString("latin1");
    const hasBadBytes = !isUtf8(bytes);
    const rows: SourceRow[] = [];
    for (let start = 0; ; ) {
      const goodEnd = this.#goodRow && findEnd(this.#goodRow, text, start);
      const end = goodEnd ?? findEnd(this.#anyRow, text, start);
      if (end === undefined) return rows;
      const isGood = goodEnd !== undefined && !(hasBadBytes && !isUtf8(bytes.subarray(start, end)));
      const row: SourceRow = { start, end, line: this.#line, problem: undefined };
      if (this.#line === 1) this.#readLineBreak(text, end);
      else if (!isGood)
        row.problem = describeRow(text.slice(start, end).replace(/\r?\n$/, ""), this.#columns);
      rows.push(row);
      this.#line += countLines(text, start, end);
      start = end;
    }
  }

  #readLineBreak(text: string, end: number): void {
    this.#goodRow = matchRow(this.#columns, text[end - 2] === "\r" ? "\r\n" : "\n");
  }

  /** Describes bytes after the last row. */
  describeRest(rest: Buffer, problem: string): SourceRow & { problem: RowProblem } {
    const values = splitRow(rest.toString("latin1", 0, longestRowBytes).replace(/\r$/, ""));
    const [column, value] = [this.#columns[values.length - 1]?.name, show(values.at(-1) ?? "")];
    return { start: 0, end: rest.length, line: this.#line, problem: { column, value, problem } };
  }
}

/** Says why the last bytes of a file are not a row. */
function describeEnd(rest: Buffer): string {
  const isClosed = findEnd(matchAnyRow(), `${rest.toString("latin1")}\n`, 0) !== undefined;
  return isClosed
    ? "has no line break after it: the file may have been cut off"
    : "has a quote that is never closed";
}

/** Returns where a sticky pattern's match ends. */
function findEnd(pattern: RegExp, text: string, start: number): number | undefined {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

function countLines(text: string, start: number, end: number): number {
  let lines = 0;
  for (let at = text.indexOf("\n", start); at >= 0 && at < end; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}
