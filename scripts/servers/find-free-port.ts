import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ports that systems give to outgoing connections, which could take a port before it is used. */
const usual = [10_000, 32_768] as const;
/** Goes on from port to port, so that one process never chooses the same port twice before it is used. */
let next = randomInt(usual[1]);

/**
 * Listens on a port of the loopback interface, so that nothing else can.
 *
 * @returns what closes it
 * @throws the system's error, such as EADDRINUSE
 */
export async function holdPort(port: number): Promise<() => void> {
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  return () => void server.close();
}

/** Returns a port of the loopback interface on which nothing listens. */
export async function findFreePort([from, to]: readonly [number, number] = usual): Promise<number> {
  for (;;) {
    const port = from + (next++ % (to - from));
    const release = await holdPort(port).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EADDRINUSE") throw error;
    });
    release?.();
    if (release !== undefined) return port;
  }
}
