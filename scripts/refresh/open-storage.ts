import { openDirectory } from "./directory-storage.ts";
import type { Storage } from "./storage.ts";

/** Opens a directory, or a URL such as s3://bucket/prefix. */
export async function openStorage(location: string): Promise<Storage> {
  // The AWS SDK is large, so it is loaded only if it is needed.
  if (location.startsWith("s3://")) return (await import("./s3-storage.ts")).openS3Storage(location);
  return openDirectory(location);
}
