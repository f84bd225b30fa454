import type { KeyChange } from "./active-keys.ts";
import { type AdminClient, concurrency, EntityRefused } from "./admin-client.ts";
import { allParts, type Change, keyParts, pathOf, pickOfKey, type Wanted } from "./compare-node.ts";

/** A bit beside those of `keyParts`: what a new key is not to have need not be removed. */
const isNewKey = allParts + 1;

export interface WriterOptions {
  admin: AdminClient;
  readWanted: () => Wanted | undefined;
  onApplied: (changedAt: number) => void;
  /** Told once for each entity and reason. */
  onRefused: (error: EntityRefused) => void;
}

/** Writes to one node what differs. What it is told of and could not write yet stays with it. */
export interface Writer {
  /** Keys that have just changed: they come before all others. */
  addUrgent: (changes: KeyChange[], changedAt: number) => void;
  /** Keys of which a comparison found parts missing or different. */
  addKeys: (keys: ReadonlyMap<string, number>) => void;
  writeUrgent: () => Promise<void>;
  writeAll: () => Promise<void>;
  /** A comparison finds anew what the node refuses. */
  forgetRefusals: () => void;
  /** Services, routes, plugins and removals, one after the other: they build on each other. */
  writeBase: (changes: Change[]) => Promise<void>;
  /** Looks after this entity until something is written. */
  watch: (path: string) => void;
  /** Whether what was written last is still as it was written. */
  lastStands: () => Promise<boolean>;
  /** How many entities the node refuses as they are wanted now. */
  refused: () => number;
}

/** @returns a Writer; each of its promises rejects when the node is away, or somebody else interferes */
export function createWriter({ admin, readWanted, onApplied, onRefused }: WriterOptions): Writer {
  const urgent = createQueue();
  const found = createQueue();
  const { refusals, attempt } = createRefusals(onRefused);
  let changedAt: number | undefined;
  /** Urgent keys that are being written. */
  let underWay = 0;
  const last = rememberLast(admin);

  async function writeChange({ action, kind, id, entity }: Change): Promise<void> {
    const path = pathOf(kind, id);
    await attempt(path, async () => {
      if (action === "remove") await admin.remove(path);
      else await admin.put(pathOf(kind, id, entity), entity ?? {});
    });
    if (!refusals.has(path)) last.note(path, action !== "remove");
  }

  /** What the key is to have is looked up when it is written, and not when it was found to differ. */
  async function writeKey(id: string, parts: number): Promise<void> {
    const wanted = readWanted();
    const key = wanted?.keys.get(id);
    if (wanted === undefined || key === undefined) {
      await writeChange({ action: "remove", kind: "consumers", id, fields: [] });
      for (const kind of keyParts) refusals.delete(pathOf(kind, id));
      return;
    }
    for (const kind of listKinds(parts)) {
      const entity = pickOfKey(wanted.base, key, kind);
      if (entity === undefined && (parts & isNewKey) !== 0) continue;
      const action = entity === undefined ? "remove" : "change";
      await writeChange({ action, kind, id, fields: [], ...(entity === undefined ? {} : { entity }) });
      if (kind !== "key-auths" && refusals.has(pathOf(kind, id))) return;
    }
    last.note(pathOf("consumers", id));
  }

  async function writeOf(queue: Queue, id: string, parts: number): Promise<void> {
    if (queue === urgent) underWay += 1;
    try {
      await writeKey(id, parts);
    } catch (error) {
      queue.waiting.set(id, allParts);
      throw error;
    } finally {
      if (queue === urgent) underWay -= 1;
    }
    if (urgent.waiting.size > 0 || underWay > 0 || changedAt === undefined) return;
    onApplied(changedAt);
    changedAt = undefined;
  }

  return {
    addUrgent: (changes, at) => {
      changedAt ??= at;
      for (const { id, isNew } of changes) urgent.add(id, allParts | (isNew ? isNewKey : 0));
    },
    addKeys: (keys) => {
      for (const [id, parts] of keys) found.add(id, parts);
    },
    writeUrgent: () => drain([urgent], writeOf),
    writeAll: () => drain([urgent, found], writeOf),
    forgetRefusals: () => refusals.clear(),
    writeBase: async (changes) => {
      for (const change of changes) {
        // Another sync may have heard of a new key before this one, and made it.
        if (change.action === "remove" && isOfKey(readWanted(), change)) continue;
        await writeChange(change);
      }
    },
    watch: last.note,
    lastStands: last.stands,
    refused: () => refusals.size,
  };
}

function isOfKey(wanted: Wanted | undefined, { kind, id }: Change): boolean {
  const key = wanted?.keys.get(id);
  return wanted !== undefined && key !== undefined && pickOfKey(wanted.base, key, kind) !== undefined;
}

const listKinds = (parts: number) => keyParts.filter((_kind, index) => (parts & (1 << index)) !== 0);

/** Remembers what was written last, to look whether it still stands. */
function rememberLast(admin: AdminClient) {
  let last: { path: string; isThere: boolean } | undefined;
  return {
    note: (path: string, isThere = true) => {
      last = { path, isThere };
    },
    stands: async () => {
      if (last === undefined) return true;
      return ((await admin.get(last.path)) !== undefined) === last.isThere;
    },
  };
}

/** What the node refuses, by path. A refusal is kept and told; it stops nothing else. */
function createRefusals(onRefused: WriterOptions["onRefused"]) {
  const refusals = new Map<string, string>();
  const attempt = async (path: string, work: () => Promise<void>) => {
    try {
      await work();
      refusals.delete(path);
    } catch (error) {
      if (!(error instanceof EntityRefused)) throw error;
      if (refusals.get(path) !== error.message) onRefused(error);
      refusals.set(path, error.message);
    }
  };
  return { refusals, attempt };
}

/** Empties queues, several keys at a time: the first queue first, also of keys that come while others are written. */
async function drain(
  queues: Queue[],
  write: (queue: Queue, id: string, parts: number) => Promise<void>,
): Promise<void> {
  const work = async () => {
    for (;;) {
      const queue = queues.find(({ waiting }) => waiting.size > 0);
      const [id, parts] = queue?.take() ?? [];
      if (queue === undefined || id === undefined || parts === undefined) return;
      await write(queue, id, parts);
    }
  };
  const results = await Promise.allSettled(Array.from({ length: concurrency }, work));
  const failure = results.find((it) => it.status === "rejected");
  if (failure !== undefined) throw failure.reason;
}

interface Queue {
  /** Keys, with the parts that are to be written. */
  waiting: Map<string, number>;
  add: (id: string, parts: number) => void;
  take: () => [id: string, parts: number] | undefined;
}

/** One iterator goes through the map: a new one would pass by all that was taken before, again and again. */
function createQueue(): Queue {
  const waiting = new Map<string, number>();
  let entries = waiting.entries();
  return {
    waiting,
    add: (id, parts) => void waiting.set(id, (waiting.get(id) ?? 0) | parts),
    take: () => {
      let next = entries.next();
      if (next.done) {
        entries = waiting.entries();
        next = entries.next();
      }
      if (next.done) return undefined;
      waiting.delete(next.value[0]);
      return next.value;
    },
  };
}
