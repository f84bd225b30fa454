import Table from "cli-table3";
import type { Client } from "pg";
import type { RowCounts } from "./count-rows.ts";

/** A data set that was published. */
export interface HistoryEntry {
  id: string;
  state: "live" | "previous" | "dropped";
  source: string;
  checksum: string | null;
  row_counts: RowCounts;
  rejected_rows: string;
  kept_suppressed: string[] | null;
  started_at: Date | null;
  published_at: Date;
  published_by: string;
  durations: Record<string, number>;
  rolled_back_at: Date | null;
}

/** The data sets that were published last, the newest first. */
export async function readHistory(client: Client, limit: number): Promise<HistoryEntry[]> {
  const { rows } = await client.query<HistoryEntry>(
    `select id, state, source, checksum, row_counts, rejected_rows, kept_suppressed, started_at, published_at,
       published_by, durations, rolled_back_at
     from publication.data_sets order by published_at desc, id desc limit $1`,
    [limit],
  );
  return rows;
}

/** The history as a table for people. Times are UTC. */
export function formatHistory(entries: HistoryEntry[]): string {
  const table = new Table({
    head: [
      "state",
      "published (UTC)",
      "by",
      "submissions",
      "rows",
      "rejected",
      "seconds",
      "checksum",
      "source",
    ],
    colAligns: ["left", "left", "left", "right", "right", "right", "right", "left", "left"],
    style: { head: [], border: [], compact: true },
  });
  for (const entry of entries) {
    const counts = Object.values(entry.row_counts);
    const seconds = Object.values(entry.durations).reduce((sum, each) => sum + each, 0);
    table.push([
      entry.rolled_back_at === null ? entry.state : `${entry.state}, rolled back`,
      formatTime(entry.published_at),
      entry.published_by,
      sum([entry.row_counts.general]),
      sum(counts),
      entry.rejected_rows,
      seconds.toFixed(1),
      entry.checksum?.slice(0, 12) ?? "",
      entry.source,
    ]);
  }
  return table.toString();
}

function sum(counts: (RowCounts[string] | undefined)[]): number {
  return counts.reduce((total, each) => total + (each?.disclosed ?? 0) + (each?.suppressed ?? 0), 0);
}

function formatTime(time: Date): string {
  return time.toISOString().slice(0, 19).replace("T", " ");
}
