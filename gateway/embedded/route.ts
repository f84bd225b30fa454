import { getHeader, type Headers } from "./headers.ts";
import type { Plugin } from "./plugin.ts";

/** Where requests go, with Kong's names. Times in milliseconds. */
export interface Service {
  name: string;
  url: string;
  connect_timeout: number;
  read_timeout: number;
  write_timeout: number;
  retries: number;
}

/** A route with one of its paths, which is a prefix of text, not of segments. */
export interface Route {
  name: string;
  path: string;
  /** Values of which the header must have one. */
  headers: Record<string, string[]>;
  service: Service;
  plugins: Plugin[];
}

/** Kong's order: routes that ask for headers first, those that ask for more of them before others, then longer paths. */
export function orderRoutes(routes: Route[]): Route[] {
  const count = ({ headers }: Route) => Object.keys(headers).length;
  return routes.sort((a, b) => count(b) - count(a) || b.path.length - a.path.length);
}

/** `routes` in the order of `orderRoutes`; `path` normalized. */
export function matchRoute(routes: readonly Route[], path: string, headers: Headers): Route | undefined {
  return routes.find(
    (route) =>
      path.startsWith(route.path) &&
      Object.entries(route.headers).every(([name, values]) => {
        const value = getHeader(headers, name.toLowerCase())?.toLowerCase();
        return values.some((it) => it.toLowerCase() === value);
      }),
  );
}
