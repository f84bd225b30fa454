import { parseDocument } from "yaml";
import { deriveId } from "../entity.ts";
import type { Fields } from "../entity-defaults.ts";
import { ConfigError, describeIssues } from "./config-error.ts";
import { documentSchema } from "./document-schema.ts";
import type { EntityStore } from "./entity-store.ts";
import { findDuplicates } from "./find-duplicates.ts";

type Plain = Fields & { name?: string; plugins?: Plain[] };

/**
 * Reads a document that is YAML or JSON text.
 * @throws ConfigError with the line of a syntax error.
 */
export function parseConfigText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const document = parseDocument(text);
    const error = document.errors[0];
    if (!error) return document.toJS();
    const line = error.linePos?.[0].line;
    const reason = error.message.split(/ at line |\n/)[0];
    throw new ConfigError([{ path: line ? `line ${line}` : "", message: `invalid YAML: ${reason}` }], {
      cause: error,
    });
  }
}

/**
 * Puts a declarative document of Kong (format 3.0) into the store.
 * @throws ConfigError naming everything in it that is wrong or that only Kong implements.
 */
export function loadDocument(document: unknown, { put }: EntityStore): void {
  const parsed = documentSchema.safeParse(document);
  if (!parsed.success) throw new ConfigError(describeIssues(parsed.error.issues, document));
  const problems = findDuplicates(parsed.data);
  if (problems.length > 0) throw new ConfigError(problems);

  const { services = [], plugins, consumers = [] } = document as Record<string, Plain[] | undefined>;
  const putPlugins = (list: Plain[] | undefined, scope: Fields, of: string) => {
    for (const plugin of list ?? [])
      put("plugins", deriveId(`plugins:${of}:${plugin.name}`), { ...plugin, ...scope });
  };
  putPlugins(plugins, {}, "");
  for (const { routes = [], plugins, ...service } of services) {
    const id = deriveId(`services:${service.name}`);
    put("services", id, service);
    putPlugins(plugins, { service: { id } }, String(service.name));
    for (const { plugins, ...route } of routes as Plain[]) {
      const routeId = deriveId(`routes:${route.name}`);
      put("routes", routeId, { ...route, service: { id } });
      putPlugins(plugins, { route: { id: routeId } }, `${service.name}/${route.name}`);
    }
  }
  for (const { id: given, keyauth_credentials: keys = [], plugins, ...consumer } of consumers) {
    const name = String(consumer.username ?? consumer.custom_id);
    const id = given === undefined ? deriveId(`consumers:${name}`) : String(given);
    put("consumers", id, consumer);
    for (const { id: keyId, ...credential } of keys as Plain[]) {
      const derived = deriveId(`keyauth_credentials:${credential.key}`);
      put("key-auths", keyId === undefined ? derived : String(keyId), { ...credential, consumer: { id } });
    }
    putPlugins(plugins, { consumer: { id } }, name);
  }
}
