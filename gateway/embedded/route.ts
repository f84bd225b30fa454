import { isUtf8 } from "node:buffer";
import { getHeader, type Headers } from "./headers.ts";
import type { Route } from "./read-config.ts";

/** Finds the route that matches the most headers, as Kong does. Kong's router rejects paths that are not UTF-8. */
export function matchRoute(routes: readonly Route[], path: string, headers: Headers): Route | undefined {
  const hasValue = ([name, values]: [string, string[]]) =>
    values.some((value) => value === getHeader(headers, name)?.toLowerCase());
  const matches = ({ headers }: Route) => Object.entries(headers).every(hasValue);
  const countHeaders = ({ headers }: Route) => Object.keys(headers).length;
  if (!isUtf8(Buffer.from(path, "latin1"))) return undefined;
  return routes.filter(matches).sort((a, b) => countHeaders(b) - countHeaders(a))[0];
}
