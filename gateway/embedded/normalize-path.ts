import { posix } from "node:path";

/** Characters that stay percent-encoded, because an encoded "/" differs from a "/". */
const RESERVED = new Set("!*'();:@&=+$,/?%#[]");

/**
 * Returns the path that Kong matches against routes: unreserved characters decoded, dot segments resolved, slashes
 * merged (Kong 3.9, `kong/tools/uri.lua`: `normalize(uri, true)`). Returns undefined for a path that nginx refuses.
 */
export function normalizePath(path: string): string | undefined {
  const decoded = path.replace(/%[0-9a-f]{2}/gi, (triplet) => {
    const char = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
    return RESERVED.has(char) ? triplet.toUpperCase() : char;
  });
  const isMalformed = !path.startsWith("/") || decoded.includes("\0") || /%(?![0-9a-f]{2})/i.test(path);
  // nginx decodes slashes before it resolves dot segments.
  const fromRoot = posix.normalize(`.${decoded.replaceAll("%2F", "/")}`);
  if (isMalformed || /^\.\.(\/|$)/.test(fromRoot)) return undefined;
  return posix.normalize(decoded.replace(/\/\.\.?$/, "$&/"));
}
