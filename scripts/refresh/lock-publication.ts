import type { Client } from "pg";
import { describeHolder, tryLock, unlock } from "../sql/session.ts";

/** Another refresh is running. */
export class RefreshIsRunning extends Error {
  override name = "RefreshIsRunning";
}

const lock = "publication";

/**
 * Takes the one lock of everything that changes what is published, until the function it returns is called or the
 * connection ends.
 *
 * @throws RefreshIsRunning that says who has it, since when, and how to end that
 */
export async function lockPublication(client: Client): Promise<() => Promise<void>> {
  if (!(await tryLock(client, lock))) {
    throw new RefreshIsRunning(
      `Another data set is being loaded now, by ${await describeHolder(client, lock)}. Try again when it is done.`,
    );
  }
  return () => unlock(client, lock);
}
