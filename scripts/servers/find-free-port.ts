import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ephemeral ports, which an outgoing connection could take before the caller listens. */
const range = [10_000, 32_768] as const;

/** Throws the system's error, such as EADDRINUSE, if a port on the loopback interface cannot be listened on. */
export async function checkPort(port: number): Promise<void> {
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  server.close();
  await once(server, "close");
}

/**
 * Keeps other processes that look for a free port from choosing this one, until this process ends: a server may start
 * long after its port is chosen. It holds the UDP port of the same number, so the TCP port stays free.
 */
async function reservePort(port: number): Promise<void> {
  const socket = createSocket("udp4").unref();
  socket.bind({ port, address: "127.0.0.1", exclusive: true });
  await once(socket, "listening");
}

/** Returns a free port on the loopback interface, which no other caller gets while this process runs. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(...range);
    try {
      await reservePort(port);
      await checkPort(port);
      return port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    }
  }
}
