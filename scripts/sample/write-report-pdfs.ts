import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { parse } from "csv-parse";
import { findFiles } from "../refresh/find-files.ts";
import { openContent } from "../refresh/storage.ts";

/** A row of general as a CSV file has it. Every column except the report's ID may be missing. */
type Row = { report_id: string } & Readonly<Record<string, string | undefined>>;

/** A file name that cannot lead to another directory. */
const reportId = /^\d{4}-\d{2}-[A-Z]{2,20}-\d{1,20}$/;
/** Files written at a time. */
const batchSize = 32;
const facts = {
  "Report ID": "report_id",
  Auditee: "auditee_name",
  "Audit year": "audit_year",
  "Fiscal year end": "fy_end_date",
  Accepted: "fac_accepted_date",
  Auditor: "auditor_firm_name",
  "Dollars expended": "total_amount_expended",
};
const footer = "Sample document, made from the published columns. This is not the report that was filed.";

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
  for (const file of (await findFiles(source)).filter(({ table }) => table === "general")) {
    const stream = await openContent(file);
    const parser = parse({ bom: true, columns: true });
    stream.on("error", (error) => parser.destroy(error));
    for await (const row of stream.pipe(parser) as AsyncIterable<Row>) {
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

/** A one-page PDF about a report. */
function describeReport(row: Row): Buffer {
  const lines = Object.entries(facts).map(([label, column]) => `${label}: ${row[column] ?? ""}`);
  const shown = ["", ...lines, "", footer].map((line) => `0 -18 Td (${encode(line)}) Tj`);
  const content = `BT /F1 18 Tf 54 720 Td (Single Audit report) Tj /F1 11 Tf\n${shown.join("\n")}\nET`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 4 0 R >> >> /Contents 5 0 R >>",
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
  ];
  let text = "%PDF-1.4\n";
  let index = "0000000000 65535 f \n";
  for (const [number, object] of objects.entries()) {
    index += `${String(text.length).padStart(10, "0")} 00000 n \n`;
    text += `${number + 1} 0 obj\n${object}\nendobj\n`;
  }
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`;
  return Buffer.from(`${text}xref\n0 ${objects.length + 1}\n${index}${trailer}`, "latin1");
}

/** The standard fonts have Latin-1: other letters lose their accents, and what is left becomes a question mark. */
function encode(text: string): string {
  const latin = Array.from(text, (character) =>
    character <= "ÿ" ? character : character.normalize("NFKD").replace(/[^ -~]/gu, "") || "?",
  );
  return latin
    .join("")
    .replace(/[\\()]/g, "\\$&")
    .replace(/\s+/g, " ");
}
