import type { Client } from "pg";
import { tryLock, unlock } from "../sql/session.ts";

/** An index of the live or the previous data set that is not as recorded. */
interface IndexChange {
  schema_name: string;
  name: string;
  /** What builds it or drops it, each to run without a transaction. */
  statements: string[];
}

export async function listIndexChanges(client: Client): Promise<IndexChange[]> {
  return (await client.query<IndexChange>("select * from data_set.list_index_changes()")).rows;
}

/**
 * Makes the indexes of the live and the previous data set as `db/data_set/indexes.sql` has them, without blocking requests. If
 * building an index fails, the next deployment drops what is left of it and tries again.
 *
 * @returns the indexes that were built or dropped
 */
export async function buildIndexes(client: Client, report: (line: string) => void): Promise<string[]> {
  if ((await listIndexChanges(client)).length === 0) return [];
  if (!(await tryLock(client, "publication"))) {
    report("A refresh is running. It builds the indexes that differ before it publishes.");
    return [];
  }
  const done: string[] = [];
  const { rows } = await client.query("select exists (select from publication.data_sets) as found");
  const hasRows = rows[0].found === true;
  try {
    // An index waits for the transactions that run when it begins.
    await client.query("set lock_timeout = '10min'; set role publisher");
    for (const { schema_name, name, statements } of await listIndexChanges(client)) {
      const index = `${schema_name}.${name}`;
      const isBuilt = statements.length > 1;
      if (hasRows && isBuilt) report(`Building the index ${index} ...`);
      if (!isBuilt) report(`Dropping the index ${index}, which db/data_set/indexes.sql does not have.`);
      for (const statement of statements) await client.query(statement);
      done.push(index);
    }
    return done;
  } finally {
    await client.query("reset role; reset lock_timeout");
    await unlock(client, "publication");
  }
}
