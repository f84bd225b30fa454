import type { Client } from "pg";
import type { Logger } from "pino";

const gatherMilliseconds = 1_000;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Gathers the IDs of keys that the database says were used, and has it write them down once a second. What is
 * lost with a connection is said again by the key's next request, since it has not been written down.
 */
export function recordKeyUse({
  getClient,
  logger,
}: {
  getClient: () => Client | undefined;
  logger: Logger;
}): { add: (keyId: string) => void; close: () => Promise<void> } {
  const used = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  async function write(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const ids = [...used];
    used.clear();
    if (ids.length === 0) return;
    try {
      await getClient()?.query("select access.record_key_use($1::uuid[])", [ids]);
    } catch (error) {
      logger.warn({ err: error, keys: ids.length }, "the use of keys could not be recorded");
    }
  }

  return {
    add: (keyId) => {
      if (!uuid.test(keyId)) return;
      used.add(keyId);
      timer ??= setTimeout(write, gatherMilliseconds);
    },
    close: write,
  };
}
