import type { Client } from "pg";
import { formatTable } from "../../shared/format-table.ts";

/** A data set that was published. `--json` prints it as it is. */
interface HistoryEntry {
  state: string;
  source: string;
  checksum: string | null;
  rejected_rows: string;
  published_at: Date;
  published_by: string;
  rolled_back_at: Date | null;
  submissions: string;
  rows: string;
}

/** Returns the latest published data sets, newest first. */
export async function readHistory(client: Client, limit: number): Promise<HistoryEntry[]> {
  const { rows } = await client.query<HistoryEntry>(
    `select id, state, source, checksum, row_counts, rejected_rows, kept_suppressed, started_at, published_at,
       published_by, rolled_back_at, counted.*
     from publication.data_sets,
       lateral (
         select coalesce(sum(number) filter (where name = 'general'), 0) as submissions, coalesce(sum(number), 0) as rows
         from jsonb_each(row_counts::jsonb) as counts (name, sides),
           lateral (select (sides ->> 'disclosed')::bigint + (sides ->> 'suppressed')::bigint as number) as added
       ) as counted
     order by published_at desc, id desc limit $1`,
    [limit],
  );
  return rows;
}

/** The history as a table for people. Times are UTC. */
export function formatHistory(entries: HistoryEntry[]): string {
  const rows = entries.map((entry) => ({
    ...entry,
    state: entry.rolled_back_at === null ? entry.state : `${entry.state}, rolled back`,
    published_at: entry.published_at.toISOString(),
    checksum: entry.checksum?.slice(0, 12),
  }));
  const columns = ["state", "published_at", "published_by", "submissions", "rows", "rejected_rows"];
  return formatTable([...columns, "checksum", "source"], rows);
}
