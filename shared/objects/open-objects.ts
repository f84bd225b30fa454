import { openDirectory } from "./directory.ts";
import type { Objects, StorageLimits, StorageOptions } from "./objects.ts";

/** For programs that can wait. */
const patient: StorageLimits = { connect: 10_000, answer: 60_000, idle: 60_000, total: 600_000, tries: 3 };

/** Opens a directory, or a URL such as s3://bucket/prefix. */
export async function openObjects(location: string, options: StorageOptions = {}): Promise<Objects> {
  if (!location.startsWith("s3://")) return openDirectory(location);
  // The AWS SDK is large, so it is loaded only if it is needed.
  const { openBucket } = await import("./bucket.ts");
  return openBucket(location, { ...options, limits: options.limits ?? patient });
}
