import type { Client } from "pg";
import type { RowCounts } from "./count-rows.ts";

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
  const { rows } = await client.query<{ flag: string; line: string }>(differences, [JSON.stringify(next)]);
  const accepted = { "--accept-shrink": acceptShrink, "--accept-growth": acceptGrowth };
  const refusing = Object.entries(accepted).flatMap(([flag, isAccepted]) => (isAccepted ? [] : flag));
  const found = rows.filter(({ flag }) => refusing.includes(flag));
  if (found.length === 0) return;
  const flags = refusing.filter((flag) => found.some((row) => row.flag === flag));
  throw new Error(
    [
      "This does not look like the next data set. Nothing has changed.",
      ...found.map(({ line }) => `  ${line}`),
      `If the files are right, publish them with ${flags.join(" ")}.`,
    ].join("\n"),
  );
}

const differences = `
  with counts as (
    select name, coalesce(old.suppressed, 0) as old_suppressed, coalesce(new.suppressed, 0) as new_suppressed,
      old.disclosed + old.suppressed as before, coalesce(new.disclosed + new.suppressed, 0) as after
    from publication.data_sets
    cross join jsonb_each(row_counts::jsonb) as live (name, counts)
    cross join jsonb_to_record(live.counts) as old (disclosed numeric, suppressed numeric)
    left join jsonb_to_record($1::jsonb -> name) as new (disclosed numeric, suppressed numeric) on true
    where state = 'live' and old.disclosed + old.suppressed > 0
  )
  select '--accept-shrink' as flag,
    format('%s would fall from %s to %s rows (%s %% less; 5 %% at most).', name, before, after,
      round(100 * (before - after) / before, 1)) as line
  from counts where after < 0.95 * before
  union all
  select '--accept-shrink',
    format('The share of suppressed submissions would go from %s %% to %s %% (1 point at most).',
      round(100 * old_suppressed / before, 1), round(100 * new_suppressed / after, 1))
  from counts where name = 'general' and after > 0 and abs(old_suppressed / before - new_suppressed / after) > 0.01
  union all
  select '--accept-growth',
    format('%s would grow from %s to %s rows (%s times as many; 2 times at most).', name, before, after,
      round(after / before, 1))
  from counts where after > 2 * before and after - before > 1000`;
