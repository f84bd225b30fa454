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
  const segments: string[] = [];
  const parts = decoded.split("/").slice(1);
  for (const part of parts) {
    if (part === "..") segments.pop();
    if (!/^\.{0,2}$/.test(part)) segments.push(part);
  }
  if (/^\.{0,2}$/.test(parts.at(-1) ?? "")) segments.push("");
  let depth = 0;
  // nginx decodes slashes before it resolves dot segments.
  const isAboveRoot = decoded.split(/\/|%2F/).some((part) => {
    if (part !== "" && part !== ".") depth += part === ".." ? -1 : 1;
    return depth < 0;
  });
  const isReadable = path.startsWith("/") && !decoded.includes("\0") && !/%(?![0-9a-f]{2})/i.test(path);
  return isReadable && !isAboveRoot ? `/${segments.join("/")}` : undefined;
}

/** Percent-encodes a normalized path for the request line (`escape` in the same Kong module). */
export function escapePath(path: string): string {
  return path.replace(/[^!#$&'()*+,/:;=?@[\\\]A-Za-z\d\-_.~%]/g, (char) => {
    return `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
  });
}
