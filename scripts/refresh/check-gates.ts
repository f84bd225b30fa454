import type { Client } from "pg";
import type { RowCounts } from "./count-rows.ts";

const largestFall = 0.05;
const largestShift = 0.01;
const largestGrowth = 2;
/** Small tables may grow as they like. */
const growthOfSmallTables = 1000;

/** Differences from the live data set that somebody has looked at. */
export interface Accepted {
  shrink: boolean;
  growth: boolean;
}

/**
 * Compares what is to be published with what is live: a table that loses more than 5 % of its rows or more than doubles,
 * or a share of suppressed submissions that moves by more than 1 point, is more likely a broken source than the truth.
 *
 * @throws Error with a line for each table at fault
 */
export async function checkGates(client: Client, next: RowCounts, accepted: Accepted): Promise<void> {
  const { rows } = await client.query<{ row_counts: RowCounts }>(
    "select row_counts from publication.data_sets where state = 'live'",
  );
  const live = rows[0]?.row_counts ?? {};
  const shrunk: string[] = [];
  const grown: string[] = [];
  for (const [table, counts] of Object.entries(live)) {
    const before = counts.disclosed + counts.suppressed;
    const after = (next[table]?.disclosed ?? 0) + (next[table]?.suppressed ?? 0);
    const fall = before === 0 ? 0 : (before - after) / before;
    if (fall > largestFall)
      shrunk.push(
        `  ${table} would fall from ${before} to ${after} rows (${percent(fall)} less; 5 % at most).`,
      );
    if (before > 0 && after > before * largestGrowth && after - before > growthOfSmallTables)
      grown.push(
        `  ${table} would grow from ${before} to ${after} rows (${(after / before).toFixed(1)} times as many; ${largestGrowth} times at most).`,
      );
  }
  const [before, after] = [shareSuppressed(live), shareSuppressed(next)];
  if (before !== undefined && after !== undefined && Math.abs(before - after) > largestShift) {
    shrunk.push(
      `  The share of suppressed submissions would go from ${percent(before)} to ${percent(after)} (1 point at most).`,
    );
  }
  const gates = [
    { faults: shrunk, isAccepted: accepted.shrink, flag: "--accept-shrink" },
    { faults: grown, isAccepted: accepted.growth, flag: "--accept-growth" },
  ].filter(({ faults, isAccepted }) => faults.length > 0 && !isAccepted);
  if (gates.length === 0) return;
  throw new Error(
    [
      "This does not look like the next data set. Nothing has changed.",
      ...gates.flatMap(({ faults }) => faults),
      `If the files are right, publish them with ${gates.map(({ flag }) => flag).join(" ")}.`,
    ].join("\n"),
  );
}

function shareSuppressed(counts: RowCounts): number | undefined {
  const { disclosed = 0, suppressed = 0 } = counts.general ?? {};
  return disclosed + suppressed === 0 ? undefined : suppressed / (disclosed + suppressed);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
