import { readFile, rename, writeFile } from "node:fs/promises";
import type { Logger } from "pino";
import { type EntityKind, entityKinds, type Fields } from "../entity-defaults.ts";
import { createEntityStore, type EntityStore } from "./entity-store.ts";

/** What others refer to comes first. */
const order: readonly EntityKind[] = ["services", "routes", "consumers", "plugins", "key-auths"];
const shortestPauseMilliseconds = 100;
/** The pause between two writes, in times of how long the last one took. */
const pauseFactor = 20;

/** A store whose content outlives the process, as Kong's does in its database. */
export interface KeptStore {
  store: EntityStore;
  /** Writes what is not yet in the file. */
  close: () => Promise<void>;
}

/**
 * Opens a store that has what the file holds, and writes every change there a moment later. A file that cannot be used
 * counts as empty: the sync fills the store again.
 *
 * @param file readable by its owner alone
 */
export async function openEntityFile(file: string, logger: Logger): Promise<KeptStore> {
  const plain = await readEntities(file).catch((err: unknown) => {
    logger.warn({ err, file }, "what the gateway had is lost; the sync brings it again");
    return createEntityStore();
  });
  let pause = shortestPauseMilliseconds;
  let timer: NodeJS.Timeout | undefined;
  let written = Promise.resolve();

  async function write(): Promise<void> {
    const startedAt = performance.now();
    try {
      const entities = Object.fromEntries(entityKinds.map((kind) => [kind, plain.list(kind)]));
      await writeFile(`${file}.part`, JSON.stringify(entities), { mode: 0o600 });
      await rename(`${file}.part`, file);
    } catch (err) {
      logger.error({ err, file }, "what the gateway has could not be written down");
    }
    pause = Math.max(shortestPauseMilliseconds, pauseFactor * (performance.now() - startedAt));
  }
  function flush(): void {
    timer = undefined;
    written = written.then(write);
  }
  function note(): void {
    timer ??= setTimeout(flush, pause);
  }

  return {
    store: {
      ...plain,
      put: (kind, name, given) => {
        const fields = plain.put(kind, name, given);
        note();
        return fields;
      },
      remove: (kind, name) => {
        plain.remove(kind, name);
        note();
      },
    },
    close: async () => {
      if (timer !== undefined) {
        clearTimeout(timer);
        flush();
      }
      await written;
    },
  };
}

async function readEntities(file: string): Promise<EntityStore> {
  const store = createEntityStore();
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "{}";
    throw error;
  });
  const entities: Partial<Record<EntityKind, Fields[]>> = JSON.parse(text);
  for (const kind of order) {
    for (const fields of entities[kind] ?? []) store.put(kind, String(fields.id), fields);
  }
  return store;
}
