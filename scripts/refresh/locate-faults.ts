import { parse } from "csv-parse/sync";
import type { Fault } from "./faults.ts";
import type { FileWithHeader } from "./read-headers.ts";
import { readRecords } from "./read-records.ts";
import { openContent } from "./stored-file.ts";

/** A fault with the record it is in, as the file has it. */
export interface LocatedFault extends Fault {
  record: string;
  /** The record's report_id, where it can be read. */
  reportId: string | undefined;
}

/**
 * Reads the files of faults once more, for the records they are in. COPY names the line that a record ends on: here
 * it becomes the one that it begins on.
 */
export async function locateFaults(faults: Fault[], files: FileWithHeader[]): Promise<LocatedFault[]> {
  const located: LocatedFault[] = [];
  for (const [number, file] of files.entries()) {
    const own = faults.filter((fault) => fault.file === number).sort((a, b) => a.line - b.line);
    if (own.length > 0) located.push(...(await locateInFile(own, file)));
  }
  return located;
}

async function locateInFile(faults: Fault[], file: FileWithHeader): Promise<LocatedFault[]> {
  const located: LocatedFault[] = [];
  const { stream } = await openContent(file);
  try {
    for await (const { bytes, records } of readRecords(stream)) {
      for (const { start, end, line, lines } of records) {
        for (let next = faults[located.length]; next !== undefined; next = faults[located.length]) {
          if (next.line >= line + lines) break;
          const record = bytes.toString("utf8", start, end);
          located.push({ ...next, line, record, reportId: readReportId(record, file.columns) });
        }
      }
      if (located.length === faults.length) break;
    }
  } finally {
    stream.destroy();
  }
  return located;
}

function readReportId(record: string, columns: string[]): string | undefined {
  try {
    const [values = []] = parse(record, { relax_quotes: true, relax_column_count: true }) as string[][];
    return values[columns.indexOf("report_id")];
  } catch {
    return undefined;
  }
}
