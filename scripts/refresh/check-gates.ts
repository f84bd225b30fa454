import type { Client } from "pg";
import type { RowCounts } from "./count-rows.ts";
import { readDefinition } from "./read-definition.ts";

/** Differences from the live data set that somebody has accepted. Without a value, they are not looked for. */
export interface GateOptions {
  acceptShrink?: boolean;
  acceptGrowth?: boolean;
}

/**
 * Compares a new data set with the live one. If a table loses more than 5 % of its rows or more than doubles, or the share of
 * suppressed submissions moves by more than 1 point, the source is probably broken. Every table may gain 1,000 rows.
 *
 * @throws Error with a line for each table at fault
 */
export async function checkGates(
  client: Client,
  next: RowCounts,
  { acceptShrink = true, acceptGrowth = true }: GateOptions,
): Promise<void> {
  const { rows } = await client.query<{ flag: string; line: string }>(
    await readDefinition("check_gates.sql"),
    [JSON.stringify(next), acceptShrink, acceptGrowth],
  );
  if (rows.length === 0) return;
  const flags = new Set(rows.map(({ flag }) => flag));
  throw new Error(
    [
      "This data set differs too much from the live one, so it was not published.",
      ...rows.map(({ line }) => `  ${line}`),
      `If the files are right, publish them with ${[...flags].join(" ")}.`,
    ].join("\n"),
  );
}
