import type { Client } from "pg";

/** A suppressed submission would be shown to someone without Tribal access. Its message has a line for each way. */
export class LeaksFound extends Error {
  override name = "LeaksFound";
}

/**
 * Returns the ways in which the database would show suppressed data (db/data_set/find_leaks.sql).
 *
 * @param generation also checks the rows of this generation of the data set: `_next`, or the live one
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
