import type { Client, DatabaseError } from "pg";

/** The address is that of a connection pooler. */
export class PoolerRefused extends Error {
  override name = "PoolerRefused";
}

/** What a server told its client about the connection. */
interface Connected {
  /** The server process, for the requests that cancel a statement. */
  processID: number | null;
  host: string;
  port: number;
}

/**
 * Prepares a connection for work that relies on session state: locks, roles and settings. If the client is killed or its
 * machine is lost, the session ends within seconds and releases all of it.
 *
 * @throws PoolerRefused if transactions may reach another server process
 */
export async function keepSession(client: Client): Promise<void> {
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  const { processID, host, port } = client as unknown as Connected;
  if (rows[0]?.pid !== processID) {
    throw new PoolerRefused(
      `${host}:${port} is a connection pooler: another server process answered than the one that accepted the connection. Session locks and settings would leak to other clients. Give the address of the PostgreSQL server itself.`,
    );
  }
  await client.query(
    "set client_connection_check_interval = '1s'; set tcp_keepalives_idle = 30; set tcp_keepalives_interval = 10; set tcp_keepalives_count = 3",
  );
}

/**
 * Takes a session lock if it is free. It lasts until it is released or the connection ends.
 *
 * @param client prepared by `keepSession`
 */
export async function tryLock(client: Client, name: string): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>(
    "select pg_try_advisory_lock(hashtext($1)) as locked",
    [name],
  );
  return rows[0]?.locked === true;
}

/** Releases a session lock. If the connection has ended, so has the lock. */
export async function unlock(client: Client, name: string): Promise<void> {
  await client.query("select pg_advisory_unlock(hashtext($1))", [name]).catch(() => {});
}

/**
 * Allows one deployment at a time: takes the lock of deployments until the connection ends.
 *
 * @param milliseconds how long to wait for another deployment; without it, as long as that runs
 * @throws Error if the other deployment did not end in that time
 */
export async function lockDeployment(
  client: Client,
  report: (line: string) => void,
  milliseconds?: number,
): Promise<void> {
  const lock = "db-deploy";
  if (await tryLock(client, lock)) return;
  const seconds = (milliseconds ?? 0) / 1000;
  const limit =
    milliseconds === undefined ? "until it ends (--wait sets a limit)" : `up to ${seconds} s (--wait)`;
  const holder = await describeHolder(client, lock);
  report(`Another deployment is running: ${holder}\nWaiting ${limit} ...`);
  // lock_timeout = 0 means no limit.
  await client.query(`set lock_timeout = ${milliseconds === undefined ? 0 : Math.max(1, milliseconds)}`);
  await client.query("select pg_advisory_lock(hashtext($1))", [lock]).catch((cause: DatabaseError) => {
    if (cause.code !== "55P03") throw cause;
    const message = `Nothing was deployed: another deployment was still running after ${seconds} s (--wait). Wait for it, or end it: ${holder}`;
    throw new Error(message, { cause });
  });
  await client.query("reset lock_timeout");
}

/**
 * Names the session that holds a lock, and how to end it: `process 12 (db-deploy, as owner, from 10.0.0.1, since … UTC).
 * To end it: select pg_terminate_backend(12)`. PostgreSQL hides some of this from other roles.
 */
export async function describeHolder(client: Client, name: string): Promise<string> {
  const { rows } = await client.query<{ holder: string }>(
    `select format('process %s (%s). To end it: select pg_terminate_backend(%1$s)', pid, concat_ws(', ',
       nullif(application_name, ''), 'as ' || usename, 'from ' || host(client_addr),
       to_char(backend_start at time zone 'UTC', '"since" YYYY-MM-DD HH24:MI:SS "UTC"'))) as holder
     from pg_catalog.pg_locks join pg_catalog.pg_stat_activity using (pid)
     where locktype = 'advisory' and granted and objsubid = 1 and objid = (hashtext($1)::bigint & x'ffffffff'::bigint)::oid
       and database = (select oid from pg_catalog.pg_database where datname = current_database())`,
    [name],
  );
  return rows[0]?.holder ?? "a session that has just ended";
}
