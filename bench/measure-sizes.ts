import type { BenchStack } from "./start-bench-stack.ts";

export interface SizeFigures {
  table: string;
  rows: number;
  /** Of the rows themselves, of values too large for them, and of the indexes. */
  megabytes: { heap: number; toast: number; indexes: number };
  /** Of the heap, page headers included. */
  bytesPerRow: number;
}

/** Asks how much the public tables take, the largest first. */
export async function measureSizes({ client }: BenchStack): Promise<SizeFigures[]> {
  const { rows } = await client.query<{
    table: string;
    rows: number;
    heap: number;
    toast: number;
    indexes: number;
  }>(
    `select relname as table, reltuples::float8 as rows, pg_relation_size(oid)::float8 as heap,
       pg_indexes_size(oid)::float8 as indexes,
       coalesce(pg_total_relation_size(nullif(reltoastrelid, 0)), 0)::float8 as toast
     from pg_class
     where relnamespace = 'disclosed'::regnamespace and relkind = 'r' and reltuples > 0
     order by pg_total_relation_size(oid) desc`,
  );
  return rows.map(({ table, rows: count, heap, toast, indexes }) => ({
    table,
    rows: count,
    megabytes: { heap: heap / 1e6, toast: toast / 1e6, indexes: indexes / 1e6 },
    bytesPerRow: heap / count,
  }));
}
