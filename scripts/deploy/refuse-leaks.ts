import type { Client } from "pg";
import { checkLeaks, checkLeaksInRows, LeaksFound } from "../sql/check-leaks.ts";
import { readDeployed } from "./deployed.ts";
import { DeploymentRefused } from "./deployment-refused.ts";
import type { DatabaseFiles } from "./read-files.ts";

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
 * Replaces the leak check in `files` with the database's: in a rollback, or if a deployment with --promise has replaced the
 * checkout's leak check since. The query of rights stays the one that wrote the checkout's list: another one may say the same
 * in other words.
 */
export async function keepNewestLeakCheck(
  client: Client,
  files: DatabaseFiles,
  {
    rollsBack = false,
    report = () => {},
  }: { rollsBack?: boolean | undefined; report?: (line: string) => void },
): Promise<void> {
  const { rows } = await client.query<{ installed: string | null; sha256: string; is_newer: boolean }>(
    installedLeakCheck,
    [files.leakCheckSha256],
  );
  const { installed, sha256 = "", is_newer = false } = rows[0] ?? {};
  if (!installed || !(rollsBack || is_newer)) return;
  Object.assign(files, { leakCheck: `${installed};\n${files.rightsQuery}`, leakCheckSha256: sha256 });
  if (is_newer)
    report(
      "The leak check in this checkout (db/data_set/find_leaks.sql) is older than the one in the database, so the database keeps the newer one.",
    );
}

const installedLeakCheck = `
with checks as (
  select leak_check_sha256 as sha256, min(id) as id, bool_or(is_promise) as is_promise
  from deployment.api_schemas group by 1
)
select (
    select string_agg(pg_get_functiondef(oid), E';\n' order by oid) from pg_catalog.pg_proc
    where pronamespace = to_regnamespace('publication') and proname ~ '^find_'
  ) as installed,
  (select leak_check_sha256 from deployment.api_schemas order by id desc limit 1) as sha256,
  exists (
    select from checks join checks as later on later.id > checks.id and later.is_promise
    where checks.sha256 = $1
  ) as is_newer`;

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
