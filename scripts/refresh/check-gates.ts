import type { Client } from "pg";
import type { RowCounts } from "./count-rows.ts";

const largestLoss = 0.05;
const largestShift = 0.01;
const largestGrowth = 2;
/** Tables may gain so many rows, however small they are. */
const smallGain = 1000;

/** Differences from the live data set that somebody has accepted. Without a value, they are not looked for. */
export interface GateOptions {
  acceptShrink?: boolean;
  acceptGrowth?: boolean;
}

/**
 * Compares a new data set with the live one. If a table loses more than 5 % of its rows or more than doubles, or the share of
 * suppressed submissions moves by more than 1 point, the source is probably broken.
 *
 * @throws Error with a line for each table at fault
 */
export async function checkGates(
  client: Client,
  next: RowCounts,
  { acceptShrink = true, acceptGrowth = true }: GateOptions,
): Promise<void> {
  const { rows } = await client.query<{ row_counts: RowCounts }>(
    "select row_counts from publication.data_sets where state = 'live'",
  );
  const live = rows[0]?.row_counts ?? {};
  const shrunk: string[] = [];
  const grown: string[] = [];
  for (const table of Object.keys(live)) {
    const [before, after] = [countAll(live, table), countAll(next, table)];
    const [loss, growth] = [(before - after) / before, after / before];
    // Not true of NaN, if the table was empty.
    if (loss > largestLoss)
      shrunk.push(
        `  ${table} would fall from ${before} to ${after} rows (${percent(loss)} less; 5 % at most).`,
      );
    if (before > 0 && growth > largestGrowth && after - before > smallGain)
      grown.push(
        `  ${table} would grow from ${before} to ${after} rows (${growth.toFixed(1)} times as many; ${largestGrowth} times at most).`,
      );
  }
  const [before, after] = [shareSuppressed(live), shareSuppressed(next)];
  if (Math.abs(before - after) > largestShift)
    shrunk.push(
      `  The share of suppressed submissions would go from ${percent(before)} to ${percent(after)} (1 point at most).`,
    );
  if (acceptShrink) shrunk.length = 0;
  if (acceptGrowth) grown.length = 0;
  const flags = [
    shrunk.length > 0 ? "--accept-shrink" : [],
    grown.length > 0 ? "--accept-growth" : [],
  ].flat();
  if (flags.length === 0) return;
  throw new Error(
    [
      "This does not look like the next data set. Nothing has changed.",
      ...shrunk,
      ...grown,
      `If the files are right, publish them with ${flags.join(" ")}.`,
    ].join("\n"),
  );
}

const countAll = (counts: RowCounts, table: string) =>
  (counts[table]?.disclosed ?? 0) + (counts[table]?.suppressed ?? 0);

/** NaN if there are no submissions. */
const shareSuppressed = (counts: RowCounts) =>
  (counts.general?.suppressed ?? 0) / countAll(counts, "general");

const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
