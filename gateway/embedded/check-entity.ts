import { isDeepStrictEqual } from "node:util";
import type { z } from "zod";
import { completeEntity, isRecord } from "../entity.ts";
import { type EntityKind, entityDefaults, type Fields, pluginDefaults } from "../entity-defaults.ts";
import { entitySchemas } from "./document-schema.ts";
import { refuseFields } from "./entity-error.ts";
import { PLUGINS } from "./plugins/index.ts";
import { NOT_IMPLEMENTED } from "./plugins/plugin.ts";

/** An entity that is in order: all its fields, and the configuration as its plugin reads it. */
export interface CheckedEntity {
  fields: Fields;
  config: unknown;
}

const references = ["service", "route", "consumer"] as const;
/** Fields of which one must be set. */
const oneOf: Record<string, string[]> = {
  consumers: ["custom_id", "username"],
  "rate-limiting": ["second", "minute", "hour", "day", "month", "year"].map((name) => `config.${name}`),
};
const integers = new Set([
  "port",
  "retries",
  "connect_timeout",
  "read_timeout",
  "write_timeout",
  "status_code",
]);
const expectations: Record<string, string> = {
  number: "expected a number",
  string: "expected a string",
  boolean: "expected a boolean",
  array: "expected an array",
  object: "expected a record",
};

/**
 * Checks what the Admin API is given, and fills in Kong's defaults.
 *
 * @throws EntityError with the fields that are wrong, or that only Kong implements
 */
export function checkEntity(kind: EntityKind, given: Fields): CheckedEntity {
  const problems = new Map<string, string>();
  const { url: _url, id: _id, created_at: _created, updated_at: _updated, ...plain } = withoutMirrors(given);
  const plugin = kind === "plugins" ? PLUGINS.find(({ name }) => name === given.name) : undefined;
  if (kind === "plugins" && plugin === undefined) {
    const message =
      given.name === undefined
        ? "required field missing"
        : `plugin '${given.name}' not enabled; add it to the 'plugins' configuration property`;
    throw refuseFields(new Map([["name", message]]));
  }
  const defaults = { ...entityDefaults[kind], config: pluginDefaults[plugin?.name ?? ""] ?? {} };
  findUnknown(kind === "plugins" ? defaults : entityDefaults[kind], plain, "", problems);

  const fields = completeEntity(kind, withoutMirrors(given));
  const { created_at: _at, updated_at: _then, ...complete } = fields;
  // A later check may rely on the earlier ones.
  if (problems.size === 0 || kind === "plugins") findMissing(kind, complete, problems);
  if (problems.size > 0) throw refuseFields(problems);
  const changed = withoutDefaults(defaults, complete);
  for (const name of references) delete changed[name];
  const { config: changedConfig, id: _sameId, ...rest } = changed;
  parse(entitySchemas[kind], rest, "", problems);
  const config = plugin && parse(plugin.config, changedConfig ?? {}, "config.", problems);
  if (plugin !== undefined) checkScope(plugin, complete, problems);
  if (problems.size > 0) throw refuseFields(problems);
  return { fields: { ...complete, ...(plugin && { config: withMirrors(complete) }) }, config };
}

/** Kong shows the fields of `redis` under their old names, too. */
function withMirrors({ config }: Fields): Fields {
  const fields = config as Fields;
  const mirrors = Object.entries(isRecord(fields.redis) ? fields.redis : {});
  return { ...fields, ...Object.fromEntries(mirrors.map(([name, value]) => [`redis_${name}`, value])) };
}

function withoutMirrors(given: Fields): Fields {
  if (!isRecord(given.config)) return given;
  const own = Object.entries(given.config).filter(([name]) => !name.startsWith("redis_"));
  return { ...given, config: Object.fromEntries(own) };
}

function findUnknown(known: Fields, given: Fields, prefix: string, problems: Map<string, string>): void {
  for (const [name, value] of Object.entries(given)) {
    const inner = known[name];
    if (!(name in known)) problems.set(`${prefix}${name}`, "unknown field");
    else if (isRecord(value) && isRecord(inner)) findUnknown(inner, value, `${prefix}${name}.`, problems);
  }
}

function findMissing(kind: EntityKind, fields: Fields, problems: Map<string, string>): void {
  const names = oneOf[kind === "plugins" ? String(fields.name) : kind] ?? [];
  const isSet = (path: string) => {
    const [name = "", inner] = path.split(".");
    const value = fields[name];
    return (inner === undefined ? value : (value as Fields)[inner]) != null;
  };
  if (names.length === 0 || names.some(isSet)) return;
  const list = names.map((name) => `'${name}'`).join(", ");
  problems.set("@entity", `at least one of these fields must be non-empty: ${list}`);
}

function checkScope(plugin: (typeof PLUGINS)[number], fields: Fields, problems: Map<string, string>): void {
  const scopes = references.filter((name) => fields[name] !== null);
  if (scopes.length > 1) problems.set(scopes[1] ?? "", NOT_IMPLEMENTED);
  if (fields.consumer !== null && !plugin.onConsumers) problems.set("consumer", NOT_IMPLEMENTED);
  if (plugin.instanceName !== undefined && fields.instance_name !== plugin.instanceName) {
    problems.set("instance_name", NOT_IMPLEMENTED);
  }
}

/** What the schemas are to look at: a default is always implemented. */
function withoutDefaults(defaults: Fields, fields: Fields): Fields {
  const changed: Fields = {};
  for (const [name, value] of Object.entries(fields)) {
    const byDefault = defaults[name];
    if (value === null || isDeepStrictEqual(value, byDefault)) continue;
    changed[name] = isRecord(value) && isRecord(byDefault) ? withoutDefaults(byDefault, value) : value;
  }
  return changed;
}

function parse(schema: z.ZodType, value: unknown, prefix: string, problems: Map<string, string>): unknown {
  const { data, error } = schema.safeParse(value);
  for (const issue of error?.issues ?? []) {
    const path = prefix + issue.path.filter((part) => typeof part === "string").join(".");
    if (issue.code === "unrecognized_keys") {
      for (const key of issue.keys)
        problems.set(path === prefix ? prefix + key : `${path}.${key}`, NOT_IMPLEMENTED);
    } else problems.set(path.replace(/\.$/, "") || "@entity", describeIssue(issue));
  }
  return data;
}

function describeIssue(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_type") {
    const isWhole = issue.expected === "number" && integers.has(String(issue.path.at(-1)));
    return isWhole ? "expected an integer" : (expectations[issue.expected] ?? issue.message);
  }
  if (issue.code === "invalid_value") return NOT_IMPLEMENTED;
  return issue.message;
}
