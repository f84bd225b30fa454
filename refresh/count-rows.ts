import type { Client } from "pg";
import { type Table, tables } from "./find-files.ts";

/** Rows of a table by where they went. Rows of superseded submissions are in neither. */
export type RowCounts = Record<string, { disclosed: number; suppressed: number }>;

/** Counts the rows of the next generation. */
export async function countNextGeneration(client: Client): Promise<RowCounts> {
  const counts: RowCounts = {};
  for (const table of tables) counts[table] = await countTable(client, table);
  return counts;
}

async function countTable(client: Client, table: Table): Promise<{ disclosed: number; suppressed: number }> {
  const { rows } = await client.query(
    `select (select count(*) from disclosed_next.${table})::integer as disclosed,
            (select count(*) from suppressed_next.${table})::integer as suppressed`,
  );
  return rows[0];
}
