import type { Fields } from "../entity-defaults.ts";
import { orderRoutes, type Route, type Upstream } from "./match-route.ts";
import { PLUGINS } from "./plugins/index.ts";
import type { Identity, PluginHandler, PluginScope } from "./plugins/plugin.ts";

/** What requests are served by. */
export interface GatewayConfig {
  routes: readonly Route[];
  globalPlugins: ReadonlyMap<string, PluginHandler>;
  /** By key, as it stands in the credential. Changes in place. */
  credentials: ReadonlyMap<string, Identity>;
}

/** An entity as the Admin API shows it, and a plugin's configuration as the plugin reads it. */
export interface StoredEntity {
  fields: Fields & { id: string };
  config: unknown;
}

type Collection = Iterable<StoredEntity>;

/** Makes the routes anew. They are few; consumers and credentials are not among them. */
export function buildConfig(
  { services, routes, plugins }: { services: Collection; routes: Collection; plugins: Collection },
  credentials: GatewayConfig["credentials"],
): GatewayConfig {
  const scoped = [...plugins].filter(({ fields }) => fields.consumer === null);
  const pluginsOf = (kind: "service" | "route", id: string, scope: PluginScope) =>
    createHandlers(
      scoped.filter(({ fields }) => refersTo(fields[kind], id)),
      scope,
    );
  const globalPlugins = createHandlers(
    scoped.filter(({ fields }) => fields.service === null && fields.route === null),
    {},
  );
  const built: Route[] = [];
  for (const { fields: service } of services) {
    const name = String(service.name);
    const servicePlugins = pluginsOf("service", service.id, { service: name });
    const upstream = createUpstream(service);
    for (const { fields: route } of routes) {
      if (!refersTo(route.service, service.id)) continue;
      const routePlugins = pluginsOf("route", route.id, { route: String(route.name) });
      const methods = route.methods as string[] | null;
      // One for each path. A route's plugin replaces the service's, and that the global one.
      for (const path of (route.paths as string[] | null) ?? [undefined]) {
        built.push({
          name: String(route.name),
          service: name,
          path,
          methods: methods === null ? undefined : new Set(methods),
          stripPath: route.strip_path === true,
          preserveHost: route.preserve_host === true,
          upstream,
          plugins: new Map([...globalPlugins, ...servicePlugins, ...routePlugins]),
        });
      }
    }
  }
  return { routes: orderRoutes(built), globalPlugins, credentials };
}

export function createHandlers(
  entities: Iterable<StoredEntity>,
  scope: PluginScope,
): Map<string, PluginHandler> {
  const handlers = new Map<string, PluginHandler>();
  for (const { fields, config } of entities) {
    const plugin = PLUGINS.find(({ name }) => name === fields.name);
    if (plugin && fields.enabled === true) handlers.set(plugin.name, plugin.create(config, scope));
  }
  return handlers;
}

function refersTo(reference: unknown, id: string): boolean {
  return (reference as { id: string } | null)?.id === id;
}

function createUpstream(service: Fields): Upstream {
  return {
    host: String(service.host).replace(/^\[|\]$/g, ""),
    port: Number(service.port),
    path: service.path === null ? "/" : String(service.path),
    connectTimeout: Number(service.connect_timeout),
    readTimeout: Number(service.read_timeout),
    writeTimeout: Number(service.write_timeout),
    retries: Number(service.retries),
  };
}
