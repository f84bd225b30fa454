import { writeFile } from "node:fs/promises";
import { stringify } from "csv-stringify/sync";
import type { LocatedFault } from "./locate-faults.ts";

const header = ["file", "line", "column", "value", "problem", "record"];

/** Writes the rows that were left out to a CSV file: where each stands, what is wrong with it, and the row itself. */
export async function writeRejects(target: string, faults: LocatedFault[], paths: string[]): Promise<void> {
  const rows = faults.map(({ file, line, column, value, problem, record }) => {
    return [paths[file], line, column, value, problem, record];
  });
  await writeFile(target, stringify([header, ...rows]));
}
