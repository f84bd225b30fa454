import type { ActiveKey } from "./active-keys.ts";
import type { AdminClient } from "./admin-client.ts";
import { type Entity, findDifferences, isOwned, type ListedEntity } from "./entity.ts";
import type { EntityKind, Fields } from "./entity-defaults.ts";
import { type BaseEntities, renderKey } from "./render-entities.ts";

/** What Kong is to have. */
export interface Wanted {
  base: BaseEntities;
  keys: ReadonlyMap<string, ActiveKey>;
}

/** One request that makes Kong's database as wanted. */
export interface Change {
  action: "create" | "change" | "remove";
  kind: EntityKind;
  id: string;
  /** The fields in which what is there differs. */
  fields: string[];
  /** Absent for a removal. */
  entity?: Entity;
  /** Whether it may stand in for what is not there yet (gateway/unconfigured.yml). */
  isStandIn?: boolean;
}

/** What differs between a node and what is wanted. */
export interface Comparison {
  /** Services, routes and plugins of the template, in an order in which they can be made. */
  base: Change[];
  /**
   * Keys of which something is missing or differs, with what: bits of `keyParts`. `gone`: the consumer is to be removed
   * with all that it has. Small, as all keys may be in here.
   */
  keys: Map<string, number>;
  /** What else has the tag of this service and is not wanted any more, in an order in which it can be removed. */
  strays: Change[];
  /** What others have made: never touched. */
  foreign: { kind: EntityKind; id: string; name: string }[];
  /** How many entities are as wanted. */
  same: number;
}

/** What a key consists of, in the order in which it is made: the key works only when its limits are there. */
export const keyParts = ["consumers", "plugins", "key-auths"] as const;
export const allParts = (1 << keyParts.length) - 1;
export const gone = 0;
const baseKinds = ["services", "routes", "plugins"] as const;
const removalOrder: EntityKind[] = ["key-auths", "plugins", "routes", "services"];

/**
 * Lists all that a node has, and compares it with what is wanted at the moment at which each page is looked at.
 *
 * @param breathe is waited for between two pages, so that changes of single keys need not wait for the end
 */
export async function compareNode(
  admin: Pick<AdminClient, "list">,
  readWanted: () => Wanted,
  breathe: () => Promise<void> = async () => {},
): Promise<Comparison> {
  const found: Comparison = { base: [], keys: new Map(), strays: [], foreign: [], same: 0 };
  const seen = {
    consumers: new Set<string>(),
    "key-auths": new Set<string>(),
    plugins: new Set<string>(),
  };
  const seenBase = new Set<string>();

  function look(kind: EntityKind, listed: ListedEntity): void {
    if (!isOwned(listed)) {
      found.foreign.push({ kind, id: listed.id, name: nameOf(listed) });
      return;
    }
    const { base, keys } = readWanted();
    const template =
      kind === "consumers" || kind === "key-auths"
        ? undefined
        : base[kind].find(({ id }) => id === listed.id);
    const key = keys.get(listed.id);
    const wanted = template ?? (key === undefined ? undefined : pickOfKey(base, key, kind));
    if (wanted === undefined) {
      const { id: consumer } = (listed.consumer as { id: string } | null | undefined) ?? {};
      // It goes with its consumer.
      if (consumer !== undefined && found.keys.get(consumer) === gone) return;
      if (kind === "consumers") found.keys.set(listed.id, gone);
      else {
        const isGlobal = kind === "plugins" && !listed.service && !listed.route && !listed.consumer;
        // An instance name is unique: what has it makes room first.
        const isStandIn = isGlobal && !listed.instance_name;
        found.strays.push({ action: "remove", kind, id: listed.id, fields: [], isStandIn });
      }
      return;
    }
    if (template !== undefined) seenBase.add(`${kind}/${listed.id}`);
    // The key's own text, lest the whole page be kept.
    else if (key !== undefined && kind in seen) seen[kind as keyof typeof seen].add(key.id);
    const fields = findDifferences(kind, wanted, listed);
    if (fields.length === 0) {
      found.same += 1;
      return;
    }
    if (template === undefined) addPart(found.keys, listed.id, kind);
    else found.base.push({ action: "change", kind, id: listed.id, fields, entity: wanted });
  }

  for (const kind of ["services", "routes", "consumers", "plugins", "key-auths"] as const) {
    for await (const page of admin.list(kind)) {
      for (const listed of page) look(kind, listed);
      await breathe();
    }
  }
  addMissing(found, readWanted(), seenBase, seen);
  found.base.sort((one, other) => order(one) - order(other));
  found.strays.sort((one, other) => removalOrder.indexOf(one.kind) - removalOrder.indexOf(other.kind));
  return found;
}

function addMissing(
  found: Comparison,
  { base, keys }: Wanted,
  seenBase: Set<string>,
  seen: Record<"consumers" | "key-auths" | "plugins", Set<string>>,
): void {
  for (const kind of baseKinds) {
    for (const entity of base[kind]) {
      if (seenBase.has(`${kind}/${entity.id}`)) continue;
      found.base.push({ action: "create", kind, id: entity.id, fields: [], entity });
    }
  }
  for (const key of keys.values()) {
    if (seen.consumers.has(key.id) && seen["key-auths"].has(key.id) && seen.plugins.has(key.id)) continue;
    for (const kind of keyParts) {
      if (!seen[kind].has(key.id) && pickOfKey(base, key, kind) !== undefined)
        addPart(found.keys, key.id, kind);
    }
  }
}

/** What a key is to have of one kind. */
export function pickOfKey(
  base: Pick<BaseEntities, "sharedLimits">,
  key: ActiveKey,
  kind: EntityKind,
): Entity | undefined {
  const { consumer, credential, plugin } = renderKey(base, key);
  if (kind === "consumers") return consumer;
  if (kind === "key-auths") return credential;
  return kind === "plugins" ? plugin : undefined;
}

/** Where an entity is replaced. A credential is made below its consumer; Kong asks for it there. */
export function pathOf(kind: EntityKind, id: string, entity?: Fields): string {
  const consumer = kind === "key-auths" ? (entity?.consumer as { id: string } | undefined) : undefined;
  return consumer === undefined ? `/${kind}/${id}` : `/consumers/${consumer.id}/key-auth/${id}`;
}

function order({ kind }: Change): number {
  return (baseKinds as readonly string[]).indexOf(kind);
}

function addPart(keys: Map<string, number>, id: string, kind: EntityKind): void {
  keys.set(id, (keys.get(id) ?? 0) | (1 << (keyParts as readonly string[]).indexOf(kind)));
}

/** A name for people. Never a credential's key. */
export function nameOf({ id, name, username }: Fields & { id: string }): string {
  return String(name ?? username ?? id);
}
