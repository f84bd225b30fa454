import type { Client } from "pg";
import type { Fault, FaultList } from "./faults.ts";
import { openContent } from "./open-content.ts";
import { runDefinition } from "./read-definition.ts";
import type { SourceFileWithHeader } from "./read-headers.ts";
import { readRecords } from "./read-rows.ts";
import { splitRow, unquote } from "./row-format.ts";

/** The result of `reject_rows.sql`. */
interface RejectedRows {
  /** Rows that are left out because another row of their report has a fault. */
  consequences: number;
  /** Rows by table that repeat an earlier file. */
  repetitions: { table: string; rows: number }[];
}

/**
 * Finds faults that only the whole data set shows: invalid report IDs, duplicates, files that contradict each other, rows
 * that do not belong to a report. Removes these rows from the staging tables and adds them to the faults.
 */
export async function rejectRows(
  client: Client,
  files: SourceFileWithHeader[],
  faults: FaultList,
): Promise<RejectedRows> {
  // If a report's row in general has a fault, its other rows are left out as well.
  const rejected = faults.kept.filter(({ file }) => file.table === "general");
  await client.query(
    "insert into staging.rejected_reports (report_id, is_public) select * from unnest($1::text[], $2::text[])",
    ["report_id", "is_public"].map((column) => rejected.map((fault) => readValue(fault, column))),
  );
  await runDefinition(client, "reject_rows.sql");

  const { rows: kinds } = await client.query<{
    table: string;
    column: string;
    problem: string;
    rows: number;
  }>(
    `select table_name as table, column_name as column, problem, count(*)::integer as rows
     from staging.faults where not is_consequence
     group by table_name, column_name, problem order by min(source_file), min(source_row)`,
  );
  for (const { table, rows, ...kind } of kinds) faults.count(table, kind, rows);
  faults.kept.push(...(await readFaults(client, files, faults.keep)));
  faults.kept.sort((a, b) => a.file.number - b.file.number || a.line - b.line).splice(faults.keep);
  const { rows } = await client.query<RejectedRows>(
    `select
       (select count(*)::integer from staging.faults where is_consequence) as consequences,
       (select coalesce(json_agg(repeated order by repeated."table"), '[]') from (
          select table_name as "table", sum(rows)::integer as rows
          from staging.shared_reports where is_repetition group by table_name
        ) as repeated) as repetitions`,
  );
  return rows[0] ?? { consequences: 0, repetitions: [] };
}

interface FoundFault {
  file: number;
  row: number;
  column: string;
  value: string | null;
  problem: string;
  other_file: number | null;
  other_row: number | null;
}

async function readFaults(client: Client, files: SourceFileWithHeader[], limit: number): Promise<Fault[]> {
  const { rows } = await client.query<FoundFault>(
    `select source_file as file, source_row as row, column_name as column, value, problem, other_file, other_row
     from staging.faults where not is_consequence order by source_file, source_row limit $1`,
    [limit],
  );
  const located = await locateRows(files, rows);
  return rows.flatMap(({ column, value, problem, ...found }) => {
    const [file, at] = [files[found.file], located.get(`${found.file}:${found.row}`)];
    if (file === undefined || at === undefined) return [];
    const first = located.get(`${found.other_file}:${found.other_row}`);
    const other = first === undefined ? "" : `: first at ${files[found.other_file ?? 0]?.path}:${first.line}`;
    return [{ file, ...at, column, value: value ?? undefined, problem: problem + other }];
  });
}

/** Reads files again to find the lines and the text of rows, which are numbered by table. */
async function locateRows(
  files: SourceFileWithHeader[],
  faults: FoundFault[],
): Promise<Map<string, { line: number; record: string }>> {
  const located = new Map<string, { line: number; record: string }>();
  const wanted = new Set(
    faults.flatMap((fault) => [`${fault.file}:${fault.row}`, `${fault.other_file}:${fault.other_row}`]),
  );
  const numbers = new Set(faults.flatMap(({ file, other_file }) => [file, other_file]));
  for (const file of files.filter(({ number }) => numbers.has(number))) {
    let next = file.firstRow;
    for await (const { line, problem, record } of readRecords(await openContent(file), file.columns)) {
      if (line === 1 || problem !== undefined) continue;
      const place = `${file.number}:${next}`;
      if (wanted.has(place)) located.set(place, { line, record });
      next += 1;
    }
  }
  return located;
}

function readValue({ file, record }: Fault, column: string): string | undefined {
  const index = file.columns.findIndex(({ name }) => name === column);
  const value = splitRow(record)[index];
  return value && unquote(value);
}
