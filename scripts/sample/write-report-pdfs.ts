import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { parse } from "csv-parse";
import { findFiles } from "../refresh/find-files.ts";
import { openContent } from "../refresh/stored-file.ts";
import { describeReport, type GeneralRow } from "./report-pdf.ts";

/** A file name that cannot lead to another directory. */
const reportId = /^\d{4}-\d{2}-[A-Z]{2,20}-\d{1,20}$/;
/** Files written at a time. */
const batchSize = 32;

/**
 * Writes `<report_id>.pdf` for each row of general in a directory of CSV files: public, suppressed and superseded reports.
 * Replaces existing files.
 *
 * @returns the number of PDFs
 * @throws Error that names a malformed report ID or an unreadable file
 */
export async function writeReportPdfs(source: string, output: string): Promise<number> {
  await mkdir(output, { recursive: true });
  const written = new Set<string>();
  let batch: Promise<void>[] = [];
  for (const file of await findFiles(source)) {
    if (file.table !== "general") continue;
    for await (const row of await readRows(file)) {
      if (!reportId.test(row.report_id))
        throw new Error(`${file.path}: ${JSON.stringify(row.report_id)} is not a valid report ID.`);
      written.add(row.report_id);
      batch.push(writeFile(path.join(output, `${row.report_id}.pdf`), describeReport(row)));
      if (batch.length < batchSize) continue;
      await Promise.all(batch);
      batch = [];
    }
  }
  await Promise.all(batch);
  return written.size;
}

async function readRows(
  file: Awaited<ReturnType<typeof findFiles>>[number],
): Promise<AsyncIterable<GeneralRow>> {
  const { stream } = await openContent(file);
  const parser = parse({ bom: true, columns: true });
  stream.on("error", (error) => parser.destroy(error));
  return stream.pipe(parser);
}
