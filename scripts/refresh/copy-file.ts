import { pipeline } from "node:stream/promises";
import { type Client, DatabaseError, escapeIdentifier } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { describeBrokenRecord } from "./describe-broken-record.ts";
import { addFault, countFaults, type Fault, type FaultList, nameKind } from "./faults.ts";
import type { FileWithHeader } from "./read-headers.ts";
import { type CsvRecord, readRecords } from "./read-records.ts";
import { openContent } from "./stored-file.ts";

export interface CopyOptions {
  /** Number of the file, which its rows are marked with. */
  number: number;
  /** Takes what is wrong with single rows. */
  faults: FaultList;
  /** How many faults are kept with their place. */
  keep: number;
  /** Is told of rows and stored bytes that were read. */
  onProgress: (rows: number, bytes: number) => void;
}

const outputBytes = 1 << 18;

/**
 * Streams one CSV file into its staging table, each row with its file and line. Rows that are broken, or hold a value
 * that is not of its column's type, are left out and added to the faults.
 *
 * @returns the number of rows that are in the table now
 * @throws Error that names the file, when it cannot be read to its end
 */
export async function copyFile(client: Client, file: FileWithHeader, options: CopyOptions): Promise<number> {
  const { faults, keep, number } = options;
  const { stream, countStored } = await openContent(file);
  const columns = ["source_file", "source_line", ...file.columns].map(escapeIdentifier).join(", ");
  const copy = client.query(
    copyFrom(
      `copy staging.${escapeIdentifier(file.table)} (${columns}) from stdin
       (format csv, header, on_error ignore, log_verbosity verbose)`,
    ),
  );
  // Lines of the file that COPY has not seen, each by how many lines it had seen before.
  const skipped: { after: number; lines: number }[] = [];
  let sentLines = 0;
  let sentRows = 0;
  let line = 1;
  const refused: Fault[] = [];
  const onNotice = (notice: { message: string | undefined }) => {
    const fault = readNotice(number, notice.message ?? "");
    if (fault !== undefined && refused.length < keep) refused.push(fault);
  };

  async function* convert(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    // COPY counts the line breaks within quotes only once it has seen how lines end.
    yield Buffer.from("header\n");
    let textBytes = 0;
    const counted = (async function* () {
      for await (const chunk of chunks) {
        textBytes += chunk.length;
        yield chunk;
      }
    })();
    for await (const block of readRecords(counted, file.checks)) {
      const kept = block.records.filter((record) => {
        line = record.line;
        if (record.line === 1) return false;
        const fault = describeBrokenRecord(block, record, file.columns);
        if (fault !== undefined) {
          addFault(faults, file.table, { file: number, line: record.line, ...fault }, keep);
          skipped.push({ after: sentLines, lines: record.lines });
          return false;
        }
        sentLines += record.lines;
        sentRows += 1;
        return true;
      });
      yield* write(block.bytes, kept, number);
      options.onProgress(sentRows, countStored(textBytes));
    }
  }

  client.on("notice", onNotice);
  try {
    await pipeline(stream, convert, copy);
  } catch (error) {
    throw describeFailure(error, file.path, line);
  } finally {
    client.off("notice", onNotice);
  }
  const lost = sentRows - copy.rowCount;
  for (const fault of refused) {
    fault.line = findFileLine(fault.line, file.headerLines, skipped);
    addFault(faults, file.table, fault, keep + faults.first.length);
  }
  // Beyond those that are kept, nobody knows the columns.
  if (lost > refused.length) {
    countFaults(
      faults,
      nameKind(file.table, { problem: "has a value of the wrong type" }),
      lost - refused.length,
    );
  }
  return copy.rowCount;
}

function* write(bytes: Buffer, records: CsvRecord[], number: number): Generator<Buffer> {
  let output = Buffer.allocUnsafe(Math.min(outputBytes, bytes.length + records.length * 24));
  let used = 0;
  for (const { start, end, line } of records) {
    const needed = end - start + 24;
    if (used + needed > output.length) {
      if (used > 0) yield output.subarray(0, used);
      output = Buffer.allocUnsafe(Math.max(outputBytes, needed));
      used = 0;
    }
    used += output.write(`${number},${line},`, used, "latin1");
    used += bytes.copy(output, used, start, end);
    output[used] = 0x0a;
    used += 1;
  }
  if (used > 0) yield output.subarray(0, used);
}

/** @param line how far the file was read */
function describeFailure(cause: unknown, file: string, line: number): Error {
  if (cause instanceof DatabaseError)
    return new Error(`${file}: ${cause.message} (${cause.where})`, { cause });
  const { code, message } = cause as NodeJS.ErrnoException;
  const reason = code === "Z_BUF_ERROR" ? "the gzipped data breaks off" : message;
  return new Error(`${file}:${line}: the file cannot be read on from here: ${reason}.`, { cause });
}

/** Reads what COPY says of a row that it has left out. Its other notices are not about a row. */
function readNotice(file: number, message: string): Fault | undefined {
  const [, line, column, value] =
    /at line (\d+) for column "([^"]+)": (?:"(.*)"|null input)$/s.exec(message) ?? [];
  if (line === undefined) return undefined;
  return { file, line: Number(line) - 1, column, value, problem: "is not of the column's type" };
}

/** The line of the file that a line of COPY's input was. */
function findFileLine(
  sent: number,
  headerLines: number,
  skipped: { after: number; lines: number }[],
): number {
  let lines = headerLines;
  for (const gap of skipped) {
    if (gap.after >= sent) break;
    lines += gap.lines;
  }
  return sent + lines;
}
