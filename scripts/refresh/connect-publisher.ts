import { Client, type ClientConfig } from "pg";
import { PoolerRefused, prepareSession } from "../sql/session.ts";

/**
 * Runs work on a new connection, as the role publisher.
 *
 * @throws Error that names the server if the connection fails; PoolerRefused
 */
export async function withPublisher<Result>(
  config: ClientConfig,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client({
    ...config,
    application_name: "refresh",
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  });
  // If the connection breaks, the running query fails, so this event needs no handler.
  client.on("error", () => {});
  try {
    await client.connect();
    await prepareSession(client);
    await client.query("set role publisher");
  } catch (cause) {
    await client.end().catch(() => {});
    if (cause instanceof PoolerRefused) throw cause;
    const { message, code } = cause as NodeJS.ErrnoException;
    throw new Error(
      `Cannot connect to ${client.host}:${client.port} as the publisher role: ${message || code}.`,
      { cause },
    );
  }
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}
