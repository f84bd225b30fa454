import type { Client } from "pg";
import { inTransaction } from "./in-transaction.ts";

/** The share of shared_buffers that tables may fill. The rest is for indexes and the catalog. */
const warmShare = 0.95;

/**
 * Reads the live public tables into shared_buffers, the largest first, as far as they fit, and names those that do not.
 *
 * By itself, PostgreSQL does not cache a table larger than a quarter of shared_buffers: a sequential scan reads it through a
 * ring of a few hundred kilobytes (src/backend/storage/buffer/README), and each page of a walk reads it again. A scan by ctid
 * has no ring, and later sequential scans use what it has cached. Errors are reported, not thrown, because the data set is
 * already live.
 */
export async function warmTables(client: Client, report: (line: string) => void): Promise<void> {
  await inTransaction(client, () => warmLargest(client, report), "rollback").catch((error: Error) => {
    report(`The tables could not be loaded into memory: ${error.message}.`);
  });
}

async function warmLargest(client: Client, report: (line: string) => void): Promise<void> {
  await client.query("set local enable_seqscan = off; set local statement_timeout = 0");
  const { rows } = await client.query<{ name: string; bytes: number; size: string; buffers: number }>(
    `select relname as name, pg_relation_size(oid)::float8 as bytes, ceil(pg_relation_size(oid) / 2.0 ^ 20) as size,
       pg_size_bytes(current_setting('shared_buffers'))::float8 as buffers
     from pg_catalog.pg_class
     where relnamespace = 'disclosed'::regnamespace and relkind = 'r'
     order by 2 desc, 1`,
  );
  let left = (rows[0]?.buffers ?? 0) * warmShare;
  for (const { name, bytes, size, buffers } of rows) {
    if (bytes <= left) {
      left -= bytes;
      await client.query(`select count(*) from disclosed.${name} where ctid >= '(0,0)'`);
    } else if (bytes > buffers / 4) {
      report(
        `The table ${name} (${size} MB) does not fit into PostgreSQL's shared_buffers (${Math.ceil(buffers / 2 ** 20)} MB) together with ` +
          "the other tables, so PostgreSQL reads it from disk when clients page through it (docs/refresh.md, PostgreSQL's memory).",
      );
    }
  }
}
