import type { Client } from "pg";
import { checkLeaks, checkLeaksInRows } from "../sql/check-leaks.ts";
import { readDeployed } from "./deployed.ts";

// PostgreSQL keeps the locks of a transaction's writes until it ends.
const touchesTables = `
select exists (
  select from pg_catalog.pg_locks
  join pg_catalog.pg_class on pg_class.oid = relation
  join pg_catalog.pg_namespace on pg_namespace.oid = relnamespace
  where pid = pg_backend_pid() and nspname ~ '^(disclosed|suppressed|dissemination)'
    and mode not in ('AccessShareLock', 'RowShareLock')
) as touches`;

/**
 * Installs the leak check, so that an outdated version never runs: until the transaction ends, no data set is published.
 */
export async function installLeakCheck(client: Client, leakCheck: string): Promise<void> {
  await client.query(blockPublications);
  await client.query(leakCheck);
}

// publishNextGeneration() takes the lock that this one conflicts with.
const blockPublications = `
do $$
begin
  if to_regclass('publication.data_sets') is not null then
    lock table publication.data_sets in share mode;
  end if;
end
$$`;

/** Hashes the functions that the report service calls, and the leak check: a later file may replace them. */
export async function hashPublicationFunctions(client: Client): Promise<string> {
  const { rows } = await client.query<{ hash: string }>(publicationFunctions);
  return rows[0]?.hash ?? "";
}

const publicationFunctions = `
select coalesce(md5(string_agg(pg_get_functiondef(oid), '' order by oid)), '') as hash
from pg_catalog.pg_proc where pronamespace = to_regnamespace('publication')`;

/**
 * Runs at the end of a transaction and refuses it if it would show suppressed data. Always checks rights. Checks rows only if
 * the transaction changed the data set or a function that the report service calls. The leak check must be installed.
 *
 * @param asksRows whether such a function changed, or other transactions may have changed rows
 * @throws LeaksFound
 */
export async function refuseLeaks(client: Client, asksRows: boolean): Promise<void> {
  const { rows } = await client.query<{ touches: boolean }>(touchesTables);
  await checkLeaks(client, asksRows || rows[0]?.touches ? "" : undefined);
}

/**
 * Refuses the transaction if the live data set's rows would show suppressed data. The leak check must be installed.
 *
 * @throws LeaksFound
 */
export async function refuseLeaksInRows(client: Client): Promise<void> {
  // Before the first deployment ends, there are neither rows nor the functions that the check calls.
  if ((await readDeployed(client)) !== undefined) await checkLeaksInRows(client);
}
