import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A proxy before a PostgreSQL server, at an address of its own. */
export interface RewritingProxy {
  url: string;
  close: () => Promise<void>;
}

/**
 * Passes on what a client and a server say to each other, and changes what the server says.
 *
 * @param rewrite gets the server's bytes, and gives as many
 */
export async function startRewritingProxy(
  serverUrl: string,
  rewrite: (bytes: Buffer) => Buffer,
): Promise<RewritingProxy> {
  const { hostname, port } = new URL(serverUrl);
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname);
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("close", () => other.destroy());
    }
    client.on("data", (bytes) => server.write(bytes));
    server.on("data", (bytes) => client.write(rewrite(bytes)));
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const address = proxy.address();
  const url = new URL(serverUrl);
  url.port = String(typeof address === "object" && address?.port);
  return {
    url: url.href,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, "close");
    },
  };
}

/** Gives clients another server process than the one that answers them, as a pooler does (PostgreSQL: BackendKeyData). */
export function hideProcess(bytes: Buffer): Buffer {
  const at = bytes.indexOf(Buffer.from([0x4b, 0, 0, 0, 12]));
  if (at >= 0) bytes.writeInt32BE(bytes.readInt32BE(at + 5) ^ 1, at + 5);
  return bytes;
}
