import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below those that systems give to outgoing connections, of which one could take the port before it is used. */
const usual = [10_000, 32_768] as const;

/** A port of the loopback interface on which nothing listens. */
export async function findFreePort(range: readonly [number, number] = usual): Promise<number> {
  for (;;) {
    const port = randomInt(...range);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve, reject) => {
      server.once("error", (error: NodeJS.ErrnoException) =>
        error.code === "EADDRINUSE" ? resolve(false) : reject(error),
      );
      server.listen(port, "127.0.0.1", () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}
