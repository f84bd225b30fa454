import { Client, type ClientConfig } from "pg";
import type { Logger } from "pino";
import { readActiveKeys } from "./read-active-keys.ts";
import { recordKeyUse } from "./record-key-use.ts";
import type { ActiveKey } from "./render-document.ts";

export interface FollowKeysOptions {
  /** The database, as the role gateway_sync. */
  database: ClientConfig;
  logger: Logger;
  /** Gets the keys that are active now, and when their change was heard of (as Date.now() has it). */
  onKeys: (keys: ActiveKey[], changedAt: number) => void;
  /** The keys could not be read, or `onKeys` threw. It will be tried again. */
  onFailure: (error: Error) => void;
}

export interface KeyFollower {
  isConnected: () => boolean;
  close: () => Promise<void>;
}

/** A change is mostly followed by others; they are read together. */
const gatherMilliseconds = 50;
const repeatMilliseconds = 60_000;
const shortestRetryMilliseconds = 200;
const longestRetryMilliseconds = 5_000;
const answerMilliseconds = 20_000;
/** After the moment of an expiry, so that the key has expired for certain. */
const expiryMarginMilliseconds = 20;

/**
 * Reads the active keys at once, after each change of keys, tiers or agreements, when a key expires, and every
 * minute. Survives the loss of the database: it connects again, and reads then what it has missed.
 */
export function followKeys({ database, logger, onKeys, onFailure }: FollowKeysOptions): KeyFollower {
  let client: Client | undefined;
  let changedAt: number | undefined;
  let failures = 0;
  let closed = false;
  const uses = recordKeyUse({ getClient: () => client, logger });
  const { runAt: readAt, stop } = createAlarm(read);

  async function read(): Promise<void> {
    if (closed) return;
    const heardAt = changedAt ?? Date.now();
    changedAt = undefined;
    try {
      client ??= await connect();
      const keys = await readActiveKeys(client);
      const untilExpiry = (await readNextExpiry(client)) ?? repeatMilliseconds;
      failures = 0;
      readAt(Date.now() + Math.min(repeatMilliseconds, Math.max(untilExpiry, 0) + expiryMarginMilliseconds));
      onKeys(keys, heardAt);
    } catch (error) {
      changedAt ??= heardAt;
      lose(client);
      failures += 1;
      readAt(Date.now() + Math.min(longestRetryMilliseconds, shortestRetryMilliseconds * 2 ** failures));
      if (!closed) onFailure(error as Error);
    }
  }

  async function connect(): Promise<Client> {
    const connecting = createListener(database);
    connecting.on("error", (error) => {
      if (client !== connecting) return;
      logger.warn({ err: error }, "the connection to the database was lost");
      lose(connecting);
      readAt(Date.now());
    });
    connecting.on("notification", ({ channel, payload = "" }) => {
      if (channel === "api_key_used") return uses.add(payload);
      changedAt ??= Date.now();
      readAt(Date.now() + gatherMilliseconds);
    });
    await startListening(connecting);
    return connecting;
  }

  function lose(lost: Client | undefined): void {
    if (lost === undefined) return;
    if (client === lost) client = undefined;
    void lost.end().catch(() => {});
  }

  readAt(Date.now());
  return {
    isConnected: () => client !== undefined,
    close: async () => {
      closed = true;
      await stop();
      await uses.close();
      await client?.end().catch(() => {});
      client = undefined;
    },
  };
}

/** Runs `work` at the earliest of the moments that it is told, one run at a time. */
function createAlarm(work: () => Promise<void>): {
  runAt: (moment: number) => void;
  stop: () => Promise<void>;
} {
  let timer: NodeJS.Timeout | undefined;
  let next = Number.POSITIVE_INFINITY;
  let running = Promise.resolve();
  let stopped = false;
  return {
    runAt: (moment) => {
      if (stopped || moment >= next) return;
      next = moment;
      clearTimeout(timer);
      timer = setTimeout(() => {
        next = Number.POSITIVE_INFINITY;
        // What is asked for meanwhile runs afterwards.
        running = running.then(work);
      }, moment - Date.now());
    },
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}

function createListener(database: ClientConfig): Client {
  return new Client({
    ...database,
    application_name: "gateway-sync",
    connectionTimeoutMillis: 5_000,
    query_timeout: answerMilliseconds,
    // A server that has gone silent is noticed here, even when nobody asks it anything.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  });
}

/** Connects and listens. Listening comes before reading, so that no change falls between the two. */
async function startListening(client: Client): Promise<void> {
  await client.connect();
  try {
    await client.query("listen access_changed");
    await client.query("listen api_key_used");
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
}

/** Milliseconds until the next key expires; undefined if none will. */
async function readNextExpiry(client: Client): Promise<number | undefined> {
  const { rows } = await client.query<{ milliseconds: number | null }>(
    `select (extract(epoch from min(expires_at) - clock_timestamp()) * 1000)::float8 as milliseconds
     from access.active_keys`,
  );
  return rows[0]?.milliseconds ?? undefined;
}
