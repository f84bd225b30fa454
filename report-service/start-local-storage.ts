import { stat } from "node:fs/promises";
import type { FastifyBaseLogger } from "fastify";
import type { LocalStorageConfig } from "./config.ts";
import { listen, type RunningServer } from "./listen.ts";
import { createLocalStorageServer } from "./local-storage-server.ts";

/**
 * Starts the server of the files in a directory.
 *
 * @throws Error if there is no such directory, or the port cannot be listened on
 */
export async function startLocalStorage({
  host,
  port,
  directory,
  secret,
  logger,
}: LocalStorageConfig & { logger: FastifyBaseLogger }): Promise<RunningServer> {
  const isDirectory = await stat(directory).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isDirectory)
    throw new Error(`${directory} is not a directory. Set STORAGE_DIRECTORY to one that exists.`);
  const app = createLocalStorageServer({ directory, secret, logger });
  return listen(app, { host, port, portVariable: "STORAGE_PORT" });
}
