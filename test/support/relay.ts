import { once } from "node:events";
import { type AddressInfo, connect as connectTo, createServer, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { findFreePort } from "../../scripts/servers/find-free-port.ts";

/** A TCP proxy between two parts of the service. A test can pause or cut its connections. */
export interface Relay {
  port: number;
  /** Accepts new connections, and resumes paused ones. */
  pass(): Promise<void>;
  /** Accepts new connections, but carries no data on them or on open ones. */
  hold(): Promise<void>;
  /** After hold(): carries data on new connections, but not on open ones. */
  passNew(): void;
  /** Cuts open connections and refuses new ones. */
  refuse(): Promise<void>;
  /** Resolves when the next connection arrives while traffic is held. */
  held(): Promise<void>;
}

/** @param rewrite edits a chunk of the target's output, without changing its length */
export async function startRelay(
  targetPort: number,
  rewrite = (bytes: Buffer): Buffer => bytes,
): Promise<Relay> {
  const sockets = new Set<Socket>();
  let isHolding = false;
  let announceHeld = () => {};

  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (near) => {
    const far = connectTo({ port: targetPort, host: "127.0.0.1", allowHalfOpen: true });
    const cut = () => {
      for (const socket of [near, far]) {
        sockets.delete(socket);
        socket.destroy();
      }
    };
    const passOn = (from: Socket, to: Socket, change = (bytes: Buffer): Buffer => bytes) => {
      sockets.add(from);
      from.on("error", cut).on("close", cut);
      from.on("data", (chunk) => void to.write(change(chunk))).on("end", () => to.end());
      if (isHolding) from.pause();
      else from.resume();
    };
    passOn(near, far);
    passOn(far, near, rewrite);
    if (isHolding) announceHeld();
  });

  async function listen(port: number): Promise<number> {
    for (const giveUpAt = Date.now() + 10_000; !server.listening; ) {
      server.listen(port, "127.0.0.1");
      await once(server, "listening").catch(async (error) => {
        // If another thread has just forked a child process, the child holds the port until it calls exec.
        if (error.code !== "EADDRINUSE" || Date.now() > giveUpAt) throw error;
        await setTimeout(10);
      });
    }
    return (server.address() as AddressInfo).port;
  }

  async function refuse(): Promise<void> {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  const port = await listen(await findFreePort());
  const switchTo = async (holds: boolean) => {
    isHolding = holds;
    await listen(port);
    for (const socket of sockets) holds ? socket.pause() : socket.resume();
  };
  return {
    port,
    pass: () => switchTo(false),
    hold: () => switchTo(true),
    passNew: () => {
      isHolding = false;
    },
    refuse,
    held: () =>
      new Promise((resolve) => {
        announceHeld = resolve;
      }),
  };
}
