import path from "node:path";
import type { Client } from "pg";
import { checkRows } from "./check-rows.ts";
import { copyFile } from "./copy-file.ts";
import { countRows, createFaultList, SourceFaults, shownFaults } from "./faults.ts";
import type { SourceFile } from "./find-files.ts";
import { readHeaders } from "./read-headers.ts";
import type { Stopwatch } from "./stopwatch.ts";
import { describeKept, type Suppression } from "./suppression.ts";
import { writeRejects } from "./write-rejects.ts";

/** How far the file of a table has been read. */
export type FileProgress = (file: SourceFile, rows: number, bytes: number) => void;

export interface FillOptions {
  report?: (line: string) => void;
  onProgress?: FileProgress;
  /** How many bad rows may be left out. */
  tolerate?: number;
  /** File that takes the rows that are left out. */
  rejects?: string;
  /** Another directory than `db/data_set`. */
  definitions?: string;
}

/**
 * Copies the files into the staging tables and checks their rows.
 *
 * @returns how many rows were left out, and which reports are suppressed
 * @throws SourceFaults when they are more than are tolerated
 */
export async function fillStaging(
  client: Client,
  sourceFiles: SourceFile[],
  { report = () => {}, onProgress = () => {}, tolerate = 0, rejects, definitions }: FillOptions,
  stopwatch: Stopwatch,
): Promise<{ rejected: number; suppression: Suppression }> {
  const files = await readHeaders(client, sourceFiles);
  const faults = createFaultList();
  const keep = Math.max(shownFaults, tolerate);
  for (const [number, file] of files.entries()) {
    const rows = await stopwatch.time(
      "copy",
      copyFile(client, file, {
        number,
        faults,
        keep,
        onProgress: (read, bytes) => onProgress(file, read, bytes),
      }),
    );
    report(`${path.posix.basename(file.path)}: ${countRows(rows)}`);
  }
  for (const file of files) await file.checkUnchanged();
  const { rows: tables } = await client.query<{ name: string }>("select name from staging.source_tables");
  for (const { name } of tables.filter(({ name }) => !files.some(({ table }) => table === name))) {
    if (files.length > 0) report(`${name}: no file, so the table is empty`);
  }
  report("Checking ...");
  const { located, consequences, repetitions, suppression } = await stopwatch.time(
    "check",
    checkRows(client, files, faults, keep, definitions),
  );
  for (const { table, rows } of repetitions)
    report(`${table}: ${countRows(rows)} of later files left out, which an earlier file has alike`);
  if (suppression.kept.length > 0) report(describeKept(suppression.kept));
  const paths = files.map((file) => file.path);
  if (faults.total > tolerate) throw new SourceFaults(faults, paths, tolerate);
  if (faults.total === 0) return { rejected: 0, suppression };
  if (rejects !== undefined) await writeRejects(rejects, located, paths);
  report(
    `${countRows(faults.total)} left out, and ${consequences} more of their reports` +
      `${rejects === undefined ? "" : `: see ${rejects}`}.`,
  );
  return { rejected: faults.total + consequences, suppression };
}
