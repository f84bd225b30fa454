import type { Client } from "pg";

/**
 * Takes a lock of the session, if nobody has it. It lasts until it is released or the connection ends.
 *
 * @param client that `keepSession` has made fit
 */
export async function tryLock(client: Client, name: string): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>(
    "select pg_try_advisory_lock(hashtext($1)) as locked",
    [name],
  );
  return rows[0]?.locked === true;
}

/** Releases a lock of the session. Where the connection is gone, so is the lock. */
export async function unlock(client: Client, name: string): Promise<void> {
  await client.query("select pg_advisory_unlock(hashtext($1))", [name]).catch(() => {});
}

/**
 * Who has a lock, and how to take it from them: `process 12 (db-deploy, as owner, from 10.0.0.1, since … UTC). To end it:
 * select pg_terminate_backend(12)`. What PostgreSQL does not tell of another role's session is left out.
 */
export async function describeHolder(client: Client, name: string): Promise<string> {
  const { rows } = await client.query<{ pid: number; details: string }>(
    `select activity.pid, concat_ws(', ',
       nullif(activity.application_name, ''),
       'as ' || activity.usename,
       'from ' || host(activity.client_addr),
       to_char(activity.backend_start at time zone 'UTC', '"since" YYYY-MM-DD HH24:MI:SS "UTC"')
     ) as details
     from pg_catalog.pg_locks
     join pg_catalog.pg_stat_activity as activity on activity.pid = pg_locks.pid
     where pg_locks.locktype = 'advisory' and pg_locks.granted
       and pg_locks.database = (select oid from pg_catalog.pg_database where datname = current_database())
       and pg_locks.classid = (hashtext($1)::bigint >> 32 & x'ffffffff'::bigint)::oid
       and pg_locks.objid = (hashtext($1)::bigint & x'ffffffff'::bigint)::oid and pg_locks.objsubid = 1`,
    [name],
  );
  const [holder] = rows;
  if (holder === undefined) return "somebody who has just ended";
  return `process ${holder.pid} (${holder.details}). To end it: select pg_terminate_backend(${holder.pid})`;
}
