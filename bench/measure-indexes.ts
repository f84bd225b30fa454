import { readFile } from "node:fs/promises";
import path from "node:path";
import type { BenchStack } from "./start-bench-stack.ts";

export interface IndexFigures {
  name: string;
  rows: number;
  megabytes: number;
  /** What building it costs a refresh. */
  seconds: number;
  /** The query it serves, as its comment says. */
  serves: string;
}

/** Builds every index of the public tables anew, in a session set up as the publisher's. */
export async function measureIndexes({ client }: BenchStack): Promise<IndexFigures[]> {
  const session = path.join(import.meta.dirname, "../db/data_set/session.sql");
  await client.query(await readFile(session, "utf8"));
  const { rows } = await client.query(`
    select
      pg_class.relname as name,
      (select reltuples::integer from pg_class as indexed where indexed.oid = pg_index.indrelid) as rows,
      coalesce(obj_description(pg_class.oid, 'pg_class'), '') as serves
    from pg_index
    join pg_class on pg_class.oid = pg_index.indexrelid
    where pg_class.relnamespace = 'disclosed'::regnamespace
    order by pg_class.relname`);
  const figures: IndexFigures[] = [];
  for (const { name, rows: count, serves } of rows) {
    const start = performance.now();
    await client.query(`reindex index disclosed.${name}`);
    const seconds = (performance.now() - start) / 1000;
    const size = await client.query("select pg_relation_size($1::regclass) as bytes", [`disclosed.${name}`]);
    figures.push({ name, rows: count, megabytes: Number(size.rows[0].bytes) / 1e6, seconds, serves });
    process.stderr.write(`index ${name}: ${seconds.toFixed(2)} s\n`);
  }
  return figures;
}
