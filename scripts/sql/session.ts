import type { Client, DatabaseError } from "pg";
import { describeSessions, transactionSettings } from "./run-transaction.ts";

/** The URL leads to a connection pooler, not to a PostgreSQL server. */
export class PoolerRefused extends Error {
  override name = "PoolerRefused";
}

/**
 * Prepares a connection for work that relies on session state: locks, roles and settings. The session ends, and
 * releases its locks, within seconds if the client is killed, or within about a minute if its machine is lost.
 *
 * @throws PoolerRefused if transactions may reach another server process
 */
export async function prepareSession(client: Client): Promise<void> {
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  // The server process that a cancellation would reach.
  const { processID } = client as unknown as { processID: number | null };
  if (rows[0]?.pid !== processID) {
    throw new PoolerRefused(
      `${client.host}:${client.port} is a connection pooler: the server process that answered is not the one that accepted the connection. Session locks and settings would leak to other clients. Use the address of the PostgreSQL server itself.`,
    );
  }
  await client.query(settings);
}

const settings =
  "set client_connection_check_interval = '1s'; set tcp_keepalives_idle = 30; set tcp_keepalives_interval = 10; set tcp_keepalives_count = 3";

/** Resets the role and the settings that SQL files may have changed, for the statements after them. */
export async function resetSession(client: Client): Promise<void> {
  await client.query(
    `set constraints all immediate; reset role; reset all; ${settings}; ${transactionSettings}`,
  );
}

/**
 * Takes a session lock if it is free. It lasts until it is released or the connection ends.
 *
 * @param client prepared by `prepareSession`
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
 * Allows one deployment at a time: takes the deployment lock, and holds it until the connection ends.
 *
 * @param milliseconds how long to wait for another deployment; if absent, until it ends
 * @throws Error if the other deployment did not end in that time
 */
export async function lockDeployment(
  client: Client,
  report: (line: string) => void,
  milliseconds?: number,
): Promise<void> {
  const lock = "db-deploy";
  if (await tryLock(client, lock)) return;
  const limit = milliseconds === undefined ? "it ends" : `it ends, for at most ${milliseconds / 1000} s`;
  const holder = await describeHolder(client, lock);
  report(`Another deployment is running: ${holder}\nWaiting until ${limit} ...`);
  // lock_timeout = 0 means no limit.
  await client.query(`set lock_timeout = ${milliseconds === undefined ? 0 : Math.max(1, milliseconds)}`);
  await client.query("select pg_advisory_lock(hashtext($1))", [lock]).catch((cause: DatabaseError) => {
    if (cause.code !== "55P03") throw cause;
    throw new Error(`Nothing was deployed, because another deployment is still running: ${holder}`, {
      cause,
    });
  });
  await client.query("reset lock_timeout");
}

/** Names the session that holds a lock, and how to end it. */
export async function describeHolder(client: Client, name: string): Promise<string> {
  const holds = `pid in (
    select pid from pg_catalog.pg_locks where locktype = 'advisory' and granted and objsubid = 1
      and objid = (hashtext('${name}')::bigint & x'ffffffff'::bigint)::oid
  )`;
  const [holder] = await describeSessions(client, holds);
  return holder ?? "a session that is no longer listed";
}
