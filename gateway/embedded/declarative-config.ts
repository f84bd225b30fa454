import { createHash } from "node:crypto";
import { parseDocument } from "yaml";
import { ConfigError, describeIssues } from "./config-error.ts";
import {
  type ConsumerEntry,
  type DocumentEntry,
  documentSchema,
  type ServiceEntry,
} from "./document-schema.ts";
import { findDuplicates } from "./find-duplicates.ts";
import { orderRoutes, type Route, type Upstream } from "./match-route.ts";
import { PLUGINS } from "./plugins/index.ts";
import type { Consumer, Identity, PluginHandler, PluginScope } from "./plugins/plugin.ts";

/** A document, ready to serve requests. Never changed: a new document makes a new one. */
export interface GatewayConfig {
  hash: string;
  routes: readonly Route[];
  globalPlugins: ReadonlyMap<string, PluginHandler>;
  credentials: ReadonlyMap<string, Identity>;
}

/** What runs before any document came: nothing matches. */
export const EMPTY_CONFIG: GatewayConfig = {
  hash: "0".repeat(32),
  routes: [],
  globalPlugins: new Map(),
  credentials: new Map(),
};

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

export function hashDocument(document: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify(document) ?? "")
    .digest("hex")
    .slice(0, 32);
}

/**
 * Reads and checks a declarative document of Kong (format 3.0).
 * @throws ConfigError naming everything in it that is wrong or that only Kong implements.
 */
export function loadConfig(document: unknown): GatewayConfig {
  const parsed = documentSchema.safeParse(document);
  if (!parsed.success) throw new ConfigError(describeIssues(parsed.error.issues, document));
  const problems = findDuplicates(parsed.data);
  if (problems.length > 0) throw new ConfigError(problems);

  const globalPlugins = createHandlers(parsed.data.plugins, {});
  return {
    hash: hashDocument(document),
    globalPlugins,
    routes: orderRoutes(parsed.data.services.flatMap((service) => createRoutes(service, globalPlugins))),
    credentials: new Map(parsed.data.consumers.flatMap(createIdentities)),
  };
}

function createHandlers(entries: DocumentEntry["plugins"], scope: PluginScope): Map<string, PluginHandler> {
  const handlers = new Map<string, PluginHandler>();
  for (const entry of entries) {
    const plugin = PLUGINS.find((plugin) => plugin.name === entry.name);
    if (plugin && entry.enabled) handlers.set(entry.name, plugin.create(entry.config, scope));
  }
  return handlers;
}

/** One for each path of each route. A route's plugin replaces the service's, and that the global one. */
function createRoutes(service: ServiceEntry, globalPlugins: Map<string, PluginHandler>): Route[] {
  const servicePlugins = createHandlers(service.plugins, { service: service.name });
  return service.routes.flatMap((route) => {
    const routePlugins = createHandlers(route.plugins, { route: route.name });
    const paths: (string | undefined)[] = route.paths ?? [undefined];
    return paths.map((path) => ({
      name: route.name,
      service: service.name,
      path,
      methods: route.methods && new Set(route.methods),
      stripPath: route.strip_path,
      preserveHost: route.preserve_host,
      upstream: createUpstream(service),
      plugins: new Map([...globalPlugins, ...servicePlugins, ...routePlugins]),
    }));
  });
}

function createUpstream(service: ServiceEntry): Upstream {
  const url = service.url === undefined ? undefined : new URL(service.url);
  return {
    host: url ? url.hostname.replace(/^\[|\]$/g, "") : (service.host ?? ""),
    port: url ? Number(url.port || 80) : (service.port ?? 80),
    path: url ? url.pathname : (service.path ?? "/"),
    connectTimeout: service.connect_timeout,
    readTimeout: service.read_timeout,
    writeTimeout: service.write_timeout,
    retries: service.retries,
  };
}

function createIdentities(entry: ConsumerEntry): [key: string, identity: Identity][] {
  const name = entry.username ?? entry.custom_id ?? "";
  const consumer: Consumer = {
    id: () => entry.id ?? deriveId(`consumers:${name}`),
    name,
    username: entry.username,
    customId: entry.custom_id,
    plugins: createHandlers(entry.plugins, { consumer: name }),
  };
  return entry.keyauth_credentials.map(({ id, key }) => [
    key,
    { consumer, credentialId: () => id ?? deriveId(`keyauth_credentials:${key}`) },
  ]);
}

/** The same name has the same id in every document, so that counters survive a reload. */
function deriveId(name: string): string {
  const hex = createHash("sha256").update(name).digest("hex");
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
