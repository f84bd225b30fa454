import type { Client } from "pg";
import { readDefinition } from "./read-definition.ts";

const advice =
  "Correct db/data_set and refresh. Or deploy an API that fits the data set, without the columns that it lacks (npm run db:deploy), then refresh. To go back to an older API, run git restore --source=<commit> db, then npm run db:deploy -- --roll-back. A column that was promised to clients must stay, with its type, until its API version is removed.";

/**
 * Checks that a generation has every column that the deployed API serves, and that clients' promised columns keep their
 * types. Other columns and another order are allowed.
 *
 * @returns a line for each column that would be served with another type: publishing the generation rebuilds the API
 * @throws Error with a line for each missing or different column
 */
export async function checkServed(client: Client, schema: "disclosed" | "disclosed_next"): Promise<string[]> {
  const { rows } = await client.query<{ line: string; is_refused: boolean }>(
    await readDefinition("check_served.sql"),
    [schema],
  );
  const linesOf = (isRefused: boolean) =>
    rows.flatMap(({ line, is_refused }) => (is_refused === isRefused ? [line] : []));
  const refused = linesOf(true);
  if (refused.length === 0) return linesOf(false);
  const summary = "This data set does not fit the deployed API, so it did not go live.";
  throw new Error([summary, ...refused.map((line) => `  ${line}`), advice].join("\n"));
}
