import type { Client } from "pg";
import type { RowCounts } from "./count-rows.ts";
import { readDefinition } from "./read-definition.ts";

/** Differences from the live data set that the operator accepts. */
export interface GateOptions {
  acceptShrink?: boolean;
  acceptGrowth?: boolean;
}

/**
 * Compares a new data set with the live one. A table that loses more than 5% of its rows or more than doubles (by more than
 * 1,000 rows), or a share of suppressed submissions that changes by more than 1 percentage point, is probably a mistake.
 *
 * @throws Error with a line for each difference
 */
export async function checkGates(
  client: Client,
  next: RowCounts,
  { acceptShrink = false, acceptGrowth = false }: GateOptions,
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
