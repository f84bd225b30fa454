import { Worker } from "node:worker_threads";
import { pgDump } from "@electric-sql/pglite-tools/pg_dump";

type Pglite = Parameters<typeof pgDump>[0]["pg"];

/** X: the client ends the connection, and gets no answer. */
const terminate = 0x58;

/**
 * Runs pg_dump 18 against a PostgreSQL server. It is pg_dump itself, compiled to WebAssembly for PGlite; what it
 * sends to the database that it expects in its own process goes to the server in place of that. It writes `insert`
 * where pg_dump by itself writes `copy`, so that its output needs no psql.
 */
export async function runPgDump(databaseUrl: string, args: string[]): Promise<string> {
  const { hostname, port, pathname, username, password } = new URL(databaseUrl);
  const shared = new SharedArrayBuffer(8 + (1 << 20));
  const state = new Int32Array(shared, 0, 2);
  const area = new Uint8Array(shared, 8);
  // pg_dump waits for answers without giving way to anything else in its thread.
  const wire = new Worker(new URL("./pg-dump-wire.mjs", import.meta.url), {
    workerData: { shared, hostname, port: Number(port) },
  });
  const server = {
    query: async () => ({ rows: [{ search_path: "" }] }),
    exec: async () => {},
    execProtocolRawStream: (
      message: Uint8Array,
      { onRawData }: { onRawData: (bytes: Uint8Array) => void },
    ) => {
      if (message[0] === terminate) return;
      wire.postMessage(message.slice());
      for (let isLast = false; !isLast; ) {
        if (Atomics.wait(state, 0, 0, 20_000) === "timed-out") throw new Error("The server did not answer.");
        isLast = Atomics.load(state, 0) === 2;
        onRawData(area.slice(0, Atomics.load(state, 1)));
        Atomics.store(state, 0, 0);
        Atomics.notify(state, 0);
      }
    },
  };
  try {
    const address = `host=${hostname} port=${port} dbname=${pathname.slice(1)} user=${username} password=${password}`;
    const file = await pgDump({
      pg: server as unknown as Pglite,
      args: ["--dbname", `${address} sslmode=disable gssencmode=disable`, ...args],
    });
    return await file.text();
  } finally {
    await wire.terminate();
  }
}
