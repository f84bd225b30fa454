import type { Client, Connection, Submittable } from "pg";

/** Takes a row with its line break. The row's bytes are overwritten later. If it returns a promise, the next rows wait for it. */
type TakeRow = (row: Buffer) => Promise<unknown> | undefined;

/**
 * Runs a `COPY … TO STDOUT` and hands over its rows one by one, the header first: PostgreSQL sends each as one message. If a row
 * is not taken, the connection is closed, because the other rows would still arrive.
 *
 * @returns the number of rows, without the header
 */
export async function copyRows(client: Client, sql: string, takeRow: TakeRow): Promise<number> {
  return await new Promise<number>((resolve, reject) => {
    let stream: Connection["stream"];
    let rows = 0;
    const breakOff = (error: Error) => void stream.destroy(error);
    // A query, whose methods node-postgres calls.
    const copy: Submittable & Record<string, unknown> = {
      submit: (connection: Connection) => {
        stream = connection.stream;
        connection.query(sql);
      },
      handleCopyData: ({ chunk }: { chunk: Buffer }) => {
        // Rows that node-postgres has already read still arrive after the pause, and after the end.
        if (stream.destroyed) return;
        try {
          const isReady = takeRow(chunk);
          if (isReady === undefined) return;
          stream.pause();
          isReady.then(() => stream.resume(), breakOff);
        } catch (error) {
          breakOff(error as Error);
        }
      },
      handleCommandComplete: ({ text }: { text: string }) => {
        rows = Number(text.replace("COPY ", ""));
      },
      handleReadyForQuery: () => resolve(rows),
      handleError: reject,
    };
    client.query(copy);
  });
}
