import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { type EntityKind, entityDefaults, type Fields, pluginDefaults } from "./entity-defaults.ts";

/** An entity as it is sent to Kong's Admin API; what is left out has Kong's default. */
export type Entity = Fields & { id: string; tags: string[] };

/** Marks what the sync made and alone may change. Everything else in Kong's database is somebody else's. */
export const ownerTag = "single-audit";

/** What the Admin API says of an entity. */
export interface ListedEntity extends Fields {
  id: string;
  tags: string[] | null;
}

export function isOwned({ tags }: { tags: string[] | null }): boolean {
  return Array.isArray(tags) && tags.includes(ownerTag);
}

/** The same name has the same ID always, so that whoever makes an entity makes the same one. */
export function deriveId(name: string): string {
  const hex = createHash("sha256").update(name).digest("hex");
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** All fields of an entity as Kong keeps them: defaults filled in, `url` of a service taken apart. */
export function completeEntity(kind: EntityKind, entity: Fields): Fields {
  const { url, ...fields } = entity;
  const complete = fill(entityDefaults[kind], {
    ...fields,
    ...(kind === "services" && typeof url === "string" ? splitUrl(url) : {}),
  });
  if (kind !== "plugins") return complete;
  const config = fields.config === null || fields.config === undefined ? {} : (fields.config as Fields);
  return { ...complete, config: fill(pluginDefaults[String(fields.name)] ?? {}, config) };
}

/**
 * The names of the fields in which what Kong has differs from what is wanted. Fields that only a newer Kong knows are not
 * looked at; those that are left out in what is wanted must have their defaults.
 */
export function findDifferences(kind: EntityKind, wanted: Fields, listed: Fields): string[] {
  return compareFields(completeEntity(kind, wanted), listed, "");
}

function compareFields(wanted: Fields, listed: Fields, prefix: string): string[] {
  return Object.entries(wanted).flatMap(([name, value]) => {
    const other = listed[name];
    const field = `${prefix}${name}`;
    if (isRecord(value) && isRecord(other) && Object.keys(value).length > 0) {
      return compareFields(value, other, `${field}.`);
    }
    return isSame(value, other) ? [] : [field];
  });
}

/** Kong shows an empty list as `{}` at times, and leaves out what is null in some places. */
function isSame(value: unknown, other: unknown): boolean {
  const plain = (it: unknown) => (it === null || it === undefined || isEmpty(it) ? null : it);
  return isDeepStrictEqual(plain(value), plain(other));
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

export function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fill(defaults: Fields, given: Fields): Fields {
  const filled: Fields = { ...defaults };
  for (const [name, value] of Object.entries(given)) {
    const byDefault = defaults[name];
    if (value === undefined) continue;
    filled[name] = isRecord(value) && isRecord(byDefault) ? fill(byDefault, value) : value;
  }
  return filled;
}

function splitUrl(text: string): Fields {
  const url = new URL(text);
  const protocol = url.protocol.slice(0, -1);
  return {
    protocol,
    host: url.hostname,
    port: url.port === "" ? (protocol === "https" ? 443 : 80) : Number(url.port),
    path: url.pathname === "/" && !text.endsWith("/") ? null : url.pathname,
  };
}
