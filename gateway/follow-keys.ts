import { Client, type ClientConfig } from "pg";
import type { Logger } from "pino";
import type { ActiveKeys, KeyChange } from "./active-keys.ts";
import { recordKeyUse } from "./record-key-use.ts";

export interface FollowKeysOptions {
  /** The database, as the role gateway_sync. */
  database: ClientConfig;
  /** What is read goes here. */
  keys: ActiveKeys;
  logger: Logger;
  /** These keys are new, changed or gone, and when that was heard of (as Date.now() has it). All of them at first. */
  onKeys: (changes: KeyChange[], changedAt: number) => void;
  /** The keys could not be read, or `onKeys` threw. It will be tried again. */
  onFailure: (error: Error) => void;
}

export interface KeyFollower {
  isConnected: () => boolean;
  close: () => Promise<void>;
}

/** A change is mostly followed by others; they are read together. */
const gatherMilliseconds = 50;
/** Should a notification be lost. */
const repeatMilliseconds = 5 * 60_000;
const shortestRetryMilliseconds = 200;
const longestRetryMilliseconds = 5_000;
const answerMilliseconds = 20_000;
/** After the moment of an expiry, so that the key has expired for certain; and between looks at a slower clock. */
const expiryMarginMilliseconds = 50;
const uuids = /^[0-9a-f-]{36}(,[0-9a-f-]{36})*$/;

/**
 * Reads the active keys at once, after each change of tiers or agreements and every five minutes; of keys that change or
 * expire it reads these alone. Survives the loss of the database: it connects again, and reads all of them then.
 */
export function followKeys({ database, keys, logger, onKeys, onFailure }: FollowKeysOptions): KeyFollower {
  let client: Client | undefined;
  let changedAt: number | undefined;
  /** The keys to read next; undefined for all. */
  let changed: Set<string> | undefined;
  let readAllAt = 0;
  let failures = 0;
  let closed = false;
  const uses = recordKeyUse({ getClient: () => client, logger });
  const { runAt: readAt, stop } = createAlarm(read);

  async function read(): Promise<void> {
    if (closed) return;
    const heardAt = changedAt ?? Date.now();
    const known = client === undefined || Date.now() >= readAllAt ? undefined : changed;
    changedAt = undefined;
    changed = new Set();
    try {
      client ??= await connect();
      if (known === undefined) readAllAt = Date.now() + repeatMilliseconds;
      const changes = await readKeys(keys, client, known);
      failures = 0;
      readAt(Math.min(readAllAt, Math.max(findNextExpiry(keys), Date.now()) + expiryMarginMilliseconds));
      onKeys(changes, heardAt);
    } catch (error) {
      changedAt ??= heardAt;
      changed = undefined;
      void lose(client);
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
      void lose(connecting);
      readAt(Date.now());
    });
    connecting.on("notification", ({ channel, payload = "" }) => {
      if (channel === "api_key_used") return uses.add(payload);
      changedAt ??= Date.now();
      // Without IDs, anything may have changed: a tier, an agreement, many keys at once.
      if (uuids.test(payload)) for (const id of payload.split(",")) changed?.add(id);
      else changed = undefined;
      readAt(Date.now() + gatherMilliseconds);
    });
    await startListening(connecting);
    return connecting;
  }

  async function lose(lost: Client | undefined): Promise<void> {
    if (client === lost) client = undefined;
    await lost?.end().catch(() => {});
  }

  readAt(Date.now());
  return {
    isConnected: () => client !== undefined,
    close: async () => {
      closed = true;
      await stop();
      await uses.close();
      await lose(client);
    },
  };
}

/** Reads the known keys again, and those that have expired; or all. */
async function readKeys(keys: ActiveKeys, client: Client, known: Set<string> | undefined) {
  if (known === undefined) return await keys.readAll(client);
  for (const { id, expiresAt } of keys.all.values()) if (expiresAt <= Date.now()) known.add(id);
  return await keys.readSome(client, [...known]);
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

/** When the next key expires, as Date.now() has it. */
function findNextExpiry({ all }: ActiveKeys): number {
  let next = Number.POSITIVE_INFINITY;
  for (const { expiresAt } of all.values()) next = Math.min(next, expiresAt);
  return next;
}
