import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { nameReportFile } from "../../report-service/storage.ts";
import { findFiles, type SourceFile } from "../refresh/find-files.ts";
import { openContent } from "../refresh/open-content.ts";
import { readHeader } from "../refresh/read-headers.ts";
import { readRecords } from "../refresh/read-rows.ts";
import { describeProblem, splitRow, unquote } from "../refresh/row-format.ts";

/** A row of general, read from a CSV file. Every column except the report's ID may be missing. */
type Row = { report_id: string } & Readonly<Record<string, string | undefined>>;

/** A file name that cannot lead to another directory. */
const reportId = /^\d{4}-\d{2}-[A-Z]{2,20}-\d{1,20}$/;
/** A page with slots, such as `<{audit_year   }>`, which keep their width so that the PDF's xref offsets stay valid. */
const templateFile = path.join(import.meta.dirname, "report.pdf");

/**
 * Writes the PDF for each row of general in a directory of CSV files: public, suppressed and superseded
 * reports. Replaces existing files.
 *
 * @returns the number of PDFs
 * @throws Error that names a malformed report ID or an unreadable file
 */
export async function writeReportPdfs(source: string, output: string): Promise<number> {
  const template = await readFile(templateFile, "latin1");
  const written = new Set<string>();
  await mkdir(output, { recursive: true });
  const write = async (row: Row) => {
    await writeFile(path.join(output, nameReportFile(row.report_id)), fillSlots(template, row), "latin1");
    written.add(row.report_id);
  };
  for (const file of (await findFiles(source)).filter(({ table }) => table === "general"))
    await Readable.from(readGeneral(file)).forEach(write, { concurrency: 32 });
  return written.size;
}

async function* readGeneral(file: SourceFile): AsyncGenerator<Row> {
  const names = await readHeader(file);
  const columns = names.map((name) => ({ name, type: "text" }));
  for await (const { line, problem, record } of readRecords(await openContent(file), columns)) {
    if (line === 1) continue;
    if (problem) throw new Error(`${file.path}:${line}: ${describeProblem(problem)}.`);
    const values = splitRow(record).map(unquote);
    const row = Object.fromEntries(names.map((name, index) => [name, values[index]]));
    if (!reportId.test(row.report_id ?? ""))
      throw new Error(`${file.path}: ${JSON.stringify(row.report_id)} is not a valid report ID.`);
    yield row as Row;
  }
}

/** Fills slots with hexadecimal strings. The standard fonts have Latin-1, so other characters become question marks. */
function fillSlots(template: string, row: Row): string {
  return template.replace(/\{(\w+) *\}/g, (slot, column) => {
    const latin = (row[column] ?? "").replace(/[^ -ÿ]/gu, "?");
    return Buffer.from(latin, "latin1").toString("hex").slice(0, slot.length).padEnd(slot.length);
  });
}
