import type { Client } from "pg";
import { readDefinition } from "./read-definition.ts";

/** A table's disclosed and suppressed rows. Rows of superseded submissions are in neither. */
export type RowCounts = Record<string, { disclosed: number; suppressed: number }>;

/** Differences from the live data set that the operator accepts. */
export interface GateOptions {
  acceptShrink?: boolean;
  acceptGrowth?: boolean;
}

const countRows = `
  select json_object_agg(name, (
    select json_object_agg(side, rows) from staging.row_counts where table_name = name
  ) order by place) as counts
  from data_set.tables where is_source`;

/**
 * Compares a new data set with the live one. A table that loses more than 5% of its rows or more than doubles (by more than
 * 1,000 rows), or a share of suppressed submissions that changes by more than 1 percentage point, is probably a mistake.
 *
 * @returns its number of rows
 * @throws Error with a line for each difference
 */
export async function checkGates(
  client: Client,
  { acceptShrink = false, acceptGrowth = false }: GateOptions,
): Promise<RowCounts> {
  const { counts } = (await client.query(countRows)).rows[0];
  const { rows } = await client.query<{ flag: string; line: string }>(
    await readDefinition("check_gates.sql"),
    [JSON.stringify(counts), acceptShrink, acceptGrowth],
  );
  if (rows.length === 0) return counts;
  const flags = new Set(rows.map(({ flag }) => flag));
  throw new Error(
    [
      "This data set differs too much from the live one, so it was not published.",
      ...rows.map(({ line }) => `  ${line}`),
      `If the files are right, publish them with ${[...flags].join(" ")}.`,
    ].join("\n"),
  );
}
