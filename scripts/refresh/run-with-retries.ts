import { setTimeout as sleep } from "node:timers/promises";
import { RefreshIsRunning } from "./lock-publication.ts";
import type { Refreshed } from "./refresh-data-set.ts";

/** Minutes to wait before each further attempt of a refresh that failed. */
export const retryMinutes = [1, 5, 15, 60];

export interface RetryOptions {
  refresh: () => Promise<Refreshed>;
  /** Is told of each attempt. */
  note: (outcome: "published" | "skipped" | "busy" | "failed", error?: unknown) => void;
  signal: AbortSignal;
  /** Milliseconds of a minute: tests have short ones. */
  minute?: number;
}

/**
 * Runs a scheduled refresh. One that fails is tried again, later each time; where another refresh is running, this one
 * is left out.
 */
export async function runWithRetries({
  refresh,
  note,
  signal,
  minute = 60_000,
}: RetryOptions): Promise<void> {
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    try {
      note((await refresh()).outcome);
      return;
    } catch (error) {
      if (error instanceof RefreshIsRunning) return note("busy", error);
      note("failed", error);
      const wait = retryMinutes[attempt];
      if (wait === undefined) return;
      await sleep(wait * minute, undefined, { signal }).catch(() => {});
    }
  }
}
