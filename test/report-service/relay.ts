import { once } from "node:events";
import { connect as connectTo, createServer, type Server, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { findFreePort } from "../../scripts/servers/find-free-port.ts";

/** A wire between two parts that can be cut: bytes pass through unread and unchanged. */
export interface Relay {
  port: number;
  /** New connections pass, and so do those that were held. */
  pass(): Promise<void>;
  /** Connections that are open now, and new ones, carry nothing until they pass again. */
  hold(): Promise<void>;
  /** Connections that are open now are cut, and new ones refused. */
  refuse(): Promise<void>;
  /** Resolves at the next connection that is held. */
  held(): Promise<void>;
  close(): Promise<void>;
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
        // A program that another thread has just started holds what was open, until it is a program of its own.
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

  // It is let go and taken again, and nobody may have it meanwhile: others take theirs above.
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
    close: refuse,
  };
}
