import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";

const columns = [
  "auditee_contact_name",
  "auditee_email",
  "auditee_address_line_1",
  "auditor_contact_name",
  "auditor_email",
];

/** Gives the suppressed submissions of a sample values that stand nowhere else. */
export async function plantSuppressedValues(directory: string): Promise<void> {
  const file = path.join(directory, "general.csv");
  const [header = [], ...rows]: string[][] = parse(await readFile(file));
  const isPublic = header.indexOf("is_public");
  for (const [number, row] of rows.entries()) {
    if (row[isPublic] !== "f") continue;
    for (const column of columns) row[header.indexOf(column)] = `planted-${number}@${column}.example.org`;
  }
  await writeFile(file, stringify([header, ...rows]));
}
