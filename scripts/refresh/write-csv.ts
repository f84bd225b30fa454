import { stat } from "node:fs/promises";
import type { Client } from "pg";
import { hashFile } from "../../shared/objects/directory.ts";
import { copyRows } from "./copy-rows.ts";
import { type CsvFile, type CsvWriter, openCsvWriter } from "./csv-writer.ts";
import { endConnection } from "./watch-session.ts";

/** A file for all rows or, with `only`, for the rows that have this text in a column (0 is the first). */
export interface CsvTarget {
  path: string;
  only?: { column: number; text: string } | undefined;
}

/**
 * Writes the rows of a query, which PostgreSQL sends once, to gzipped CSV files. If that fails, ends the client's connection,
 * because node-postgres cannot use it any more after a COPY that was not read to its end.
 *
 * @param targets the first gets all rows; the others choose rows by the same column
 * @throws Error that names the file if it cannot be written
 */
export async function writeCsv<Target extends CsvTarget>(
  client: Client,
  sql: string,
  targets: Target[],
  signal?: AbortSignal,
): Promise<(Target & CsvFile)[]> {
  const writers: CsvWriter[] = [];
  const free: Buffer[] = [];
  try {
    for (const { path } of targets) writers.push(await openCsvWriter(path, free));
    const take = distribute(targets, writers);
    const rows = await copyRows(client, `copy (${sql}) to stdout (format csv, header)`, (row) => {
      signal?.throwIfAborted();
      return take(row);
    });
    for (const writer of writers) await writer.end();
    const sent = writers[0]?.file.rows;
    if (sent !== rows) throw new Error(`PostgreSQL sent ${sent} of ${rows} rows.`);
    return targets.map((target, index) => ({ ...target, ...writers[index]?.file }) as Target & CsvFile);
  } catch (error) {
    await endConnection(client);
    throw error;
  } finally {
    for (const writer of writers) await writer.close();
  }
}

/** The parts that may wait to be compressed and saved. */
const mostParts = 4;

/** Returns a function that adds a row to the first writer and to the writer for its text, and waits if they fall behind. */
function distribute(targets: CsvTarget[], writers: CsvWriter[]): (row: Buffer) => Promise<void> | undefined {
  const column = targets.find(({ only }) => only !== undefined)?.only?.column;
  const byText = new Map(writers.map((writer, index) => [targets[index]?.only?.text, writer]));
  const waiting = new Set<Promise<void>>();
  let isHeader = true;
  const add = (writer: CsvWriter, row: Buffer) => {
    if (!isHeader) writer.file.rows += 1;
    const saved = writer.add(row);
    if (saved === undefined) return;
    waiting.add(saved);
    // A failure stays in the set, so that Promise.race() rejects.
    saved.then(
      () => waiting.delete(saved),
      () => {},
    );
  };
  return (row) => {
    if (isHeader) for (const writer of writers) add(writer, row);
    else {
      const [all] = writers;
      const own = column === undefined ? undefined : byText.get(readText(row, column));
      if (all !== undefined) add(all, row);
      if (own !== undefined) add(own, row);
    }
    isHeader = false;
    return waiting.size < mostParts ? undefined : Promise.race(waiting);
  };
}

const [comma, quote, lineBreak] = [...("," + '"' + "\n")].map((character) => character.charCodeAt(0));

/** Returns a column of a row of `COPY`, as written there. */
function readText(row: Buffer, column: number): string {
  let isQuoted = false;
  let start = 0;
  let left = column;
  for (let at = 0; at < row.length; at += 1) {
    const byte = row[at];
    if (byte === quote) isQuoted = !isQuoted;
    else if ((byte === comma || byte === lineBreak) && !isQuoted) {
      if (left === 0) return row.toString("latin1", start, at);
      left -= 1;
      start = at + 1;
    }
  }
  return "";
}

/** What the manifest says about a file. */
export async function describeFile(file: string): Promise<{ bytes: number; sha256: string }> {
  return { bytes: (await stat(file)).size, sha256: await hashFile(file) };
}
