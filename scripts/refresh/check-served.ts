import type { Client } from "pg";
import { readDefinition } from "./read-definition.ts";

/** The API serves columns that a data set does not have. The message names each. */
export class DoesNotFit extends Error {
  override name = "DoesNotFit";
}

/**
 * Checks that a generation has every column that the deployed API serves, with the same type. More columns and another order
 * are allowed.
 *
 * @param advice what to do about a missing column
 * @throws DoesNotFit with a line for each column at fault
 */
export async function checkServed(
  client: Client,
  schema: "disclosed" | "disclosed_next",
  advice: string,
): Promise<void> {
  const { rows } = await client.query<{ line: string }>(await readDefinition("check_served.sql"), [schema]);
  if (rows.length === 0) return;
  const lines = rows.map(({ line }) => `  ${line}`);
  const summary = "This data set does not fit the API as it is deployed. Nothing has changed.";
  throw new DoesNotFit([summary, ...lines, advice].join("\n"));
}
