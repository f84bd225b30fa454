import type { Client } from "pg";

/** A table's disclosed and suppressed rows. Rows of superseded submissions are in neither. */
export type RowCounts = Record<string, { disclosed: number; suppressed: number }>;

/** Counts the rows of the next generation's source tables: the suppressed side has no other tables. */
export async function countNextGeneration(client: Client): Promise<RowCounts> {
  const { rows: tables } = await client.query<{ name: string }>(
    `select relname as name from pg_catalog.pg_class
     where relnamespace = 'suppressed_next'::regnamespace and relkind = 'r' order by oid`,
  );
  const counts: RowCounts = {};
  for (const { name } of tables) {
    const { rows } = await client.query<RowCounts[string]>(
      `select (select count(*) from disclosed_next.${name})::integer as disclosed,
              (select count(*) from suppressed_next.${name})::integer as suppressed`,
    );
    if (rows[0]) counts[name] = rows[0];
  }
  return counts;
}
