import type { Client } from "pg";

/** Reports whose public rows differ between two generations of the data set. */
export interface Changes {
  from: string;
  added: string[];
  changed: string[];
  removed: string[];
}

type Generation = "disclosed" | "disclosed_next" | "disclosed_previous";

const keptChanges = 100;

/**
 * Compares a generation with the live one, by the fingerprints of their reports. Nothing may be published meanwhile.
 *
 * @returns undefined where the live one is empty, or one of them was made without fingerprints
 */
export async function findChanges(client: Client, to: Generation): Promise<Changes | undefined> {
  const { rows: live } = await client.query<{ id: string }>(
    `select id from publication.data_sets
     where state = 'live' and source <> 'empty'
       and to_regclass('disclosed.fingerprints') is not null and to_regclass($1) is not null`,
    [`${to}.fingerprints`],
  );
  const [from] = live;
  if (from === undefined) return undefined;
  const { rows } = await client.query<Omit<Changes, "from">>(compareSql(to));
  return { from: from.id, ...(rows[0] ?? { added: [], changed: [], removed: [] }) };
}

const compareSql = (to: Generation) => `
with compared as (
  select
    report_id,
    case
      when coalesce(old.is_in_general, false) = coalesce(new.is_in_general, false) then 'changed'
      when new.is_in_general then 'added'
      else 'removed'
    end as change
  from disclosed.fingerprints as old
  full join ${to}.fingerprints as new using (report_id)
  where old.fingerprint is distinct from new.fingerprint
)
select ${["added", "changed", "removed"]
  .map(
    (change) =>
      `coalesce(array_agg(report_id order by report_id) filter (where change = '${change}'), '{}') as ${change}`,
  )
  .join(", ")}
from compared`;

/** Writes down what differs, in the transaction that makes the other generation live, and forgets what is long past. */
export async function recordChanges(client: Client, changes: Changes | undefined, to: string): Promise<void> {
  if (changes === undefined) return;
  await client.query(
    `insert into publication.changes (from_data_set, to_data_set, added, changed, removed)
     values ($1, $2, $3, $4, $5)`,
    [changes.from, to, changes.added, changes.changed, changes.removed],
  );
  await client.query(
    `delete from publication.changes
     where number <= (select max(number) from publication.changes) - ${keptChanges}`,
  );
}
