import { randomUUID } from "node:crypto";
import path from "node:path";
import type { Client, DatabaseError } from "pg";
import { z } from "zod";
import type { Objects, StorageOptions } from "../../shared/objects/objects.ts";
import { openObjects } from "../../shared/objects/open-objects.ts";
import { unlock } from "../sql/session.ts";
import { inTransaction } from "./in-transaction.ts";
import { showsSuppressed } from "./suppression.ts";

/** The first line of each object. */
const headerLine = z.object({ ledger: z.string(), writer: z.string(), entries: z.number() });
/** The other lines. PostgreSQL checks their values. */
const entryLine = z.record(z.string(), z.unknown());

interface LedgerObject {
  number: number;
  ledger: string;
  writer: string;
  entries: z.infer<typeof entryLine>[];
}

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
/** The number of entries tells a reader whether the object is complete. */
const formatObject = (ledger: string | null, writer: string | null, lines = "", entries = 0) =>
  `${JSON.stringify({ ledger, writer, entries })}\n${lines}`;
/** An object is read and written as a whole. */
const entriesAtATime = 10_000;

const nextStep =
  "If this database replaces the original, run npm run refresh -- --continue-ledger. If it is a copy, run npm run refresh -- --new-ledger PLACE (docs/operations.md, The ledger).";

export const withdrawnMessage =
  "The data set showed reports that were suppressed later, so it was withdrawn: requests get 503 until the next refresh.";

/**
 * Reads new entries from the ledger, lets the database answer requests, and writes waiting entries to the ledger. The client must
 * have the role publisher.
 *
 * @param options.isThorough also checks that no older object is missing
 * @throws LedgerRefused if the database has no ledger, if an object is missing or damaged, if it was restored or copied, or if another database writes to the ledger;
 * Error if the ledger cannot be read or written
 */
export async function compareWithLedger(
  client: Client,
  storage: StorageOptions = {},
  { isThorough = false } = {},
): Promise<void> {
  const { place } = await readClaim(client);
  if (place === null) {
    throw new LedgerRefused(
      "This database has no ledger. If it is new, run npm run refresh -- --new-ledger PLACE. If it replaces a lost database, run npm run refresh -- --continue-ledger PLACE (docs/operations.md, The ledger).",
    );
  }
  await withLedger(client, place, storage, async (store) => {
    const claim = await readClaim(client);
    if (!claim.is_this_server) {
      // Its replicas cannot know on which server it is.
      await client.query(
        "update ledger.claim set server_started_at = null where server_started_at is not null",
      );
      throw new LedgerRefused(`This database was restored, or copied from another server. ${nextStep}`);
    }
    if (isThorough) await checkNumbers(store, place, claim.last_object);
    await readNew(client, store, claim);
    // Before it writes, so that requests are answered even if the ledger cannot be written.
    if (!claim.is_compared) {
      await client.query(
        "update ledger.claim set server_started_at = pg_postmaster_start_time(), database_name = current_database()",
      );
      if (!(await readClaim(client)).is_compared)
        throw new LedgerRefused("The triggers of ledger.claim are disabled. Run deploy/after-restore.sql.");
    }
    while (!claim.is_lost && !(await write(client, store, claim))) await readNew(client, store, claim);
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
      withdrawn = await readNew(client, store, await readClaim(client), true);
    });
  }
  await withLedger(client, place, storage, async (store) => {
    if ((await listNames(store)).length > 0)
      throw new LedgerRefused(
        `There is already a ledger in ${place}. Name an empty place, or use --continue-ledger.`,
      );
    const [ledger, writer] = [randomUUID(), randomUUID()];
    const text = formatObject(ledger, writer);
    if (!(await store.create(nameObject(1), text)) || (await store.create(nameObject(1), text)))
      throw new LedgerRefused(
        `The storage of ${place} does not support conditional writes (If-None-Match). Name another place.`,
      );
    await inTransaction(client, async () => {
      await client.query("update ledger.entries set object_number = null where object_number is not null");
      await client.query(claimLedger, [place, ledger, writer, 1]);
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
    const { length: count } = await listNames(store);
    const objects = await readObjects(store, place, 0);
    const [first] = objects;
    if (first === undefined && count === 0)
      throw new LedgerRefused(
        `There is no ledger in ${place}. Name its place, or start one with --new-ledger PLACE.`,
      );
    if (first === undefined || objects.length < Math.max(count, claim.last_object))
      throw new LedgerRefused(describeGap(place, objects.length + 1));
    checkOwner(place, objects, claim.ledger_id ?? first.ledger);
    ({ withdrawn } = await apply(client, place, objects.slice(claim.last_object), true));
    const writer = randomUUID();
    if (!(await store.create(nameObject(objects.length + 1), formatObject(first.ledger, writer))))
      throw new LedgerRefused(`Another database writes to the ledger in ${place}. Stop it, and try again.`);
    await client.query(claimLedger, [place, first.ledger, writer, objects.length + 1]);
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
  } catch (cause) {
    const { message } = cause as Error;
    if (!denied.test(message)) throw cause;
    throw new Error(`${message} Let the refresher read and write there (docs/operations.md, The ledger).`, {
      cause,
    });
  } finally {
    await unlock(client, lock);
    store.close();
  }
}

/** Matches the end of a message that S3 or the operating system denied access. */
const denied = /: (AccessDenied|EACCES|EPERM)\.$/;

const claimLedger = `
  update ledger.claim set
    place = $1, ledger_id = $2, writer_id = $3, last_object = $4, lost_at = null, server = ledger.describe_server(),
    server_name = nullif(current_setting('single_audit.server_name', true), '')`;

async function readClaim(client: Client): Promise<Claim> {
  const { rows } = await client.query(
    `select place, ledger_id, writer_id, last_object::float8, server = ledger.describe_server() as is_this_server,
       (server_started_at, database_name, changed_in)
         is not distinct from (pg_postmaster_start_time(), current_database(), xmin) as is_compared,
       lost_at is not null as is_lost
     from ledger.claim`,
  );
  const [claim] = rows;
  if (claim === undefined)
    throw new LedgerRefused(
      "ledger.claim has no row, so this database was not restored completely. Run deploy/after-restore.sql, then npm run refresh -- --continue-ledger PLACE.",
    );
  return claim;
}

const listNames = async (store: Objects) =>
  (await store.listFiles(/\.jsonl$/)).map((file) => path.basename(file.path));

/** @throws LedgerRefused if one of the first objects is missing */
async function checkNumbers(store: Objects, place: string, last: number): Promise<void> {
  const names = new Set(await listNames(store));
  for (let number = 1; number <= last; number += 1)
    if (!names.has(nameObject(number))) throw new LedgerRefused(describeGap(place, number));
}

/**
 * Reads the objects after the last one that the database knows, up to the first number without an object.
 *
 * @throws LedgerRefused if an object is damaged
 */
async function readObjects(store: Objects, place: string, last: number): Promise<LedgerObject[]> {
  const objects: LedgerObject[] = [];
  for (let number = last + 1; ; number += 1) {
    const text = await store.readText(nameObject(number));
    if (text === undefined) return objects;
    objects.push(readObject(place, number, text));
  }
}

function readObject(place: string, number: number, text: string): LedgerObject {
  const refuse = (reason: string) => new LedgerRefused(describeDamage(place, number, reason));
  const [header, ...entries] = text.trimEnd().split("\n");
  const read = <Line>(line: z.ZodType<Line>, json = "", index = 0) => {
    try {
      return line.parse(JSON.parse(json));
    } catch {
      throw refuse(`line ${index + 1} cannot be read`);
    }
  };
  const { entries: count, ...names } = read(headerLine, header);
  const object = {
    ...names,
    number,
    entries: entries.map((json, index) => read(entryLine, json, index + 1)),
  };
  if (object.entries.length !== count) throw refuse(`it has ${entries.length} of ${count} entries`);
  return object;
}

const describeDamage = (place: string, number: number, reason: string) =>
  `${place}/${nameObject(number)} is damaged: ${reason}. Restore this object. Nothing was read from it.`;

/** @throws LedgerRefused if an object is from another ledger */
function checkOwner(place: string, objects: LedgerObject[], owner: string | null): void {
  const other = objects.find(({ ledger }) => ledger !== owner);
  if (other !== undefined)
    throw new LedgerRefused(`${place}/${nameObject(other.number)} belongs to another database.`);
}

/**
 * Reads the objects that this database does not know. If another database wrote them, this one is lost: it takes their suppressions
 * and revocations, but their releases only if an operator says so, because the other one may be a copy for tests.
 *
 * @returns whether data sets were withdrawn
 * @throws LedgerRefused if the last object that the database knows is missing, if an object is damaged, or if the ledger belongs to
 * another database
 */
async function readNew(
  client: Client,
  store: Objects,
  claim: Claim,
  takesReleases?: boolean,
): Promise<boolean> {
  const place = claim.place ?? "";
  if (!(await store.has(nameObject(claim.last_object))))
    throw new LedgerRefused(describeGap(place, claim.last_object));
  const objects = await readObjects(store, place, claim.last_object);
  checkOwner(place, objects, claim.ledger_id);
  const hasOtherWriter = objects.some(({ writer }) => writer !== claim.writer_id);
  const takesAll = takesReleases ?? !(claim.is_compared || claim.is_lost || hasOtherWriter);
  const { learned, withdrawn } = await apply(client, place, objects, takesAll);
  claim.last_object += objects.length;
  // A copy of the server's files has the same writer. But what this server wrote since it started, it knows.
  if (!claim.is_lost && (hasOtherWriter || (claim.is_compared && learned > 0))) {
    await client.query("update ledger.claim set lost_at = now()");
    claim.is_lost = true;
  }
  return withdrawn;
}

/**
 * Applies the entries of all objects, or of none.
 *
 * @returns how many entries were new, and whether the data sets were withdrawn, because the live one shows a report that the ledger
 * suppresses
 * @throws LedgerRefused if PostgreSQL refuses a value
 */
async function apply(
  client: Client,
  place: string,
  objects: LedgerObject[],
  takesReleases: boolean,
): Promise<{ learned: number; withdrawn: boolean }> {
  if (objects.length === 0) return { learned: 0, withdrawn: false };
  return await inTransaction(client, async () => {
    let learned = 0;
    for (const { number, entries } of objects) {
      const values = [number, JSON.stringify(entries), takesReleases];
      const applying = client.query<{ apply: number }>("select ledger.apply($1, $2, $3)", values);
      const { rows } = await applying.catch((cause: DatabaseError) => {
        if (!wrongValue.test(cause.code ?? "")) throw cause;
        throw new LedgerRefused(describeDamage(place, number, "a value is wrong"), { cause });
      });
      learned += rows[0]?.apply ?? 0;
    }
    const { rows } = await client.query<{ shows: boolean }>(`select ${showsSuppressed} as shows`);
    const withdrawn = rows[0]?.shows === true;
    if (withdrawn) await client.query("select publication.withdraw_data_sets()");
    return { learned, withdrawn };
  });
}

/** PostgreSQL's codes for data exceptions, violated constraints and an unknown kind. */
const wrongValue = /^(2[23]|20000)/;

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
    const text = formatObject(claim.ledger_id, claim.writer_id, lines, ids.length);
    if (!(await store.create(nameObject(number), text))) return false;
    await inTransaction(client, async () => {
      await client.query("update ledger.entries set object_number = $1 where id = any ($2)", [number, ids]);
      await client.query("update ledger.claim set last_object = $1", [number]);
    });
    claim.last_object = number;
  }
}
