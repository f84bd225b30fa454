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
  const refusals = new Map<string, string>();
  let changedAt: number | undefined;
  /** Urgent keys that are being written. */
  let underWay = 0;
  let last: { path: string; isThere: boolean } | undefined;

  /** A refusal is kept and told; it stops nothing else. */
  async function attempt(path: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      refusals.delete(path);
    } catch (error) {
      if (!(error instanceof EntityRefused)) throw error;
      if (refusals.get(path) !== error.message) onRefused(error);
      refusals.set(path, error.message);
    }
  }

  async function writeChange({ action, kind, id, entity }: Change): Promise<void> {
    const path = pathOf(kind, id);
    await attempt(path, async () => {
      if (action === "remove") await admin.remove(path);
      else await admin.put(pathOf(kind, id, entity), entity ?? {});
    });
    if (!refusals.has(path)) last = { path, isThere: action !== "remove" };
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
    for (const [index, kind] of keyParts.entries()) {
      if ((parts & (1 << index)) === 0) continue;
      const entity = pickOfKey(wanted.base, key, kind);
      if (entity === undefined && (parts & isNewKey) !== 0) continue;
      const action = entity === undefined ? "remove" : "change";
      await writeChange({ action, kind, id, fields: [], ...(entity === undefined ? {} : { entity }) });
      if (kind !== "key-auths" && refusals.has(pathOf(kind, id))) return;
    }
    last = { path: pathOf("consumers", id), isThere: true };
  }

  function isOfKey({ kind, id }: Change): boolean {
    const wanted = readWanted();
    const key = wanted?.keys.get(id);
    return wanted !== undefined && key !== undefined && pickOfKey(wanted.base, key, kind) !== undefined;
  }

  async function drain(...queues: Queue[]): Promise<void> {
    const work = async () => {
      for (;;) {
        // Urgent ones first, also those that come while others are written.
        const queue = queues.find(({ waiting }) => waiting.size > 0);
        const [id, parts] = queue?.take() ?? [];
        if (queue === undefined || id === undefined || parts === undefined) return;
        if (queue === urgent) underWay += 1;
        try {
          await writeKey(id, parts);
        } catch (error) {
          queue.waiting.set(id, allParts);
          throw error;
        } finally {
          if (queue === urgent) underWay -= 1;
        }
        noteApplied();
      }
    };
    const results = await Promise.allSettled(Array.from({ length: concurrency }, work));
    const failure = results.find((it) => it.status === "rejected");
    if (failure !== undefined) throw failure.reason;
  }

  function noteApplied(): void {
    if (urgent.waiting.size > 0 || underWay > 0 || changedAt === undefined) return;
    onApplied(changedAt);
    changedAt = undefined;
  }

  return {
    addUrgent: (changes, at) => {
      changedAt ??= at;
      for (const { id, isNew } of changes) {
        urgent.waiting.set(id, (urgent.waiting.get(id) ?? 0) | allParts | (isNew ? isNewKey : 0));
      }
    },
    addKeys: (keys) => {
      for (const [id, parts] of keys) found.waiting.set(id, (found.waiting.get(id) ?? 0) | parts);
    },
    writeUrgent: () => drain(urgent),
    writeAll: () => drain(urgent, found),
    writeBase: async (changes) => {
      refusals.clear();
      for (const change of changes) {
        // Another sync may have heard of a new key before this one, and made it.
        if (change.action === "remove" && isOfKey(change)) continue;
        await writeChange(change);
      }
    },
    watch: (path) => {
      last = { path, isThere: true };
    },
    lastStands: async () => {
      if (last === undefined) return true;
      return ((await admin.get(last.path)) !== undefined) === last.isThere;
    },
    refused: () => refusals.size,
  };
}

interface Queue {
  /** Keys, with the parts that are to be written. */
  waiting: Map<string, number>;
  take: () => [id: string, parts: number] | undefined;
}

/** One iterator goes through the map: a new one would pass by all that was taken before, again and again. */
function createQueue(): Queue {
  const waiting = new Map<string, number>();
  let entries = waiting.entries();
  return {
    waiting,
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
