import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance } from "fastify";

/** A server that listens. */
export interface RunningServer {
  /** Its base URL, with no slash at the end. */
  url: string;
  /** Takes no more requests, answers those under way for 10 seconds at most, and lets go of what it used. */
  close(): Promise<void>;
}

const drainMilliseconds = 10_000;
const releaseMilliseconds = 2000;

/**
 * Makes an app listen.
 *
 * @param portVariable the environment variable that moves the port, for the error message
 * @param release lets go of what the app used, once it is closed
 * @throws Error if the port cannot be listened on
 */
export async function listen(
  app: FastifyInstance,
  { host, port, portVariable }: { host: string; port: number; portVariable: string },
  release: () => Promise<void> | void = () => {},
): Promise<RunningServer> {
  try {
    await app.listen({ host, port });
  } catch (cause) {
    await app.close();
    await release();
    const { code } = cause as NodeJS.ErrnoException;
    const reason = code === "EADDRINUSE" ? "is taken" : `cannot be listened on at ${host} (${code})`;
    throw new Error(
      `Port ${port} ${reason}. Set ${portVariable} to another port, or to 0 for any free one.`,
      {
        cause,
      },
    );
  }
  const bound = app.server.address();
  const boundPort = typeof bound === "object" && bound !== null ? bound.port : port;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${boundPort}`,
    close: async () => {
      const timer = setTimeout(() => app.server.closeAllConnections(), drainMilliseconds);
      await app.close();
      clearTimeout(timer);
      // A database that has gone silent is not waited for.
      await Promise.race([release(), sleep(releaseMilliseconds, undefined, { ref: false })]);
    },
  };
}
