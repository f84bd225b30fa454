import { randomUUID } from "node:crypto";
import path from "node:path";
import type { Client } from "pg";
import type { Objects, StorageOptions } from "../../shared/objects/objects.ts";
import { openObjects } from "../../shared/objects/open-objects.ts";
import { parseJson } from "../../shared/parse-json.ts";
import { unlock } from "../sql/session.ts";
import { inTransaction } from "./in-transaction.ts";

/** A suppression, release, revocation or earlier expiry date (ledger.entries). */
interface Entry {
  kind: string;
  subject: string;
  takes_effect_at: string;
  recorded_at: string;
  recorded_by: string;
}

/** The first line of each object. */
interface Header {
  ledger: string;
  writer: string;
}

type LedgerObject = Header & { number: number; entries: Entry[] };

interface Claim {
  place: string | null;
  ledger_id: string | null;
  writer_id: string | null;
  last_object: number;
  is_this_server: boolean;
  is_compared: boolean;
  /** Whether another database has written to the ledger, so that this one may only read it. */
  is_lost: boolean;
}

/** Thrown if this database may not publish, or not answer requests, because of its ledger. */
export class LedgerRefused extends Error {
  override name = "LedgerRefused";
}

const suffix = ".jsonl";
const nameObject = (number: number) => `${String(number).padStart(12, "0")}${suffix}`;
const lock = "ledger";
const formatObject = (header: { ledger: string | null; writer: string | null }, lines = "") =>
  `${JSON.stringify(header)}\n${lines}`;
/** The most entries in an object, because objects are read and written as a whole. */
const entriesAtATime = 10_000;

const nextStep =
  "If this database replaces the original, run npm run refresh -- --continue-ledger. If it is a copy, run npm run refresh -- --new-ledger PLACE (docs/operations.md, The ledger).";

/**
 * Reads new entries from the ledger, writes waiting entries to it, and then lets the database answer requests. The client must have
 * the role publisher.
 *
 * @throws LedgerRefused if the database has no ledger, if it was restored or copied, or if another database writes to the ledger;
 * Error if the ledger cannot be read or written
 */
export async function compareWithLedger(client: Client, storage: StorageOptions = {}): Promise<void> {
  const { place } = await readClaim(client);
  if (place === null) {
    throw new LedgerRefused(
      "This database has no ledger. If it is new, run npm run refresh -- --new-ledger PLACE. If it replaces a lost database, run npm run refresh -- --continue-ledger PLACE (docs/operations.md, The ledger).",
    );
  }
  await withLedger(client, place, storage, async (store) => {
    const claim = await readClaim(client);
    if (!claim.is_this_server)
      throw new LedgerRefused(`This database was restored, or copied from another server. ${nextStep}`);
    await readNew(client, store, claim);
    while (!claim.is_lost && !(await write(client, store, claim))) await readNew(client, store, claim);
    if (!claim.is_compared) {
      await client.query(
        "update ledger.claim set server_started_at = pg_postmaster_start_time(), database_name = current_database()",
      );
    }
    if (claim.is_lost)
      throw new LedgerRefused(`Another database writes to the ledger in ${place}. ${nextStep}`);
  });
}

/**
 * Starts a ledger in an empty place, and writes all of this database's entries to it. If the database has a ledger already, reads
 * that ledger's new entries first.
 *
 * @returns whether data sets were withdrawn
 * @throws LedgerRefused if the place has a ledger, or if its storage overwrites existing objects; Error if the earlier ledger
 * cannot be read
 */
export async function beginLedger(
  client: Client,
  wanted: string,
  storage: StorageOptions = {},
): Promise<{ withdrawn: boolean }> {
  const place = resolvePlace(wanted);
  const { place: earlier } = await readClaim(client);
  let withdrawn = false;
  if (earlier !== null) {
    await withLedger(client, earlier, storage, async (store) => {
      withdrawn = await readNew(client, store, await readClaim(client));
    });
  }
  await withLedger(client, place, storage, async (store) => {
    if ((await countObjects(store)) > 0)
      throw new LedgerRefused(
        `There is already a ledger in ${place}. Name an empty place, or use --continue-ledger.`,
      );
    const header: Header = { ledger: randomUUID(), writer: randomUUID() };
    const text = formatObject(header);
    if (!(await store.create(nameObject(1), text)) || (await store.create(nameObject(1), text)))
      throw new LedgerRefused(
        `The storage of ${place} does not support conditional writes (If-None-Match). Name another place.`,
      );
    await inTransaction(client, async () => {
      await client.query("update ledger.entries set object_number = null where object_number is not null");
      await client.query(claimLedger, [place, header.ledger, header.writer, 1]);
    });
  });
  await compareWithLedger(client, storage);
  return { withdrawn };
}

/**
 * Reads the whole ledger, and makes this database the only one that writes to it. If the database shows a report that the ledger
 * suppresses, withdraws its data sets, so that requests get 503 until the next refresh.
 *
 * @param wanted the ledger's place; if absent, the database's current place
 * @returns whether data sets were withdrawn
 * @throws LedgerRefused if there is no ledger, if an object is missing, or if the ledger belongs to another database
 */
export async function continueLedger(
  client: Client,
  wanted: string | undefined,
  storage: StorageOptions = {},
): Promise<{ withdrawn: boolean }> {
  const place = wanted === undefined ? (await readClaim(client)).place : resolvePlace(wanted);
  if (place === null)
    throw new LedgerRefused(
      "This database does not know where its ledger is. Add the place: --continue-ledger PLACE.",
    );
  let withdrawn = false;
  await withLedger(client, place, storage, async (store) => {
    const claim = await readClaim(client);
    const count = await countObjects(store);
    const objects = await readObjects(store, 0);
    const [first] = objects;
    if (first === undefined && count === 0)
      throw new LedgerRefused(
        `There is no ledger in ${place}. Name its place, or start one with --new-ledger PLACE.`,
      );
    if (first === undefined || objects.length < Math.max(count, claim.last_object))
      throw new LedgerRefused(describeGap(place, objects.length + 1));
    if (claim.ledger_id !== null && claim.ledger_id !== first.ledger)
      throw new LedgerRefused(`The ledger in ${place} belongs to another database.`);
    withdrawn = await apply(client, objects.slice(claim.last_object));
    const header: Header = { ledger: first.ledger, writer: randomUUID() };
    if (!(await store.create(nameObject(objects.length + 1), formatObject(header))))
      throw new LedgerRefused(
        `Another database wrote to the ledger in ${place} at the same time. Stop its refresher, and try again.`,
      );
    await client.query(claimLedger, [place, header.ledger, header.writer, objects.length + 1]);
  });
  await compareWithLedger(client, storage);
  return { withdrawn };
}

const resolvePlace = (place: string) => (place.startsWith("s3://") ? place : path.resolve(place));

const describeGap = (place: string, number: number) =>
  `The ledger in ${place} lacks the object ${nameObject(number)}. Restore it.`;

/** Opens the ledger's storage and runs work with it. A lock keeps other sessions out. */
async function withLedger(
  client: Client,
  place: string,
  storage: StorageOptions,
  work: (store: Objects) => Promise<void>,
): Promise<void> {
  const { ledgerCredentials = storage.credentials } = storage;
  const store = await openObjects(place, { ...storage, credentials: ledgerCredentials });
  await client.query("select pg_advisory_lock(hashtext($1))", [lock]);
  try {
    await work(store);
  } finally {
    await unlock(client, lock);
    store.close();
  }
}

const claimLedger = `
  update ledger.claim set
    place = $1, ledger_id = $2, writer_id = $3, last_object = $4, lost_at = null, server = ledger.describe_server(),
    server_name = nullif(current_setting('single_audit.server_name', true), '')`;

async function readClaim(client: Client): Promise<Claim> {
  const { rows } = await client.query(
    `select place, ledger_id, writer_id, last_object::float8, server = ledger.describe_server() as is_this_server,
       (server_started_at, database_name) is not distinct from (pg_postmaster_start_time(), current_database()) as is_compared,
       lost_at is not null as is_lost
     from ledger.claim`,
  );
  return rows[0];
}

const countObjects = async (store: Objects) => (await store.listFiles(/\.jsonl$/)).length;

/** Reads the objects after the last one that is known, up to the first number that has none. */
async function readObjects(store: Objects, last: number): Promise<LedgerObject[]> {
  const objects: LedgerObject[] = [];
  for (let number = last + 1; ; number += 1) {
    const text = await store.readText(nameObject(number));
    if (text === undefined) return objects;
    const [header, ...entries] = text
      .trimEnd()
      .split("\n")
      .map((line) => parseJson(nameObject(number), line));
    objects.push({ ...(header as Header), number, entries: entries as Entry[] });
  }
}

/**
 * Reads new objects from the ledger and applies their entries.
 *
 * @returns whether data sets were withdrawn
 * @throws LedgerRefused if the last object that the database knows is missing, or if the ledger belongs to another database
 */
async function readNew(client: Client, store: Objects, claim: Claim): Promise<boolean> {
  const place = claim.place ?? "";
  if (!(await store.has(nameObject(claim.last_object))))
    throw new LedgerRefused(describeGap(place, claim.last_object));
  const objects = await readObjects(store, claim.last_object);
  if (objects.some(({ ledger }) => ledger !== claim.ledger_id))
    throw new LedgerRefused(`The ledger in ${place} belongs to another database.`);
  const withdrawn = await apply(client, objects);
  claim.last_object += objects.length;
  if (!claim.is_lost && objects.some(({ writer }) => writer !== claim.writer_id)) {
    await client.query("update ledger.claim set lost_at = now()");
    claim.is_lost = true;
  }
  return withdrawn;
}

/** @returns whether the data sets were withdrawn, because the live one shows a report that the ledger suppresses */
async function apply(client: Client, objects: LedgerObject[]): Promise<boolean> {
  if (objects.length === 0) return false;
  return await inTransaction(client, async () => {
    await client.query("select ledger.apply($1)", [JSON.stringify(objects)]);
    const { rows } = await client.query<{ shows: boolean }>(showsSuppressed);
    if (rows[0]?.shows !== true) return false;
    await client.query("select publication.withdraw_data_sets()");
    return true;
  });
}

const showsSuppressed = `
  select exists (
    select from publication.suppressed_reports
    where report_id in (
      select report_id from disclosed.general
      union select unnest(array[report_id, previous_report_id, next_report_id]) from disclosed.resubmission
    )
  ) as shows`;

/**
 * Writes the waiting entries as new objects.
 *
 * @returns whether all are written; false if another database wrote an object first
 */
async function write(client: Client, store: Objects, claim: Claim): Promise<boolean> {
  for (;;) {
    const { rows } = await client.query<{ ids: string[] | null; lines: string }>(
      `select array_agg(id) as ids, string_agg(line, '' order by id) as lines from (
         select id, json_build_object(
           'kind', kind, 'subject', subject, 'takes_effect_at', takes_effect_at, 'recorded_at', recorded_at, 'recorded_by', recorded_by
         ) || e'\n' as line
         from ledger.entries where object_number is null order by id limit $1
       ) as waiting`,
      [entriesAtATime],
    );
    const [{ ids, lines } = { ids: null, lines: "" }] = rows;
    if (ids === null) return true;
    const number = claim.last_object + 1;
    const header = { ledger: claim.ledger_id, writer: claim.writer_id };
    if (!(await store.create(nameObject(number), formatObject(header, lines)))) return false;
    await inTransaction(client, async () => {
      await client.query("update ledger.entries set object_number = $1 where id = any ($2)", [number, ids]);
      await client.query("update ledger.claim set last_object = $1", [number]);
    });
    claim.last_object = number;
  }
}
