import { type CsvError, parse } from "csv-parse";
import { findFiles, type SourceFile } from "../refresh/find-files.ts";
import { openContent } from "../refresh/stored-file.ts";
import type { Cells, Report } from "./report-pdf.ts";

/** How many reports are held in memory at a time; the child files are read once for each such slice. */
const SLICE = 20_000;

/** What a file name is made of: nothing in it can lead to another directory. */
const REPORT_ID = /^\d{4}-\d{2}-[A-Z]{2,20}-\d{1,20}$/;

const COLUMNS = {
  federal_awards: [
    "report_id",
    "award_reference",
    "federal_agency_prefix",
    "federal_award_extension",
    "federal_program_name",
    "is_major",
    "is_direct",
    "amount_expended",
  ],
  findings: [
    "report_id",
    "award_reference",
    "reference_number",
    "type_requirement",
    "is_material_weakness",
    "is_significant_deficiency",
    "is_modified_opinion",
    "is_questioned_costs",
    "is_repeat_finding",
  ],
} as const;

/**
 * Reads the reports of a directory of CSV files with their awards and findings, in slices. The files may
 * be `<table>.csv` or several `*-<table>.csv` that overlap; only those of general are needed. Rows of a child
 * table may stand in any order.
 *
 * @throws Error that names a file which is not such a table, or a report ID which is none
 */
export async function* readReports(directory: string): AsyncGenerator<Report[]> {
  const files = await findFiles(directory);
  const seen = new Set<string>();
  let slice = new Map<string, Cells>();
  for await (const row of readRows(files, "general")) {
    const id = row.report_id;
    if (!REPORT_ID.test(id))
      throw new Error(`general has the report ID ${JSON.stringify(id)}, which is none.`);
    if (seen.has(id)) continue;
    seen.add(id);
    slice.set(id, row);
    if (slice.size < SLICE) continue;
    yield await joinChildren(files, slice);
    slice = new Map();
  }
  if (slice.size > 0) yield await joinChildren(files, slice);
}

async function joinChildren(files: SourceFile[], slice: ReadonlyMap<string, Cells>): Promise<Report[]> {
  const awards = await collectRows(files, "federal_awards", slice, (row) => row.award_reference);
  const findings = await collectRows(
    files,
    "findings",
    slice,
    (row) => `${row.reference_number} ${row.award_reference}`,
  );
  return [...slice].map(([id, general]) => ({
    general,
    awards: [...(awards.get(id)?.values() ?? [])],
    findings: [...(findings.get(id)?.values() ?? [])],
  }));
}

/** The rows of the reports of a slice, by report ID; a row that overlapping files repeat is taken once. */
async function collectRows(
  files: SourceFile[],
  table: "federal_awards" | "findings",
  slice: ReadonlyMap<string, Cells>,
  identify: (row: FileRow) => string | undefined,
): Promise<Map<string, Map<string | undefined, Cells>>> {
  const rows = new Map<string, Map<string | undefined, Cells>>();
  for await (const row of readRows(files, table, COLUMNS[table])) {
    const id = row.report_id;
    if (!slice.has(id)) continue;
    const own = rows.get(id) ?? new Map<string | undefined, Cells>();
    rows.set(id, own);
    own.set(identify(row), row);
  }
  return rows;
}

type FileRow = { report_id: string } & Readonly<Record<string, string | undefined>>;

async function* readRows(
  files: SourceFile[],
  table: string,
  wanted?: readonly string[],
): AsyncGenerator<FileRow> {
  for (const file of files) {
    if (file.table !== table) continue;
    const columns = (header: string[]) => {
      if (!header.includes("report_id")) {
        throw new Error(`${file.path} is no table of this data set: its first line has no report_id.`);
      }
      return header.map((name) => (!wanted || wanted.includes(name) ? name : false));
    };
    const { stream: source } = await openContent(file);
    const parser = parse({ bom: true, columns });
    source.on("error", (error) => parser.destroy(error));
    try {
      yield* source.pipe(parser) as AsyncIterable<FileRow>;
    } catch (error) {
      const { message } = error as CsvError;
      throw message.includes(file.path) ? error : new Error(`${file.path}: ${message}`, { cause: error });
    } finally {
      source.destroy();
    }
  }
}
