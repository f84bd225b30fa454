import type { Client } from "pg";

/** Another refresh is running. */
export class RefreshIsRunning extends Error {
  override name = "RefreshIsRunning";
}

/**
 * Takes the one lock of everything that changes what is published, until the function it returns is called or the
 * connection ends.
 *
 * @throws RefreshIsRunning that says since when, and from where
 */
export async function lockPublication(client: Client): Promise<() => Promise<void>> {
  const { rows } = await client.query("select pg_try_advisory_lock(hashtext('publication')) as locked");
  if (!rows[0].locked) throw new RefreshIsRunning(await describeHolder(client));
  return async () => {
    // Where the connection is gone, so is the lock.
    await client.query("select pg_advisory_unlock(hashtext('publication'))").catch(() => {});
  };
}

async function describeHolder(client: Client): Promise<string> {
  const { rows } = await client.query<{ started: string | null; address: string | null }>(
    `select to_char(activity.backend_start at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as started,
       host(activity.client_addr) as address
     from pg_catalog.pg_locks
     join pg_catalog.pg_stat_activity as activity on activity.pid = pg_locks.pid
     where pg_locks.locktype = 'advisory' and pg_locks.granted
       and pg_locks.database = (select oid from pg_catalog.pg_database where datname = current_database())
       and pg_locks.classid = (hashtext('publication')::bigint >> 32 & x'ffffffff'::bigint)::oid
       and pg_locks.objid = (hashtext('publication')::bigint & x'ffffffff'::bigint)::oid`,
  );
  const [holder] = rows;
  const since = holder?.started ? ` since ${holder.started} UTC` : "";
  const from = holder?.address ? `, from ${holder.address}` : "";
  return `Another data set is being loaded now${since}${from}. Try again when it is done.`;
}
