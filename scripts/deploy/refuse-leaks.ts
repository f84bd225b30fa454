import type { Client } from "pg";
import { checkLeaks, LeaksFound } from "../sql/check-leaks.ts";
import { DeploymentRefused } from "./deployment-refused.ts";
import type { DatabaseFiles } from "./read-files.ts";

// PostgreSQL keeps the locks of a transaction's writes until it ends, and catalog rows that it wrote have an age of zero.
const touchesRows = `
  exists (
    select from pg_catalog.pg_locks
    join pg_catalog.pg_class on pg_class.oid = relation
    join pg_catalog.pg_namespace on pg_namespace.oid = relnamespace
    where pid = pg_backend_pid() and nspname ~ '^(disclosed|suppressed|dissemination)'
      and mode not in ('AccessShareLock', 'RowShareLock')
  ) or exists (
    select from pg_catalog.pg_proc where pronamespace = to_regnamespace('publication') and age(xmin) <= 0
  )`;

/**
 * Replaces the leak check in `files` with the database's: in a rollback, or if a deployment with --promise has replaced the
 * checkout's leak check since.
 */
export async function keepNewestLeakCheck(
  client: Client,
  files: DatabaseFiles,
  {
    rollsBack = false,
    report = () => {},
  }: { rollsBack?: boolean | undefined; report?: (line: string) => void },
): Promise<void> {
  const { rows } = await client.query<{ installed: string | null; is_newer: boolean }>(installedLeakCheck, [
    files.definitions["find_leaks.sql"],
  ]);
  const { installed, is_newer = false } = rows[0] ?? {};
  if (!installed || !(rollsBack || is_newer)) return;
  files.leakCheck = installed;
  if (is_newer)
    report(
      "The leak check in this checkout (db/data_set/find_leaks.sql) is older than the one in the database, so the database keeps the newer one.",
    );
}

const installedLeakCheck = `
with checks as (
  select definitions ->> 'find_leaks.sql' as sha256, min(id) as id, bool_or(is_promise) as is_promise
  from deployment.api_schemas group by 1
)
select (
    select string_agg(pg_get_functiondef(oid), E';\n' order by oid) from pg_catalog.pg_proc
    where pronamespace = to_regnamespace('publication') and proname ~ '^find_'
  ) as installed,
  exists (
    select from checks join checks as later on later.id > checks.id and later.is_promise
    where checks.sha256 = $1
  ) as is_newer`;

/**
 * Runs at the end of a transaction and refuses it if it would show suppressed data. Always checks rights. Checks rows only if
 * the transaction changed the data set or a function that the report service calls.
 *
 * @param leakCheck the SQL that creates publication.find_leaks(), which runs first, because the transaction may have replaced the function
 * @param asksRows whether to check rows in any case, because other transactions may have changed them
 * @throws DeploymentRefused
 */
export async function refuseLeaks(client: Client, leakCheck: string, asksRows = false): Promise<void> {
  const { rows } = await client.query<{ is_first: boolean; touches: boolean }>(
    `select num_nonnulls(to_regprocedure('publication.find_leaks(boolean,text)'),
       to_regprocedure('publication.describe_totals()')) = 0 as is_first, ${touchesRows} as touches`,
  );
  // Until migrations have created these functions, there is no data to leak.
  if (rows[0]?.is_first) return;
  await client.query(leakCheck);
  try {
    await checkLeaks(client, asksRows || rows[0]?.touches ? "" : undefined);
  } catch (cause) {
    throw cause instanceof LeaksFound ? new DeploymentRefused(cause.message, { cause }) : cause;
  }
}
