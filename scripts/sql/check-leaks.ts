import type { Client, QueryResult } from "pg";

/** Rights differ from the recorded list, or someone without Tribal access could see a suppressed submission. A line for each. */
export class LeaksFound extends Error {
  override name = "LeaksFound";
}

/**
 * Runs the leak check (db/data_set/find_leaks.sql).
 *
 * @param generation the generation of the data set that is checked: `_next`, or the live one
 * @param asksRows whether to check rows, too; by default, only if a generation is named
 * @throws LeaksFound
 */
export async function checkLeaks(
  client: Client,
  generation?: "_next" | "",
  asksRows = generation !== undefined,
): Promise<void> {
  await refuseIfAny(
    client.query<{ leak: string }>(
      "select find_leaks as leak from publication.find_leaks($1::boolean, $2::text)",
      [asksRows, generation ?? ""],
    ),
  );
}

/**
 * Runs the part of the leak check that reads the rows of the live data set.
 *
 * @throws LeaksFound
 */
export async function checkLeaksInRows(client: Client): Promise<void> {
  await refuseIfAny(client.query<{ leak: string }>("select publication.find_leaks_in_rows('') as leak"));
}

async function refuseIfAny(asking: Promise<QueryResult<{ leak: string }>>): Promise<void> {
  const { rows: leaks } = await asking;
  if (leaks.length === 0) return;
  const lines = leaks.map(({ leak }) => leak);
  if (lines.some((line) => /^(Unlisted|Missing): /.test(line)))
    throw new LeaksFound(describeChangedRights(lines));
  throw new LeaksFound(describe("Suppressed submissions are visible, or would be:", lines));
}

const describe = (heading: string, lines: string[]) => [heading, ...lines].join("\n  ");

/** What is wrong, and how to undo or keep it. */
export function describeChangedRights(lines: string[]): string {
  const heading =
    "The rights in this database differ, or would differ, from db/contracts/rights.txt as the last deployment recorded it:";
  const keep =
    "To keep what is unlisted, make it in a migration or a file, run npm run db:check -- --write, have the changed list reviewed, and deploy.";
  return describe(heading, lines) + (lines.some((line) => line.startsWith("Unlisted: ")) ? `\n${keep}` : "");
}
