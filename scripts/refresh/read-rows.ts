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

/** The text of a row in its file, without its line break. */
export const readText = ({ bytes }: Block, { start, end }: SourceRow): string =>
  bytes.toString("utf8", start, end).replace(/\r?\n$/, "");

/** Reads a file's rows one by one, as text. */
export async function* readRecords(chunks: AsyncIterable<Buffer>, columns: Column[]) {
  for await (const block of readRows(chunks, columns))
    for (const row of block.rows)
      yield { line: row.line, problem: row.problem, record: readText(block, row) };
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
  const anyRow = matchAnyRow();
  /** Known once the header has shown how lines end. */
  let goodRow: RegExp | undefined;
  /** The line on which the next row begins. */
  let nextLine = 1;
  /** The row that continues in the next chunk. */
  let rest: Buffer = Buffer.alloc(0);

  /** Returns the rows that end in these bytes, which must begin with a row. */
  function readBlock(bytes: Buffer): SourceRow[] {
    const text = bytes.toString("latin1");
    const hasBadBytes = !isUtf8(bytes);
    const rows: SourceRow[] = [];
    for (let start = 0; ; ) {
      const goodEnd = goodRow && findEnd(goodRow, text, start);
      const end = goodEnd ?? findEnd(anyRow, text, start);
      if (end === undefined) return rows;
      const isGood = goodEnd !== undefined && !(hasBadBytes && !isUtf8(bytes.subarray(start, end)));
      const row: SourceRow = { start, end, line: nextLine, problem: undefined };
      if (goodRow === undefined) goodRow = matchRow(columns, text[end - 2] === "\r" ? "\r\n" : "\n");
      else if (!isGood) row.problem = describeRow(text.slice(start, end).replace(/\r?\n$/, ""), columns);
      rows.push(row);
      nextLine += countLines(text, start, end);
      start = end;
    }
  }
  /** Describes bytes after the last row. */
  function describeRest(problem: string): RowProblem {
    const values = splitRow(rest.toString("latin1", 0, longestRowBytes).replace(/\r$/, ""));
    return { column: columns[values.length - 1]?.name, value: show(values.at(-1) ?? ""), problem };
  }
  const endWith = (problem: RowProblem): Block => ({
    bytes: rest,
    rows: [{ start: 0, end: rest.length, line: nextLine, problem }],
  });

  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const rows = readBlock(bytes);
    if (rows.length > 0) yield { bytes, rows };
    rest = bytes.subarray(rows.at(-1)?.end ?? 0);
    if (rest.length <= longestRowBytes) continue;
    const problem = describeRest(`does not end within ${longestRowBytes >> 20} MB`);
    yield endWith(problem);
    throw new Error(`${describeProblem(problem)}: a closing quote may be missing`);
  }
  if (rest.length > 0) yield endWith(describeRest(describeEnd(rest)));
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
