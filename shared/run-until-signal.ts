import { describeError } from "./describe-error.ts";

/** A running server that can be closed. */
interface Closable {
  close: () => Promise<void>;
}

/**
 * Runs a server until SIGINT or SIGTERM, then closes it and exits with status 0. If it does not start, prints one line
 * on standard error and sets exit status 1.
 */
export async function runUntilSignal(name: string, start: () => Promise<Closable>): Promise<void> {
  try {
    closeOnSignal(await start());
  } catch (error) {
    process.stderr.write(`${name}: ${describeError(error)}\n`);
    process.exitCode = 1;
  }
}

/** On SIGINT or SIGTERM, closes the server, then exits with status 0. */
export function closeOnSignal({ close }: Closable): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    // A second signal ends the process at once.
    process.once(signal, () => void close().then(() => process.exit(0)));
  }
}
