import type { Client } from "pg";
import { checkLeaks, checkRows, LeaksFound } from "../refresh/check-leaks.ts";
import { DeploymentRefused } from "./deployment-refused.ts";

// PostgreSQL keeps the locks of a transaction's writes, and the age of the catalog rows that it wrote is not above zero.
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
 * Asks, at the end of a transaction, whether what it leaves shows a suppressed submission: rights always, rows where it
 * has written to the data set, or changed what the report service asks.
 *
 * @param question the SQL that makes publication.find_leaks(), so that this checkout's question is asked
 * @param asksRows whether rows are asked in any case, because other transactions may have written them
 * @throws DeploymentRefused
 */
export async function refuseLeaks(client: Client, question: string, asksRows = false): Promise<void> {
  const { rows: schemas } = await client.query(
    `select coalesce(to_regprocedure('publication.find_leaks(boolean,text)'), to_regprocedure('publication.describe_totals()'))
       is not null as is_made`,
  );
  // Before, there is nothing to show.
  if (!schemas[0].is_made) return;
  const { rows } = await client.query<{ touches: boolean }>(touchesRows);
  await client.query(question);
  await (asksRows || rows[0]?.touches ? checkRows(client, "") : checkLeaks(client)).catch(
    (error: unknown) => {
      throw error instanceof LeaksFound ? new DeploymentRefused(error.message, { cause: error }) : error;
    },
  );
}
