import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ephemeral ports, which an outgoing connection could take before the caller listens. */
const defaultRange = [10_000, 32_768] as const;
/** Counts up, so that one process does not choose the same port twice before the first caller listens. */
let next = randomInt(defaultRange[1]);

/** Throws the system's error, such as EADDRINUSE, if a port on the loopback interface cannot be listened on. */
export async function checkPort(port: number): Promise<void> {
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  server.close();
  await once(server, "close");
}

/** Returns a free port on the loopback interface. */
export async function findFreePort([from, to]: readonly [number, number] = defaultRange): Promise<number> {
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
