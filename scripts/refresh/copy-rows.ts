import type { Client, Connection, Submittable } from "pg";

/** Takes a row with its line break. The row's bytes are overwritten later. If it returns a promise, the next rows wait for it. */
type TakeRow = (row: Buffer) => Promise<unknown> | undefined;

/**
 * Runs a `COPY … TO STDOUT` and hands over its rows one by one, the header first: PostgreSQL sends each as one message. If this
 * fails, the connection cannot be used any more, because rows still arrive that nobody reads.
 *
 * @returns the number of rows, without the header
 */
export async function copyRows(
  client: Client,
  sql: string,
  takeRow: TakeRow,
  signal?: AbortSignal,
): Promise<number> {
  signal?.throwIfAborted();
  let abort = () => {};
  return await new Promise<number>((resolve, reject) => {
    abort = () => reject(signal?.reason);
    signal?.addEventListener("abort", abort);
    client.query(createCopy(sql, takeRow, resolve, reject));
  }).finally(() => signal?.removeEventListener("abort", abort));
}

/** Creates a query, whose methods node-postgres calls. */
function createCopy(
  sql: string,
  takeRow: TakeRow,
  resolve: (rows: number) => void,
  reject: (reason: unknown) => void,
): Submittable & Record<string, unknown> {
  let stream: Connection["stream"] | undefined;
  let rows = 0;
  let hasFailed = false;
  const fail = (error: unknown) => {
    hasFailed = true;
    reject(error);
  };
  return {
    submit: (connection: Connection) => {
      stream = connection.stream;
      connection.query(sql);
    },
    handleCopyData: ({ chunk }: { chunk: Buffer }) => {
      if (hasFailed) return;
      try {
        // Rows that node-postgres has already read still arrive after the pause.
        const isReady = takeRow(chunk);
        if (isReady === undefined) return;
        stream?.pause();
        isReady.then(() => stream?.resume(), fail);
      } catch (error) {
        fail(error);
      }
    },
    handleCommandComplete: ({ text }: { text: string }) => {
      rows = Number(text.replace("COPY ", ""));
    },
    handleReadyForQuery: () => {
      if (!hasFailed) resolve(rows);
    },
    handleError: fail,
  };
}
