import { createHash } from "node:crypto";
import type { Ask } from "./with-access.ts";

/** A row of access.key_overview. Times are ISO 8601 in UTC, `last_used_on` is a day. */
export interface Key {
  id: string;
  key_prefix: string;
  tier: string;
  owner_email: string;
  label: string;
  status: "active" | "expired" | "revoked" | "agreement revoked";
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  last_used_on: string | null;
  agreement_id: string | null;
  organisation: string | null;
  replaces_id: string | null;
}

export const keyStatuses = ["active", "expired", "revoked", "agreement revoked"] as const;

/** A key together with what is shown of it only once. */
export type NewKey = Key & { key: string };

/** A row of access.events. */
export interface Event {
  at: string;
  database_role: string;
  operator: string | null;
  action: "insert" | "update" | "delete";
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
}

export interface KeyRequest {
  tier: string;
  owner: string;
  label: string;
  /** ISO 8601; the tier's default without. */
  expires?: string | undefined;
  /** ID of the agreement, or the beginning of it. */
  agreement?: string | undefined;
}

/** Makes a key. */
export async function issueKey(ask: Ask, request: KeyRequest): Promise<NewKey> {
  return await readNewKey(
    ask,
    `select to_jsonb(issued)
     from access.issue_key($1, $2, $3, $4, case when $5::text is not null then access.resolve_agreement($5) end) as issued`,
    [request.tier, request.owner, request.label, request.expires ?? null, request.agreement ?? null],
  );
}

/** Makes a key that replaces another, which works on for the overlap (a PostgreSQL interval). */
export async function rotateKey(
  ask: Ask,
  reference: string,
  { overlap, expires }: { overlap: string; expires?: string | undefined },
): Promise<NewKey & { replaces: Key }> {
  const key = await readNewKey(
    ask,
    "select to_jsonb(rotated) from access.rotate_key(access.resolve_key($1), $2, $3) as rotated",
    [reference, overlap, expires ?? null],
  );
  return { ...key, replaces: await findKey(ask, reference) };
}

/** Revokes a key, from the next request. */
export async function revokeKey(ask: Ask, reference: string): Promise<Key> {
  await ask("select access.revoke_key(access.resolve_key($1))", [reference]);
  return await findKey(ask, reference);
}

/** Finds a key by its ID or by the beginning of the key or of its ID. */
export async function findKey(ask: Ask, reference: string): Promise<Key> {
  const keys = await ask<Key>(
    "select to_jsonb(key) from access.key_overview as key where id = access.resolve_key($1)",
    [reference],
  );
  return theOnly(keys);
}

/** All keys that match, the newest first. */
export async function listKeys(
  ask: Ask,
  { tier, status, owner }: { tier?: string; status?: string; owner?: string },
): Promise<Key[]> {
  return await ask<Key>(
    `select to_jsonb(key) from access.key_overview as key
     where ($1::text is null or tier = $1) and ($2::text is null or status = $2)
       and ($3::text is null or lower(owner_email) = lower($3))
     order by created_at desc, id`,
    [tier ?? null, status ?? null, owner ?? null],
  );
}

/** What was done to a key, the oldest first. */
export async function readHistory(ask: Ask, key: Key): Promise<Event[]> {
  return await ask<Event>(
    `select to_jsonb(event) - array['id', 'subject', 'subject_id'] from access.events as event
     where subject = 'api_keys' and subject_id = $1 order by id`,
    [key.id],
  );
}

/** What a key is, or undefined if it is unknown. Only its hash leaves this process. */
export async function verifyKey(ask: Ask, key: string): Promise<Key | undefined> {
  const hash = createHash("sha256").update(key).digest();
  const [found] = await ask<Key>("select to_jsonb(key) from access.verify_key($1) as key", [hash]);
  return found;
}

async function readNewKey(ask: Ask, sql: string, values: unknown[]): Promise<NewKey> {
  const { api_key, api_key_id } = theOnly(await ask<{ api_key: string; api_key_id: string }>(sql, values));
  return { ...(await findKey(ask, api_key_id)), key: api_key };
}

function theOnly<Value>([value]: Value[]): Value {
  if (value === undefined) throw new Error("The database has answered without a row.");
  return value;
}
