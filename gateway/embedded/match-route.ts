import type { PluginHandler } from "./plugins/plugin.ts";

/** Where a service is. Times in milliseconds. */
export interface Upstream {
  host: string;
  port: number;
  path: string;
  connectTimeout: number;
  readTimeout: number;
  writeTimeout: number;
  retries: number;
}

/** A route with one of its paths. */
export interface Route {
  name: string;
  service: string;
  path: string | undefined;
  methods: ReadonlySet<string> | undefined;
  stripPath: boolean;
  preserveHost: boolean;
  upstream: Upstream;
  /** Those of route, service and document; a consumer's replace them by name. */
  plugins: ReadonlyMap<string, PluginHandler>;
}

/** Kong's order: routes that say more (path and methods) first, then longer paths, then as written. */
export function orderRoutes(routes: Route[]): Route[] {
  const weight = (route: Route) => Number(route.path !== undefined) + Number(route.methods !== undefined);
  const length = (route: Route) => route.path?.length ?? 0;
  return routes.sort((a, b) => weight(b) - weight(a) || length(b) - length(a));
}

/** `routes` in the order of `orderRoutes`; `path` normalised. A path is a prefix of text, not of segments. */
export function matchRoute(routes: readonly Route[], method: string, path: string): Route | undefined {
  return routes.find(
    (route) =>
      (route.methods?.has(method) ?? true) && (route.path === undefined || path.startsWith(route.path)),
  );
}

/** Kong's join of service path and request path (`path_handling: v0`). `path` normalised. */
export function buildUpstreamPath(route: Route, path: string): string {
  const base = route.upstream.path;
  const endsInSlash = base.endsWith("/");
  if (!route.stripPath || route.path === undefined) {
    if (endsInSlash) return base + path.slice(1);
    return path === "/" ? base : base + path;
  }
  const rest = path.slice(route.path.length);
  if (rest === "") {
    if (base === "/") return "/";
    if (path.length > 1 && path.endsWith("/")) return endsInSlash ? base : `${base}/`;
    return endsInSlash ? base.slice(0, -1) : base;
  }
  const trimmed = rest.startsWith("/") ? rest.slice(1) : rest;
  return `${endsInSlash ? base : `${base}/`}${trimmed}`;
}
