import type { Client } from "pg";

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
 * Makes a connection fit for work that lasts: locks, roles and settings that are of the session. A session whose client
 * is killed, or whose machine is gone, ends within seconds, and lets go of all that.
 *
 * @throws PoolerRefused where transactions may go to other servers than the one that was reached
 */
export async function keepSession(client: Client): Promise<void> {
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  const { processID, host, port } = client as unknown as Connected;
  if (rows[0]?.pid !== processID) {
    throw new PoolerRefused(
      `${host}:${port} is a connection pooler: the server process that answered is not the one that was connected to. Locks, roles and settings of a session would be left behind on connections that others get. Give the address of the PostgreSQL server itself.`,
    );
  }
  await client.query(
    "set client_connection_check_interval = '1s'; set tcp_keepalives_idle = 30; set tcp_keepalives_interval = 10; set tcp_keepalives_count = 3",
  );
}
