import { describeError } from "./describe-error.ts";

/** What is let go of at the end. */
export interface Closable {
  close: () => Promise<void>;
}

/**
 * Starts a server as this process's one job: ends it on SIGINT or SIGTERM, then exits 0. A failure to start is
 * one line on standard error and exit status 1.
 */
export async function runUntilSignal(name: string, start: () => Promise<Closable>): Promise<void> {
  try {
    closeOnSignal(await start());
  } catch (error) {
    process.stderr.write(`${name}: ${describeError(error)}\n`);
    process.exitCode = 1;
  }
}

/** Ends this process on SIGINT or SIGTERM, with exit status 0, once all is let go of. */
export function closeOnSignal({ close }: Closable): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    // A second signal ends the process at once.
    process.once(signal, () => void close().then(() => process.exit(0)));
  }
}
