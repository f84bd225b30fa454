import type { Client } from "pg";

/** Rows of a table by where they went. Rows of superseded submissions are in neither. */
export type RowCounts = Record<string, { disclosed: number; suppressed: number }>;

/** The source tables of the next generation, in order, by its suppressed side: that has no other tables. */
export async function listSourceTables(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_catalog.pg_class
     where relnamespace = 'suppressed_next'::regnamespace and relkind = 'r' order by oid`,
  );
  return rows.map(({ name }) => name);
}

/** Counts the rows of the next generation. */
export async function countNextGeneration(client: Client): Promise<RowCounts> {
  const counts: RowCounts = {};
  for (const table of await listSourceTables(client)) {
    const { rows } = await client.query<RowCounts[string]>(
      `select (select count(*) from disclosed_next.${table})::integer as disclosed,
              (select count(*) from suppressed_next.${table})::integer as suppressed`,
    );
    if (rows[0]) counts[table] = rows[0];
  }
  return counts;
}
