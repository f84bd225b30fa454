import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyBaseLogger } from "fastify";
import { Client, type ClientConfig } from "pg";

const gatherMilliseconds = 1000;
/** An idle connection can break unnoticed, so it is used at least this often. */
const longestSilenceMilliseconds = 30_000;
const shortestRetryMilliseconds = 250;
const longestRetryMilliseconds = 30_000;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Listens for notifications that a key was used (db/api/request/decide.sql), and has the database record them once a
 * second, until closed. Reconnects if the connection breaks; a key's next request repeats a lost notification.
 *
 * @param database connects as the role report_service, and not through a connection pooler
 */
export function recordKeyUse(database: ClientConfig, logger: FastifyBaseLogger) {
  const closing = new AbortController();
  const keepListening = async () => {
    for (let failures = 0; !closing.signal.aborted; failures += 1) {
      try {
        await listenOnce(database, closing.signal, () => {
          if (failures > 0) logger.info("recording key use again");
          failures = 0;
        });
      } catch (err) {
        if (failures === 0) logger.warn({ err }, "cannot record key use, will keep trying to reconnect");
        const retryMilliseconds = shortestRetryMilliseconds * 2 ** failures;
        await pause(Math.min(longestRetryMilliseconds, retryMilliseconds), closing.signal);
      }
    }
  };
  const running = keepListening();
  return {
    close: () => {
      closing.abort();
      return running;
    },
  };
}

/** Listens on one connection until it breaks or the signal aborts. */
async function listenOnce(database: ClientConfig, signal: AbortSignal, onListening: () => void) {
  const client = new Client({
    ...database,
    application_name: "report-service (use of keys)",
    connectionTimeoutMillis: 5000,
    statement_timeout: 5000,
    query_timeout: 6000,
  });
  const used = new Set<string>();
  let lost: Error | undefined;
  let recordedAt = 0;
  const record = async () => {
    const ids = [...used];
    used.clear();
    await client.query("select access.record_key_use($1)", [ids]);
    recordedAt = performance.now();
  };
  client.on("error", (error) => {
    lost = error;
  });
  client.on("notification", ({ payload = "" }) => {
    if (uuid.test(payload)) used.add(payload);
  });
  try {
    await client.connect();
    await client.query("listen api_key_used");
    await record();
    onListening();
    while (!signal.aborted) {
      await pause(gatherMilliseconds, signal);
      if (lost !== undefined) throw lost;
      if (used.size > 0 || performance.now() - recordedAt > longestSilenceMilliseconds) await record();
    }
  } finally {
    // Does not wait, because the server may no longer answer.
    void client.end().catch(() => {});
  }
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => {});
}
