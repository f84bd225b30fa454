import type { Client } from "pg";
import { formatTable } from "../../shared/format-table.ts";
import type { RowCounts } from "./check-gates.ts";

/** A data set that was published. `--json` prints it as it is. */
interface HistoryEntry {
  state: string;
  source: string;
  checksum: string | null;
  row_counts: RowCounts;
  rejected_rows: string;
  published_at: Date;
  published_by: string;
  rolled_back_at: Date | null;
}

/** Returns the latest published data sets, newest first. */
export async function readHistory(client: Client, limit: number): Promise<HistoryEntry[]> {
  const { rows } = await client.query<HistoryEntry>(
    `select id, state, source, checksum, row_counts, rejected_rows, kept_suppressed, started_at, published_at,
       published_by, rolled_back_at
     from publication.data_sets order by published_at desc, id desc limit $1`,
    [limit],
  );
  return rows;
}

const countRows = (...counts: RowCounts[string][]) =>
  counts.reduce((sum, { disclosed, suppressed }) => sum + disclosed + suppressed, 0);

/** The history as a table for people. Times are UTC. */
export function formatHistory(entries: HistoryEntry[]): string {
  const rows = entries.map((entry) => ({
    ...entry,
    state: entry.rolled_back_at === null ? entry.state : `${entry.state}, rolled back`,
    published_at: entry.published_at.toISOString(),
    submissions: entry.row_counts.general && countRows(entry.row_counts.general),
    rows: countRows(...Object.values(entry.row_counts)),
    checksum: entry.checksum?.slice(0, 12),
  }));
  const columns = ["state", "published_at", "published_by", "submissions", "rows", "rejected_rows"];
  return formatTable([...columns, "checksum", "source"], rows);
}
