import { readdir } from "node:fs/promises";
import path from "node:path";

/** The tables of a data set, in the order in which they are loaded. */
export const tables = [
  "general",
  "federal_awards",
  "findings",
  "findings_text",
  "corrective_action_plans",
  "notes_to_sefa",
  "passthrough",
  "secondary_auditors",
  "additional_ueis",
  "additional_eins",
  "resubmission",
] as const;
export type Table = (typeof tables)[number];

/** A source file and the table it is for. */
export interface SourceFile {
  table: Table;
  path: string;
}

/**
 * Finds the CSV files of a directory: `<table>.csv`, or several `*-<table>.csv`, which are read in name order.
 *
 * @throws Error when there is no file for `general`, without which nothing can be published
 */
export async function findFiles(directory: string): Promise<SourceFile[]> {
  const names = (await readdir(directory)).sort();
  const files = tables.flatMap((table) =>
    names
      .filter((name) => name === `${table}.csv` || name.endsWith(`-${table}.csv`))
      .map((name) => ({ table, path: path.join(directory, name) })),
  );
  if (!files.some(({ table }) => table === "general")) {
    throw new Error(`${directory} holds neither general.csv nor a *-general.csv.`);
  }
  return files;
}
