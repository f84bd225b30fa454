import { Client, type ClientBase, type ClientConfig } from "pg";

/** The limits of a tier. Keys of the same tier share one object. */
export interface TierLimits {
  tier: string;
  requests_per_hour: number | null;
  requests_per_day: number | null;
  limited_by: "address" | "key";
}

/** A key that opens the service now: a row of `access.active_keys`. */
export interface ActiveKey {
  /** A UUID, in lower case. */
  id: string;
  /** Hexadecimal. */
  key_sha256: string;
  limits: TierLimits;
  /** As Date.now() has it; infinite for a key that does not expire. */
  expiresAt: number;
}

/** A key that is new, changed or gone. */
export interface KeyChange {
  id: string;
  isNew: boolean;
}

/** Every active key as it was last read, by ID. */
export interface ActiveKeys {
  all: ReadonlyMap<string, ActiveKey>;
  /** The limits of the tier `individual`, which most keys have; undefined while no key is of it. */
  sharedLimits: () => TierLimits | undefined;
  /** Reads all keys. */
  readAll: (client: ClientBase) => Promise<KeyChange[]>;
  /** Reads these keys alone. */
  readSome: (client: ClientBase, ids: string[]) => Promise<KeyChange[]>;
}

interface Row extends TierLimits {
  id: string;
  key_sha256: string;
  expires_at: Date | null;
}

const columns = "id, tier, key_sha256, requests_per_hour, requests_per_day, limited_by, expires_at";
const sharedTier = "individual";
/** Rows read at once: with a hundred thousand keys the rows would take more memory than the keys. */
const batchLength = 5_000;

export function createActiveKeys(): ActiveKeys {
  const all = new Map<string, ActiveKey>();
  const limits = new Map<string, TierLimits>();

  function take({ id, key_sha256, expires_at, ...row }: Row): KeyChange[] {
    const name = JSON.stringify(row);
    const shared = limits.get(name) ?? row;
    limits.set(name, shared);
    const expiresAt = expires_at?.getTime() ?? Number.POSITIVE_INFINITY;
    const known = all.get(id);
    if (known === undefined) {
      all.set(id, { id, key_sha256, limits: shared, expiresAt });
      return [{ id, isNew: true }];
    }
    const isChanged = known.key_sha256 !== key_sha256 || known.limits !== shared;
    Object.assign(known, { key_sha256, limits: shared, expiresAt });
    return isChanged ? [{ id, isNew: false }] : [];
  }

  function forget(gone: Set<string>): KeyChange[] {
    return [...gone].filter((id) => all.delete(id)).map((id) => ({ id, isNew: false }));
  }

  async function readAll(client: ClientBase): Promise<KeyChange[]> {
    const changed: KeyChange[] = [];
    const gone = new Set(all.keys());
    for (let after = "00000000-0000-0000-0000-000000000000"; ; ) {
      const { rows } = await client.query<Row>(
        `select ${columns} from access.active_keys where id > $1 order by id limit ${batchLength}`,
        [after],
      );
      for (const row of rows) {
        gone.delete(row.id);
        changed.push(...take(row));
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < batchLength) break;
      after = last.id;
    }
    return [...changed, ...forget(gone)];
  }

  async function readSome(client: ClientBase, ids: string[]): Promise<KeyChange[]> {
    const { rows } = await client.query<Row>(
      `select ${columns} from access.active_keys where id = any($1::uuid[])`,
      [ids],
    );
    const gone = new Set(ids);
    const changed: KeyChange[] = [];
    for (const row of rows) {
      gone.delete(row.id);
      changed.push(...take(row));
    }
    return [...changed, ...forget(gone)];
  }

  return {
    all,
    readAll,
    readSome,
    sharedLimits: () => {
      for (const { limits } of all.values()) if (limits.tier === sharedTier) return limits;
      return undefined;
    },
  };
}

/** Reads the active keys once, as the role gateway_sync. */
export async function readActiveKeysOnce(database: ClientConfig): Promise<ActiveKeys> {
  const client = new Client({
    ...database,
    connectionTimeoutMillis: 5_000,
    application_name: "gateway-render",
  });
  await client.connect();
  try {
    const keys = createActiveKeys();
    await keys.readAll(client);
    return keys;
  } finally {
    await client.end();
  }
}
