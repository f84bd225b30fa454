import { once } from "node:events";
import { connect as connectTo, createServer, type Server, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { findFreePort } from "../../scripts/servers/find-free-port.ts";

/** A connection between two parts that a test can cut. Bytes pass through unchanged. */
export interface Relay {
  port: number;
  /** Lets new connections pass, and those that were held. */
  pass(): Promise<void>;
  /** Keeps open and new connections from carrying anything. */
  hold(): Promise<void>;
  /** Cuts open connections and refuses new ones. */
  refuse(): Promise<void>;
  /** Resolves at the next connection that is held. */
  held(): Promise<void>;
}

export async function startRelay(targetPort: number): Promise<Relay> {
  const pairs = new Map<Socket, Socket>();
  let isHolding = false;
  let announceHeld = () => {};

  const server: Server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (near) => {
    const far = connectTo({ port: targetPort, host: "127.0.0.1", allowHalfOpen: true });
    pairs.set(near, far);
    const cut = () => {
      pairs.delete(near);
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      socket.on("error", cut);
      socket.on("close", cut);
    }
    near.on("data", (chunk) => void far.write(chunk));
    far.on("data", (chunk) => void near.write(chunk));
    near.on("end", () => far.end());
    far.on("end", () => near.end());
    if (isHolding) {
      near.pause();
      far.pause();
      announceHeld();
    } else {
      near.resume();
    }
  });

  async function listen(port: number): Promise<number> {
    for (const giveUpAt = Date.now() + 10_000; !server.listening; ) {
      server.listen(port, "127.0.0.1");
      await once(server, "listening").catch(async (error) => {
        // A child process of another thread may hold the port until it calls exec.
        if (error.code !== "EADDRINUSE" || Date.now() > giveUpAt) throw error;
        await setTimeout(10);
      });
    }
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("The relay has no port.");
    return address.port;
  }

  async function refuse(): Promise<void> {
    if (server.listening) {
      const closed = once(server, "close");
      server.close();
      for (const socket of pairs.keys()) socket.destroy();
      await closed;
    }
  }

  // The port is released and taken again, so it is outside of the range that others choose from.
  const port = await listen(await findFreePort([2_000, 5_000]));
  return {
    port,
    pass: async () => {
      isHolding = false;
      await listen(port);
      for (const pair of pairs) for (const socket of pair) socket.resume();
    },
    hold: async () => {
      isHolding = true;
      await listen(port);
      for (const pair of pairs) for (const socket of pair) socket.pause();
    },
    refuse,
    held: () =>
      new Promise((resolve) => {
        announceHeld = resolve;
      }),
  };
}
