import { createWriteStream } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { readReports } from "./read-reports.ts";
import { type Report, writeReportPdf } from "./report-pdf.ts";

export type ReportPdfOptions = {
  /** CSV files in the public column names, generated or real. */
  directory: string;
  /** Receives `<report_id>.pdf` of every report, public or suppressed, superseded ones too. */
  output: string;
  /** PDFs being written at the same time. */
  concurrency?: number;
  /** `total` grows while a large directory is read. */
  onProgress?: (done: number, total: number) => void;
  /** Aborting leaves whole PDFs only. */
  signal?: AbortSignal;
};

const DEFAULT_CONCURRENCY = 4;

/** Writes a PDF of every report, replacing those of an earlier run. Returns how many. */
export async function writeReportPdfs(options: ReportPdfOptions): Promise<number> {
  const { directory, output, concurrency = DEFAULT_CONCURRENCY, onProgress, signal } = options;
  await mkdir(output, { recursive: true });
  let done = 0;
  let total = 0;
  for await (const reports of readReports(directory)) {
    total += reports.length;
    const queue = reports.values();
    const work = async () => {
      for (const report of queue) {
        signal?.throwIfAborted();
        await writeFile(output, report);
        done += 1;
        onProgress?.(done, total);
      }
    };
    // All have stopped before an error is passed on, so that nothing is written after the call.
    const outcomes = await Promise.allSettled(Array.from({ length: concurrency }, work));
    const failure = outcomes.find((outcome) => outcome.status === "rejected");
    if (failure) throw failure.reason;
  }
  return done;
}

async function writeFile(output: string, report: Report): Promise<void> {
  const target = path.join(output, `${report.general.report_id}.pdf`);
  const temporary = `${target}.part`;
  try {
    await writeReportPdf(report, createWriteStream(temporary));
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
