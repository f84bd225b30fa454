import { isUtf8 } from "node:buffer";
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

export interface Route {
  name: string;
  /** Each is a prefix of text, not of segments. */
  paths: string[];
  /** Of each header the values of which it must have one. */
  headers: Record<string, string[]>;
  service: Service;
  plugins: Plugin[];
}

/** Kong's order: routes that ask for more headers first, then those with longer paths. */
export function orderRoutes(routes: Route[]): Route[] {
  const weigh = ({ headers, paths }: Route) =>
    Object.keys(headers).length * 1e6 + Math.max(...paths.map((it) => it.length));
  return routes.sort((a, b) => weigh(b) - weigh(a));
}

/** `routes` in the order of `orderRoutes`; `path` normalized. Kong's router knows no path that is not UTF-8. */
export function matchRoute(routes: readonly Route[], path: string, headers: Headers): Route | undefined {
  const hasValue = ([name, values]: [string, string[]]) => {
    const value = getHeader(headers, name.toLowerCase())?.toLowerCase();
    return values.some((it) => it.toLowerCase() === value);
  };
  if (!isUtf8(Buffer.from(path, "latin1"))) return undefined;
  return routes.find(
    (route) => route.paths.some((it) => path.startsWith(it)) && Object.entries(route.headers).every(hasValue),
  );
}
