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
  const owners = new Map<string, string>();
  /** By `<kind>/<id>` of what they refer to. */
  const referrers = new Map<string, Set<string>>();
  const credentials = new Map<string, Identity>();
  const sorted = new Map<EntityKind, readonly Fields[]>();
  let config: GatewayConfig | undefined;

  function resolve(kind: EntityKind, name: string): string | undefined {
    if (uuid.test(name)) return stored[kind].has(name) ? name : undefined;
    return owners.get(nameUnique(kind, { [names[kind] ?? ""]: name }));
  }

  function put(kind: EntityKind, name: string, given: Fields): Fields {
    const existing = resolve(kind, name);
    const id = existing ?? (uuid.test(name) ? name : randomUUID());
    const named = uuid.test(name) ? given : { [names[kind] ?? ""]: name, ...given };
    const { fields, config: parsed } = checkEntity(kind, named);
    for (const [field, target] of referencesOf(fields)) {
      const [targetKind = "", targetId = ""] = target.split("/");
      if (!stored[targetKind as EntityKind].has(targetId)) throw refuseReference(field, targetId);
    }
    for (const unique of uniquesOf(kind, fields)) {
      const owner = owners.get(nameUnique(kind, unique));
      if (owner !== undefined && owner !== id) throw refuseDuplicate(unique);
    }
    const before = stored[kind].get(id);
    const now = Math.floor(Date.now() / 1000);
    const times = { created_at: before?.fields.created_at ?? now, updated_at: now };
    const entity: StoredEntity = {
      fields: { ...fields, id, ...(kind === "key-auths" ? { created_at: times.created_at } : times) },
      config: parsed,
    };
    if (before !== undefined) forget(kind, before);
    stored[kind].set(id, entity);
    for (const unique of uniquesOf(kind, fields)) owners.set(nameUnique(kind, unique), id);
    for (const [, target] of referencesOf(fields)) {
      referrers.set(target, (referrers.get(target) ?? new Set()).add(`${kind}/${id}`));
    }
    refresh(kind, fields, id);
    return entity.fields;
  }

  /** Takes an entity out of the indexes, and its key out of service. */
  function forget(kind: EntityKind, { fields }: StoredEntity): void {
    for (const unique of uniquesOf(kind, fields)) owners.delete(nameUnique(kind, unique));
    for (const [, target] of referencesOf(fields)) referrers.get(target)?.delete(`${kind}/${fields.id}`);
    if (kind === "key-auths") credentials.delete(String(fields.key));
  }

  function remove(kind: EntityKind, name: string): void {
    const id = resolve(kind, name);
    const entity = id === undefined ? undefined : stored[kind].get(id);
    if (id === undefined || entity === undefined) return;
    const dependants = [...(referrers.get(`${kind}/${id}`) ?? [])].map((it) => it.split("/"));
    if (dependants.some(([referrer]) => referrer === "routes")) throw refuseRemoval(kind, "routes");
    for (const [referrer = "", dependant = ""] of dependants) remove(referrer as EntityKind, dependant);
    forget(kind, entity);
    referrers.delete(`${kind}/${id}`);
    stored[kind].delete(id);
    refresh(kind, entity.fields, id);
  }

  /** Consumers come and go one by one; a change of the few others has the routes made anew. */
  function refresh(kind: EntityKind, fields: Fields, id: string): void {
    sorted.delete(kind);
    const consumer = kind === "consumers" ? id : (fields.consumer as { id: string } | null | undefined)?.id;
    if (consumer === undefined) config = undefined;
    else refreshConsumer(consumer);
  }

  function refreshConsumer(id: string): void {
    const consumer = stored.consumers.get(id);
    if (consumer === undefined) return;
    const own = [...(referrers.get(`consumers/${id}`) ?? [])].map((it) => it.split("/"));
    const pick = (kind: "plugins" | "key-auths") =>
      own.flatMap(([of, it = ""]) => (of === kind ? (stored[kind].get(it) ?? []) : []));
    const { username, custom_id: customId } = consumer.fields as Record<string, string | null>;
    const name = username ?? customId ?? "";
    const shown = {
      id: () => id,
      name,
      username: username ?? undefined,
      customId: customId ?? undefined,
      plugins: createHandlers(pick("plugins"), { consumer: name }),
    };
    for (const { fields } of pick("key-auths")) {
      credentials.set(String(fields.key), { consumer: shown, credentialId: () => fields.id });
    }
  }

  return {
    config: () => {
      const { services, routes, plugins } = stored;
      config ??= buildConfig(
        { services: services.values(), routes: [...routes.values()], plugins: plugins.values() },
        credentials,
      );
      return config;
    },
    get: (kind, name) => stored[kind].get(resolve(kind, name) ?? "")?.fields,
    put: (kind, name, given) => put(kind, name, given),
    remove,
    list: (kind) => {
      const known = sorted.get(kind);
      if (known !== undefined) return known;
      const list = [...stored[kind].values()]
        .map(({ fields }) => fields)
        .sort((a, b) => (a.id < b.id ? -1 : 1));
      sorted.set(kind, list);
      return list;
    },
  };
}

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
