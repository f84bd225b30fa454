import { Client, type ClientConfig } from "pg";
import { hideValues } from "../sql/hide-values.ts";
import { PoolerRefused, prepareSession } from "../sql/session.ts";
import { endConnection, sessionLimits, watchSession } from "./watch-session.ts";

/**
 * Runs work on a new connection, as the role publisher. If PostgreSQL stops answering, the work's queries fail within two
 * minutes.
 *
 * @param report receives a line if a commit waits for a replica
 * @throws Error that names the server if the connection fails; PoolerRefused
 */
export async function withPublisher<Result>(
  config: ClientConfig,
  work: (client: Client) => Promise<Result>,
  limits = sessionLimits,
  report: (line: string) => void = () => {},
): Promise<Result> {
  const client = new Client({
    ...config,
    application_name: "refresh",
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 30_000,
  });
  // If the connection breaks, the running query fails, so this event needs no handler.
  client.on("error", () => {});
  const unwatch = watchSession(client, config, limits, report);
  try {
    await openSession(client);
    return await work(client);
  } catch (error) {
    hideValues(error);
    throw error;
  } finally {
    unwatch();
    await endConnection(client);
  }
}

async function openSession(client: Client): Promise<void> {
  try {
    await client.connect();
    await prepareSession(client);
    // Otherwise, PostgreSQL would wait 15 minutes for a client whose machine is gone while rows are on their way to it.
    await client.query("set tcp_user_timeout = '60s'; set role publisher");
  } catch (cause) {
    if (cause instanceof PoolerRefused) throw cause;
    const { message, code } = cause as NodeJS.ErrnoException;
    throw new Error(
      `Cannot connect to ${client.host}:${client.port} as the publisher role: ${message || code}.`,
      { cause },
    );
  }
}

/** Aborts when the client's connection ends, with the reason. */
export function signalLoss(client: Client): AbortSignal {
  const loss = new AbortController();
  client.once("error", (error) => loss.abort(error));
  client.once("end", () => loss.abort(new Error("Connection terminated")));
  return loss.signal;
}
