import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance } from "fastify";

export interface RunningServer {
  /** Its base URL, with no slash at the end. */
  url: string;
  /** Accepts no more requests, waits at most 10 seconds for responses in progress, and releases what the server used. */
  close(): Promise<void>;
}

const drainMilliseconds = 10_000;
const releaseMilliseconds = 2000;

/**
 * Makes an app listen.
 *
 * @param portVariable the environment variable that sets the port, for the error message
 * @param release frees what the app used, once it is closed
 * @throws Error if the port is taken
 */
export async function listen(
  app: FastifyInstance,
  { host, port, portVariable }: { host: string; port: number; portVariable: string },
  release: () => Promise<void> | void = () => {},
): Promise<RunningServer> {
  try {
    const url = await app.listen({ host, port });
    return {
      url,
      close: async () => {
        const timer = setTimeout(() => app.server.closeAllConnections(), drainMilliseconds);
        await app.close();
        clearTimeout(timer);
        // A database that does not answer must not keep the process alive.
        await Promise.race([release(), sleep(releaseMilliseconds, undefined, { ref: false })]);
      },
    };
  } catch (cause) {
    await app.close();
    await release();
    const { code } = cause as NodeJS.ErrnoException;
    const reason = code === "EADDRINUSE" ? "is taken" : `cannot be used at ${host} (${code})`;
    const advice = `Set ${portVariable} to another port, or to 0 for any free one.`;
    throw new Error(`Port ${port} ${reason}. ${advice}`, { cause });
  }
}
