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
  const anyRow = matchAnyRow();
  let goodRow: RegExp | undefined;
  let line = 1;
  let rest: Buffer = Buffer.alloc(0);

  const readBlock = (bytes: Buffer): Block => {
    const text = bytes.toString("latin1");
    const rows: SourceRow[] = [];
    const checkBytes = !isUtf8(bytes);
    for (let start = 0; ; ) {
      const goodEnd = goodRow && findEnd(goodRow, text, start);
      const end = goodEnd ?? findEnd(anyRow, text, start);
      if (end === undefined) break;
      const row: SourceRow = { start, end, line, problem: undefined };
      const isHeader = line === 1;
      const isGood = goodEnd !== undefined && !(checkBytes && !isUtf8(bytes.subarray(start, end)));
      if (isHeader) goodRow = matchRow(columns, text[end - 2] === "\r" ? "\r\n" : "\n");
      else if (!isGood) row.problem = describeRow(text.slice(start, end).replace(/\r?\n$/, ""), columns);
      rows.push(row);
      line += countLines(text, start, end);
      start = end;
    }
    return { bytes, rows };
  };
  /** The remaining bytes when the file ends, or a row that does not end. */
  const describeRest = (problem: string): SourceRow & { problem: RowProblem } => {
    const values = splitRow(rest.toString("latin1", 0, longestRowBytes).replace(/\r$/, ""));
    const [column, value] = [columns[values.length - 1]?.name, show(values.at(-1) ?? "")];
    return { start: 0, end: rest.length, line, problem: { column, value, problem } };
  };

  for await (const chunk of chunks) {
    const block = readBlock(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]));
    if (block.rows.length > 0) yield block;
    rest = block.bytes.subarray(block.rows.at(-1)?.end ?? 0);
    if (rest.length <= longestRowBytes) continue;
    const row = describeRest(`does not end within ${longestRowBytes >> 20} MB`);
    yield { bytes: rest, rows: [row] };
    throw new Error(`${describeProblem(row.problem)}: a closing quote may be missing`);
  }
  if (rest.length === 0) return;
  const isClosed = findEnd(anyRow, `${rest.toString("latin1")}\n`, 0) !== undefined;
  const problem = isClosed
    ? "has no line break after it: the file may have been cut off"
    : "has a quote that is never closed";
  yield { bytes: rest, rows: [describeRest(problem)] };
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
