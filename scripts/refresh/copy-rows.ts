import { once } from "node:events";
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
  const done = new AbortController();
  try {
    return await new Promise<number>((resolve, reject) => {
      client.query(new RowCopy(sql, takeRow, resolve, reject));
      if (signal)
        once(signal, "abort", { signal: done.signal }).then(
          () => reject(signal.reason),
          () => {},
        );
    });
  } finally {
    done.abort();
  }
}

/** A query whose methods node-postgres calls. */
class RowCopy implements Submittable {
  readonly #sql: string;
  readonly #takeRow: TakeRow;
  readonly #resolve: (rows: number) => void;
  readonly #reject: (reason: unknown) => void;
  #stream: Connection["stream"] | undefined;
  #rows = 0;
  #hasFailed = false;

  constructor(
    sql: string,
    takeRow: TakeRow,
    resolve: (rows: number) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#sql = sql;
    this.#takeRow = takeRow;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  submit(connection: Connection): void {
    this.#stream = connection.stream;
    connection.query(this.#sql);
  }

  handleCopyData({ chunk }: { chunk: Buffer }): void {
    if (this.#hasFailed) return;
    try {
      // Rows that node-postgres has already read still arrive after the pause.
      const isReady = this.#takeRow(chunk);
      if (isReady === undefined) return;
      this.#stream?.pause();
      isReady.then(
        () => this.#stream?.resume(),
        (reason) => this.handleError(reason),
      );
    } catch (error) {
      this.handleError(error);
    }
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.#rows = Number(text.replace("COPY ", ""));
  }

  handleReadyForQuery(): void {
    if (!this.#hasFailed) this.#resolve(this.#rows);
  }

  handleError(error: unknown): void {
    this.#hasFailed = true;
    this.#reject(error);
  }
}
