import type { Client } from "pg";
import { checkLeaks, checkLeaksInRows, LeaksFound } from "../sql/check-leaks.ts";
import { readDeployed } from "./deployed.ts";
import { DeploymentRefused } from "./deployment-refused.ts";

// PostgreSQL keeps the locks of a transaction's writes until it ends, and catalog rows that it wrote have an age of zero.
const touchesTables = `
  exists (
    select from pg_catalog.pg_locks
    join pg_catalog.pg_class on pg_class.oid = relation
    join pg_catalog.pg_namespace on pg_namespace.oid = relnamespace
    where pid = pg_backend_pid() and nspname ~ '^(disclosed|suppressed|dissemination)'
      and mode not in ('AccessShareLock', 'RowShareLock')
  )`;
const touchesFunctions = `
  exists (
    select from pg_catalog.pg_proc
    where pronamespace = to_regnamespace('publication') and age(xmin) <= 0 and proname !~ '^find_'
  )`;

/**
 * Installs the leak check and the rules for API objects, so that an outdated version never runs: until the transaction ends, no
 * data set is published.
 *
 * @param installed what this function returned earlier in the transaction: installs them only if something replaced them since
 */
export async function installLeakCheck(
  client: Client,
  leakCheck: string,
  installed?: string,
): Promise<string> {
  const read = async () => (await client.query<{ found: string }>(installedFunctions)).rows[0]?.found ?? "";
  await client.query(blockPublications);
  if (installed !== undefined && (await read()) === installed) return installed;
  await client.query(leakCheck);
  return await read();
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

// Each change to a function moves its row in the catalog.
const installedFunctions = `
select string_agg(oid || ' ' || ctid::text, ',' order by oid) as found
from pg_catalog.pg_proc where pronamespace = to_regnamespace('publication') and proname ~ '^find_'`;

/**
 * Runs at the end of a transaction and refuses it if it would show suppressed data. Always checks rights. Checks rows only if
 * the transaction changed the data set or a function that the report service calls. The leak check must be installed.
 *
 * @param asksRows whether such a function changed, or other transactions may have changed rows; if absent, whether the
 *   transaction has replaced any
 * @throws DeploymentRefused
 */
export async function refuseLeaks(client: Client, asksRows?: boolean): Promise<void> {
  const { rows } = await client.query<{ touches: boolean }>(
    `select ${touchesTables} or ${asksRows ?? touchesFunctions} as touches`,
  );
  await refuse(checkLeaks(client, rows[0]?.touches ? "" : undefined));
}

/**
 * Refuses the transaction if the live data set's rows would show suppressed data. The leak check must be installed.
 *
 * @throws DeploymentRefused
 */
export async function refuseLeaksInRows(client: Client): Promise<void> {
  // Before the first deployment ends, there are neither rows nor the functions that the check calls.
  if ((await readDeployed(client)) !== undefined) await refuse(checkLeaksInRows(client));
}

async function refuse(check: Promise<void>): Promise<void> {
  await check.catch((cause: unknown) => {
    throw cause instanceof LeaksFound ? new DeploymentRefused(cause.message, { cause }) : cause;
  });
}
