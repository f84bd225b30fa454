import { readFileSync } from "node:fs";
import { z } from "zod";
import { type Table, tables } from "../refresh/find-files.ts";

const CONTRACT = new URL("../../db/contracts/api_v1_1_0.json", import.meta.url);

const contractSchema = z.object({
  // A version may have views that no source file has.
  views: z.looseRecord(z.enum(tables), z.object({ columns: z.array(z.object({ name: z.string() })).min(1) })),
});

/** The column names of each table, in the order in which files and API have them. */
export function readColumns(): Record<Table, string[]> {
  const { views } = contractSchema.parse(JSON.parse(readFileSync(CONTRACT, "utf8")));
  const names = tables.map((table) => [table, views[table].columns.map(({ name }) => name)] as const);
  return Object.fromEntries(names) as Record<Table, string[]>;
}
