import type { StorageConfig } from "./config.ts";
import { createLocalStore } from "./local-store.ts";
import type { Storage } from "./storage.ts";

/** Makes the storage that the configuration names. */
export async function createStorage(config: StorageConfig): Promise<Storage> {
  if (config.kind === "local") return createLocalStore(config);
  // The AWS SDK is large: only who needs it waits for it.
  const { createS3Store } = await import("./s3-store.ts");
  return createS3Store(config);
}
