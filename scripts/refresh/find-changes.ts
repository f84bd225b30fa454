import type { Client } from "pg";
import { readDefinition } from "./read-definition.ts";

/** Reports whose public rows differ between two generations of the data set. */
export interface Changes {
  from: string;
  added: string[];
  changed: string[];
  removed: string[];
}

const keptChanges = 100;

/**
 * Compares a generation with the live one, by the fingerprints of their reports. Nothing may be published meanwhile.
 *
 * @returns undefined if the live one is empty, or one of them has no fingerprints
 */
export async function findChanges(
  client: Client,
  to: "disclosed_next" | "disclosed_previous",
): Promise<Changes | undefined> {
  const { rows: live } = await client.query<{ id: string }>(
    `select id from publication.data_sets
     where state = 'live' and source <> 'empty'
       and to_regclass('disclosed.fingerprints') is not null and to_regclass($1) is not null`,
    [`${to}.fingerprints`],
  );
  if (live[0] === undefined) return undefined;
  const sql = (await readDefinition("find_changes.sql")).replace("disclosed_next", to);
  const { rows } = await client.query<Omit<Changes, "from">>(sql);
  return { from: live[0].id, ...(rows[0] ?? { added: [], changed: [], removed: [] }) };
}

/** Records what differs, in the transaction that makes the other generation live, and deletes old records. */
export async function recordChanges(client: Client, changes: Changes | undefined, to: string): Promise<void> {
  if (changes === undefined) return;
  const { from, added, changed, removed } = changes;
  await client.query(
    `with recorded as (
       insert into publication.changes (from_data_set, to_data_set, added, changed, removed)
       values ($1, $2, $3, $4, $5) returning number
     )
     delete from publication.changes where number <= (select number - ${keptChanges} from recorded)`,
    [from, to, added, changed, removed],
  );
}
