import type { Client } from "pg";
import { readSourceTables } from "./read-definition.ts";

/** A table's disclosed and suppressed rows. Rows of superseded submissions are in neither. */
export type RowCounts = Record<string, { disclosed: number; suppressed: number }>;

/** Counts the rows of the next generation's source tables. */
export async function countNextGeneration(client: Client): Promise<RowCounts> {
  const counts: RowCounts = {};
  for (const name of await readSourceTables(client)) {
    const { rows } = await client.query<RowCounts[string]>(
      `select (select count(*) from disclosed_next.${name})::integer as disclosed,
              (select count(*) from suppressed_next.${name})::integer as suppressed`,
    );
    if (rows[0]) counts[name] = rows[0];
  }
  return counts;
}
