import type { StorageConfig } from "./config.ts";
import { createLocalStore } from "./local-store.ts";
import { createS3Store } from "./s3-store.ts";
import type { Storage } from "./storage.ts";

/** Makes the storage that the configuration names. */
export function createStorage(config: StorageConfig): Storage {
  return config.kind === "local" ? createLocalStore(config) : createS3Store(config);
}
