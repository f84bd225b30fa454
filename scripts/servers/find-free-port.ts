import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { threadId } from "node:worker_threads";

/** Below those that systems give to outgoing connections, of which one could take the port before it is used. */
const usual = [10_000, 32_768] as const;

/**
 * Between the choice of a port and its use somebody else may choose the same. So each goes on from where it was, and those
 * that run at the same time, whose process IDs are near to each other, begin far apart.
 */
let next = process.pid * 1240 + threadId * 310 + randomInt(20);

/** A port of the loopback interface on which nothing else listens, for as long as it is held. */
export interface HeldPort {
  port: number;
  close: () => Promise<void>;
}

/** @throws the system's error, such as EADDRINUSE, where the port cannot be had */
export async function holdPort(port: number): Promise<HeldPort> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return { port, close: () => new Promise((resolve) => server.close(() => resolve())) };
}

export async function holdFreePort([from, to]: readonly [number, number] = usual): Promise<HeldPort> {
  for (;;) {
    const held = await holdPort(from + (next++ % (to - from))).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EADDRINUSE") throw error;
    });
    if (held !== undefined) return held;
  }
}

/** A port of the loopback interface on which nothing listens. */
export async function findFreePort(range?: readonly [number, number]): Promise<number> {
  const { port, close } = await holdFreePort(range);
  await close();
  return port;
}
