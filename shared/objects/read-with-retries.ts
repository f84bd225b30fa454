import { Readable } from "node:stream";
import type { StorageLimits } from "./objects.ts";

interface Reading {
  /** A path, or s3://… */
  path: string;
  /** Opens the file at this byte. */
  openAt: (start: number) => Promise<Readable>;
  start?: number | undefined;
  limits: StorageLimits;
  signal?: AbortSignal | undefined;
}

/**
 * Reads a file, and opens it again where a try broke off or stalled. Counts only the time in which the reader waits: it
 * may take as long as it likes between two reads.
 *
 * @throws Error if the file cannot be opened. Later errors are the stream's
 */
export async function readWithRetries({
  path,
  openAt,
  start = 0,
  limits,
  signal,
}: Reading): Promise<Readable> {
  let source = await openAt(start);
  let chunks = source[Symbol.asyncIterator]();
  let [at, waited, tries] = [start, 0, 1];

  async function readNext(): Promise<Buffer | undefined> {
    for (;;) {
      const startedAt = performance.now();
      // A timer would ignore a fraction of a millisecond.
      const limit = Math.ceil(Math.min(limits.idle, limits.total - waited));
      try {
        const { done, value } = await within(limit, chunks.next(), signal);
        waited += performance.now() - startedAt;
        at += value?.length ?? 0;
        return done ? undefined : value;
      } catch (cause) {
        source.destroy();
        waited += performance.now() - startedAt;
        signal?.throwIfAborted();
        // A timer may fire a fraction of a millisecond early.
        const isOver = limits.total - waited < 1;
        if (tries === limits.tries || isOver || stream.destroyed)
          throw new Error(`${path} cannot be read to its end: ${describeReason(cause)}.`, { cause });
        tries += 1;
        source = await openAt(at);
        if (stream.destroyed) source.destroy();
        chunks = source[Symbol.asyncIterator]();
      }
    }
  }
  const stream = new Readable({
    highWaterMark: 1 << 18,
    read: () =>
      void readNext().then(
        (chunk) => stream.push(chunk ?? null),
        (error: Error) => stream.destroy(error),
      ),
    destroy: (error, done) => {
      source.destroy();
      done(error);
    },
  });
  return stream;
}

/**
 * Waits for a promise, but not longer than this.
 *
 * @throws Error after `milliseconds`; the signal's reason
 */
export async function within<Result>(
  milliseconds: number,
  promise: Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  let abort = () => {};
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`nothing came for ${describeTime(milliseconds)}`)),
      milliseconds,
    );
    abort = () => reject(signal?.reason);
    signal?.addEventListener("abort", abort);
    if (signal?.aborted) abort();
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

const describeTime = (milliseconds: number) => `${Math.round(milliseconds / 100) / 10} s`;

/** The operating system's or S3's code, or else the message, without a period at its end. */
export function describeReason(error: unknown): string {
  const { Code, code, message, name, cause } = error as Error & { code?: string; Code?: string };
  // The AWS SDK says only that a request was aborted.
  if (name === "AbortError" && cause !== undefined) return describeReason(cause);
  return (Code ?? code ?? (message || name)).replace(/^@smithy\S+ - (\[ERROR\] )?|\.$/g, "");
}
