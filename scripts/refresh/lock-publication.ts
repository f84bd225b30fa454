import type { Client } from "pg";
import { describeHolder, tryLock, unlock } from "../sql/session.ts";

/** Another refresh is running. */
export class RefreshIsRunning extends Error {
  override name = "RefreshIsRunning";
}

const lock = "publication";

/**
 * Runs work that changes what is published, under one lock for all such work. The lock is released at the end, or when the
 * connection closes.
 *
 * @throws RefreshIsRunning that names the session that holds the lock, since when, and how to end it
 */
export async function lockPublication<Result>(client: Client, work: () => Promise<Result>): Promise<Result> {
  if (!(await tryLock(client, lock))) {
    throw new RefreshIsRunning(
      `A refresh, a rollback or the writing of bulk files is running: ${await describeHolder(client, lock)}. Try again when it has ended.`,
    );
  }
  try {
    return await work();
  } finally {
    await unlock(client, lock);
  }
}
