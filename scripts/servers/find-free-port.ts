import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ports that systems give to outgoing connections, which could take a port before it is used. */
const usual = [10_000, 32_768] as const;
/** Goes on from port to port, so that one process never chooses the same port twice before it is used. */
let next = randomInt(usual[1]);

/** Throws the system's error, such as EADDRINUSE, if no program can listen on a port of the loopback interface. */
export async function checkPort(port: number): Promise<void> {
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  server.close();
  await once(server, "close");
}

/** Returns a port of the loopback interface on which nothing listens. */
export async function findFreePort([from, to]: readonly [number, number] = usual): Promise<number> {
  for (;;) {
    const port = from + (next++ % (to - from));
    try {
      await checkPort(port);
      return port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    }
  }
}
