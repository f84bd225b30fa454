import type { StorageLimits } from "../objects/objects.ts";
import { within } from "../objects/read-with-retries.ts";

/** Storage failed, or did not answer in time. `cause` has the reason. */
export class StorageUnavailable extends Error {
  override name = "StorageUnavailable";
}

const deadlineMilliseconds = 3000;
/** Both tries of a request fit into the deadline. */
export const hastyLimits: StorageLimits = {
  connect: 1000,
  answer: 1300,
  idle: 60_000,
  total: 600_000,
  tries: 2,
};

/**
 * Runs a call to storage, for at most 3 seconds.
 *
 * @throws StorageUnavailable in place of any error
 */
export async function callStorage<Result>(
  subject: string,
  call: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const signal = AbortSignal.timeout(deadlineMilliseconds);
  try {
    // Some waits, such as the AWS SDK's search for credentials, ignore the signal.
    return await within(deadlineMilliseconds, call(signal));
  } catch (cause) {
    throw new StorageUnavailable(`Storage failed or timed out (${subject}).`, { cause });
  }
}
