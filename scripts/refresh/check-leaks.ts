import type { Client } from "pg";

/** A suppressed submission would be shown to someone without Tribal access. Its message has a line for each way. */
export class LeaksFound extends Error {
  override name = "LeaksFound";
}

/**
 * Asks the database whether any right shows something suppressed (db/data_set/find_leaks.sql).
 *
 * @param generation also asks whether any row of this generation of the data set does: `_next`, or the live one
 * @throws LeaksFound
 */
export async function checkLeaks(client: Client, generation?: "_next" | ""): Promise<void> {
  const { rows: leaks } = await client.query<{ leak: string }>(
    "select find_leaks as leak from publication.find_leaks($1::boolean, $2::text)",
    [generation !== undefined, generation ?? ""],
  );
  if (leaks.length === 0) return;
  throw new LeaksFound(
    ["Found leaks of suppressed submissions:", ...leaks.map(({ leak }) => `  ${leak}`)].join("\n"),
  );
}
