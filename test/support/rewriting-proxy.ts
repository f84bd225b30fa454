import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { pipeline, Transform } from "node:stream";

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
  const clients = new Set<Socket>();
  const proxy = createServer((client) => {
    clients.add(client);
    const rewriting = new Transform({ transform: (bytes, _encoding, done) => done(null, rewrite(bytes)) });
    // If one side ends, so does the other.
    pipeline(client, connect(Number(port), hostname), rewriting, client, () => client.destroy());
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return {
    url: Object.assign(new URL(serverUrl), { port: (proxy.address() as AddressInfo).port }).href,
    close: async () => {
      for (const client of clients) client.destroy();
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
