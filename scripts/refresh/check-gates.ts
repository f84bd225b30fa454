import type { Client } from "pg";
import type { RowCounts } from "./count-rows.ts";

const largestFall = 0.05;
const largestShift = 0.01;

/**
 * Compares what is to be published with what is live: a table that loses more than 5 % of its rows, or a share of
 * suppressed submissions that moves by more than 1 point, is more likely a broken source than the truth.
 *
 * @throws Error with a line for each table at fault
 */
export async function checkGates(client: Client, next: RowCounts): Promise<void> {
  const { rows } = await client.query<{ row_counts: RowCounts }>(
    "select row_counts from publication.data_sets where state = 'live'",
  );
  const live = rows[0]?.row_counts ?? {};
  const faults = Object.entries(live).flatMap(([table, counts]) => {
    const before = counts.disclosed + counts.suppressed;
    const after = (next[table]?.disclosed ?? 0) + (next[table]?.suppressed ?? 0);
    const fall = before === 0 ? 0 : (before - after) / before;
    return fall > largestFall
      ? [`  ${table} would fall from ${before} to ${after} rows (${percent(fall)} less; 5 % at most).`]
      : [];
  });
  const [before, after] = [shareSuppressed(live), shareSuppressed(next)];
  if (before !== undefined && after !== undefined && Math.abs(before - after) > largestShift) {
    faults.push(
      `  The share of suppressed submissions would go from ${percent(before)} to ${percent(after)} (1 point at most).`,
    );
  }
  if (faults.length === 0) return;
  throw new Error(
    ["This does not look like the next data set. Nothing has changed.", ...faults]
      .concat("If it is right all the same, --accept-shrink publishes it.")
      .join("\n"),
  );
}

function shareSuppressed(counts: RowCounts): number | undefined {
  const { disclosed = 0, suppressed = 0 } = counts.general ?? {};
  return disclosed + suppressed === 0 ? undefined : suppressed / (disclosed + suppressed);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
