import type { Client } from "pg";
import { checkLeaks, LeaksFound } from "../refresh/check-leaks.ts";
import { DeploymentRefused } from "./deployment-refused.ts";

// PostgreSQL keeps the locks of a transaction's writes until it ends, and catalog rows that it wrote have an age of zero.
const touchesRows = `
select exists (
    select from pg_catalog.pg_locks
    join pg_catalog.pg_class on pg_class.oid = relation
    join pg_catalog.pg_namespace on pg_namespace.oid = relnamespace
    where pid = pg_backend_pid() and nspname ~ '^(disclosed|suppressed|dissemination)'
      and mode not in ('AccessShareLock', 'RowShareLock')
  ) or exists (
    select from pg_catalog.pg_proc where pronamespace = to_regnamespace('publication') and age(xmin) <= 0
      and proname <> 'find_leaks'
  ) as touches`;

/**
 * Asks at the end of a transaction whether it would show suppressed data. Rights are always checked; rows only if the
 * transaction changed the data set or a function that the report service calls.
 *
 * @param question the SQL that creates publication.find_leaks(); without it, the function that the database has is asked
 * @param asksRows whether to check rows in any case, because other transactions may have changed them
 * @throws DeploymentRefused
 */
export async function refuseLeaks(client: Client, question?: string, asksRows = false): Promise<void> {
  const { rows } = await client.query<{ is_asked: boolean; has_data_set: boolean }>(
    `select to_regprocedure('publication.find_leaks(boolean,text)') is not null as is_asked,
       to_regprocedure('publication.describe_totals()') is not null as has_data_set`,
  );
  // Before the migration that creates these functions there is nothing to show.
  if (!rows[0]?.is_asked && !rows[0]?.has_data_set) return;
  const { rows: writes } = await client.query<{ touches: boolean }>(touchesRows);
  if (question !== undefined) await client.query(question);
  try {
    await checkLeaks(client, asksRows || writes[0]?.touches ? "" : undefined);
  } catch (cause) {
    throw cause instanceof LeaksFound ? new DeploymentRefused(cause.message, { cause }) : cause;
  }
}
