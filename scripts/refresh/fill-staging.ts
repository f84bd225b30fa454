import path from "node:path";
import type { Client } from "pg";
import { copyFile } from "./copy-file.ts";
import { countRows, FaultList, SourceFaults } from "./faults.ts";
import type { SourceFile } from "./find-files.ts";
import { readSourceTables } from "./read-definition.ts";
import { readHeaders } from "./read-headers.ts";
import { rejectRows } from "./reject-rows.ts";
import { describeKeptSuppressed, readSuppression, type Suppression } from "./suppression.ts";

export interface FillOptions {
  report?: (line: string) => void;
  /** The number of faulty rows that may be left out. */
  tolerate?: number;
  /** The file to which the left-out rows are written. */
  rejects?: string;
}

/**
 * Copies the files into the staging tables and checks their rows.
 *
 * @returns how many rows were left out, and which reports are suppressed
 * @throws SourceFaults if more rows have faults than are tolerated
 */
export async function fillStaging(
  client: Client,
  sourceFiles: SourceFile[],
  { report = () => {}, tolerate = 0, rejects }: FillOptions,
): Promise<{ rejected: number; suppression: Suppression }> {
  const files = await readHeaders(client, sourceFiles);
  const faults = new FaultList(tolerate);
  const rowsByTable = new Map<string, number>();
  for (const file of files) {
    const before = rowsByTable.get(file.table) ?? 0;
    file.firstRow = before + 1;
    const rows = await copyFile(client, file, faults, report);
    rowsByTable.set(file.table, before + rows);
    report(`${path.posix.basename(file.path)}: ${countRows(rows)}`);
  }
  for (const file of files) await file.checkUnchanged();
  for (const name of await readSourceTables(client))
    if (!rowsByTable.has(name)) report(`${name}: no file, so the table is empty`);
  const { rows: awaited } = await client.query<{ table_name: string; column_name: string }>(
    "select table_name, column_name from data_set.awaited_columns order by table_name, column_name",
  );
  for (const { table_name, column_name } of awaited)
    report(`${table_name}: no file has the column ${column_name} yet, so it is null`);
  report("Checking ...");
  const { consequences, repetitions } = await rejectRows(client, files, faults);
  for (const { table, rows } of repetitions)
    report(`${table}: left out ${countRows(rows)} that an earlier file also contains`);
  const suppression = await readSuppression(client);
  if (suppression.kept.length > 0) report(describeKeptSuppressed(suppression.kept));
  if (faults.total > tolerate) throw new SourceFaults(faults.describe());
  if (faults.total === 0) return { rejected: 0, suppression };
  if (rejects !== undefined) await faults.write(rejects);
  const where = rejects === undefined ? "" : ` (see ${rejects}, which only you can read)`;
  report(`Left out ${countRows(faults.total)}${where}, and ${consequences} other rows of the same reports.`);
  return { rejected: faults.total + consequences, suppression };
}
