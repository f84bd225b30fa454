import { randomUUID } from "node:crypto";
import { type EntityKind, entityKinds, type Fields } from "../entity-defaults.ts";
import { buildConfig, createHandlers, type GatewayConfig, type StoredEntity } from "./build-config.ts";
import { checkEntity } from "./check-entity.ts";
import { refuseDuplicate, refuseReference, refuseRemoval } from "./entity-error.ts";
import type { Identity } from "./plugins/plugin.ts";

/** Kong's database, in memory. */
export interface EntityStore {
  /** In force for the next request. */
  config: () => GatewayConfig;
  /** By ID, by name or, of a credential, by key. */
  get: (kind: EntityKind, name: string) => Fields | undefined;
  /**
   * Creates or replaces.
   *
   * @throws EntityError; nothing has changed then
   */
  put: (kind: EntityKind, name: string, given: Fields) => Fields;
  /** @throws EntityError when others refer to it */
  remove: (kind: EntityKind, name: string) => void;
  /** In the order of their IDs. */
  list: (kind: EntityKind) => readonly Fields[];
}

type Collections = Record<EntityKind, Map<string, StoredEntity>>;

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const references = { service: "services", route: "routes", consumer: "consumers" } as const;
/** What finds an entity besides its ID. */
const names: Record<EntityKind, string | undefined> = {
  services: "name",
  routes: "name",
  plugins: "instance_name",
  consumers: "username",
  "key-auths": "key",
};

export function createEntityStore(): EntityStore {
  const stored = Object.fromEntries(entityKinds.map((kind) => [kind, new Map()])) as Collections;
  const index = createIndex();
  const { credentials, showKeys } = createCredentials(stored, index);
  const sorted = new Map<EntityKind, readonly Fields[]>();
  let config: GatewayConfig | undefined;

  function resolve(kind: EntityKind, name: string): string | undefined {
    if (uuid.test(name)) return stored[kind].has(name) ? name : undefined;
    return index.findOwner(kind, { [names[kind] ?? ""]: name });
  }

  function put(kind: EntityKind, name: string, given: Fields): Fields {
    const id = resolve(kind, name) ?? (uuid.test(name) ? name : randomUUID());
    const named = uuid.test(name) ? given : { [names[kind] ?? ""]: name, ...given };
    const { fields, config: parsed } = checkEntity(kind, named);
    refuseMissing(stored, fields);
    index.refuseTaken(kind, id, fields);
    const before = stored[kind].get(id);
    const entity = { fields: { ...fields, id, ...readTimes(kind, before) }, config: parsed };
    if (before !== undefined) forget(kind, before);
    stored[kind].set(id, entity);
    index.add(kind, id, fields);
    refresh(kind, fields, id);
    return entity.fields;
  }

  /** Takes an entity out of the index, and its key out of service. */
  function forget(kind: EntityKind, { fields }: StoredEntity): void {
    index.remove(kind, fields);
    if (kind === "key-auths") credentials.delete(String(fields.key));
  }

  function remove(kind: EntityKind, name: string): void {
    const id = resolve(kind, name);
    const entity = id === undefined ? undefined : stored[kind].get(id);
    if (id === undefined || entity === undefined) return;
    const dependants = index.listReferrers(kind, id);
    if (dependants.some(([referrer]) => referrer === "routes")) throw refuseRemoval(kind, "routes");
    for (const [referrer = "", dependant = ""] of dependants) remove(referrer as EntityKind, dependant);
    forget(kind, entity);
    stored[kind].delete(id);
    refresh(kind, entity.fields, id);
  }

  /** Consumers come and go one by one; a change of the few others has the routes made anew. */
  function refresh(kind: EntityKind, fields: Fields, id: string): void {
    sorted.delete(kind);
    const consumer = kind === "consumers" ? id : (fields.consumer as { id: string } | null | undefined)?.id;
    if (consumer === undefined) config = undefined;
    else showKeys(consumer);
  }

  return {
    config: () => {
      config ??= buildConfig(listAll(stored), credentials);
      return config;
    },
    get: (kind, name) => stored[kind].get(resolve(kind, name) ?? "")?.fields,
    put,
    remove,
    list: (kind) => {
      const list = sorted.get(kind) ?? sortById(stored[kind]);
      sorted.set(kind, list);
      return list;
    },
  };
}

/** Keys in service, by what they are, and what puts those of a consumer there as they are stored. */
function createCredentials(stored: Collections, index: ReturnType<typeof createIndex>) {
  const credentials = new Map<string, Identity>();
  const showKeys = (id: string) => {
    const consumer = stored.consumers.get(id);
    if (consumer === undefined) return;
    const own = index.listReferrers("consumers", id);
    const pick = (kind: "plugins" | "key-auths") =>
      own.flatMap(([of, it = ""]) => (of === kind ? (stored[kind].get(it) ?? []) : []));
    const shown = showConsumer(id, consumer, pick("plugins"));
    for (const { fields } of pick("key-auths")) {
      credentials.set(String(fields.key), { consumer: shown, credentialId: () => fields.id });
    }
  };
  return { credentials, showKeys };
}

/** By what entities are found besides their IDs: what no other one of the kind may have, and what they refer to. */
function createIndex() {
  const owners = new Map<string, string>();
  /** By `<kind>/<id>` of what they refer to. */
  const referrers = new Map<string, Set<string>>();
  return {
    findOwner: (kind: EntityKind, unique: Fields) => owners.get(nameUnique(kind, unique)),
    refuseTaken: (kind: EntityKind, id: string, fields: Fields) => {
      for (const unique of uniquesOf(kind, fields)) {
        const owner = owners.get(nameUnique(kind, unique));
        if (owner !== undefined && owner !== id) throw refuseDuplicate(unique);
      }
    },
    /** Kind and ID of each entity that refers to this one. */
    listReferrers: (kind: EntityKind, id: string) =>
      [...(referrers.get(`${kind}/${id}`) ?? [])].map((it) => it.split("/")),
    add: (kind: EntityKind, id: string, fields: Fields) => {
      for (const unique of uniquesOf(kind, fields)) owners.set(nameUnique(kind, unique), id);
      for (const [, target] of referencesOf(fields)) {
        referrers.set(target, (referrers.get(target) ?? new Set()).add(`${kind}/${id}`));
      }
    },
    remove: (kind: EntityKind, fields: Fields) => {
      for (const unique of uniquesOf(kind, fields)) owners.delete(nameUnique(kind, unique));
      for (const [, target] of referencesOf(fields)) {
        const left = referrers.get(target);
        left?.delete(`${kind}/${fields.id}`);
        if (left?.size === 0) referrers.delete(target);
      }
    },
  };
}

function refuseMissing(stored: Collections, fields: Fields): void {
  for (const [field, target] of referencesOf(fields)) {
    const [kind = "", id = ""] = target.split("/");
    if (!stored[kind as EntityKind].has(id)) throw refuseReference(field, id);
  }
}

/** In seconds, as Kong has them: a credential has no time of its last change. */
function readTimes(kind: EntityKind, before: StoredEntity | undefined): Record<string, unknown> {
  const now = Math.floor(Date.now() / 1000);
  const created_at = before?.fields.created_at ?? now;
  return kind === "key-auths" ? { created_at } : { created_at, updated_at: now };
}

/** A consumer as requests meet it. */
function showConsumer(id: string, { fields }: StoredEntity, plugins: StoredEntity[]): Identity["consumer"] {
  const { username, custom_id: customId } = fields as Record<string, string | null>;
  const name = username ?? customId ?? "";
  return {
    id: () => id,
    name,
    username: username ?? undefined,
    customId: customId ?? undefined,
    plugins: createHandlers(plugins, { consumer: name }),
  };
}

const listAll = ({ services, routes, plugins }: Collections) => ({
  services: services.values(),
  routes: [...routes.values()],
  plugins: plugins.values(),
});

const sortById = (entities: Map<string, StoredEntity>): Fields[] =>
  [...entities.values()].map(({ fields }) => fields).sort((a, b) => (a.id < b.id ? -1 : 1));

function referencesOf(fields: Fields): [field: string, target: string][] {
  return Object.entries(references).flatMap(([field, kind]) => {
    const id = (fields[field] as { id: string } | null | undefined)?.id;
    return id === undefined ? [] : [[field, `${kind}/${id}`] as [string, string]];
  });
}

/** What no other entity of the kind may have. */
function uniquesOf(kind: EntityKind, fields: Fields): Fields[] {
  const own = kind === "consumers" ? ["username", "custom_id"] : [names[kind] ?? ""];
  const uniques: Fields[] = own.flatMap((name) => (fields[name] == null ? [] : [{ [name]: fields[name] }]));
  if (kind !== "plugins") return uniques;
  const { consumer, name, route, service } = fields;
  return [...uniques, { consumer, name, route, service }];
}

function nameUnique(kind: EntityKind, unique: Fields): string {
  return `${kind} ${JSON.stringify(unique)}`;
}
