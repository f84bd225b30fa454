import type { RunningServer } from "../report-service/listen.ts";

/**
 * Starts a server as this process's one job: ends it on SIGINT or SIGTERM, then exits 0. A failure to start is
 * one line on standard error and exit status 1.
 */
export async function runUntilSignal(name: string, start: () => Promise<RunningServer>): Promise<void> {
  try {
    const { close } = await start();
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      // A second signal ends the process at once.
      process.once(signal, () => void close().then(() => process.exit(0)));
    }
  } catch (error) {
    process.stderr.write(`${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
