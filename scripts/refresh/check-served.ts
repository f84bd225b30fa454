import type { Client } from "pg";
import { readDefinition } from "./read-definition.ts";

const advice =
  "Correct db/data_set and refresh. Or deploy an API that fits the data set (npm run db:deploy), then refresh. To go back to an older API, run git restore --source=<commit> db, then npm run db:deploy -- --roll-back. A column that was promised to clients must stay until its API version is removed.";

/**
 * Checks that a generation has every column that the deployed API serves, with the same type. Other columns and another
 * order are allowed.
 *
 * @throws Error with a line for each missing or different column
 */
export async function checkServed(client: Client, schema: "disclosed" | "disclosed_next"): Promise<void> {
  const { rows } = await client.query<{ line: string }>(await readDefinition("check_served.sql"), [schema]);
  if (rows.length === 0) return;
  const lines = rows.map(({ line }) => `  ${line}`);
  const summary = "This data set does not fit the deployed API, so it did not go live.";
  throw new Error([summary, ...lines, advice].join("\n"));
}
