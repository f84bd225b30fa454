import { access } from "node:fs/promises";
import type { Logger } from "pino";

const deadlineMilliseconds = 3_000;

/** Whether the places of source and bulk files, directories or s3:// addresses, can be reached. */
export async function checkStorage(
  places: readonly (string | undefined)[],
  logger: Logger,
): Promise<"ok" | "unavailable"> {
  try {
    await Promise.all(places.map((place) => place && reach(place)));
    return "ok";
  } catch (err) {
    logger.warn({ err }, "not ready: storage");
    return "unavailable";
  }
}

async function reach(place: string): Promise<void> {
  if (!place.startsWith("s3://")) return await access(place);
  // The AWS SDK is large: only who needs it waits for it.
  const { checkBucket } = await import("./s3-files.ts");
  await checkBucket(place, AbortSignal.timeout(deadlineMilliseconds));
}
