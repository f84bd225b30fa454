import Table from "cli-table3";
import type { Client } from "pg";

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
  seconds: string;
}

/** Returns the latest published data sets, newest first. */
export async function readHistory(client: Client, limit: number): Promise<HistoryEntry[]> {
  const { rows } = await client.query<HistoryEntry>(
    `select id, state, source, checksum, row_counts, rejected_rows, kept_suppressed, started_at, published_at,
       published_by, durations, rolled_back_at, counted.*,
       (select coalesce(sum(value::numeric), 0) from jsonb_each_text(durations::jsonb)) as seconds
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
    state: entry.rolled_back_at === null ? entry.state : `${entry.state}, rolled back`,
    "published (UTC)": entry.published_at.toISOString().slice(0, 19).replace("T", " "),
    by: entry.published_by,
    submissions: entry.submissions,
    rows: entry.rows,
    rejected: entry.rejected_rows,
    seconds: Number(entry.seconds).toFixed(1),
    checksum: entry.checksum?.slice(0, 12) ?? "",
    source: entry.source,
  }));
  const table = new Table({
    head: Object.keys(rows[0] ?? {}),
    style: { head: [], border: [], compact: true },
  });
  table.push(...rows.map((row) => Object.values(row)));
  return table.toString();
}
