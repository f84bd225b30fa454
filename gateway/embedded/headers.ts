/** Headers by lowercase name, in the order received. Each character of a value is a byte (latin1), as in node:http. */
export type Headers = Map<string, { name: string; values: string[] }>;

/** Reads `rawHeaders` of node:http. */
export function readHeaders(raw: readonly string[]): Headers {
  const headers: Headers = new Map();
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const [name = "", value = ""] = [raw[i], raw[i + 1]];
    const known = headers.get(name.toLowerCase());
    if (known) known.values.push(value);
    else headers.set(name.toLowerCase(), { name, values: [value] });
  }
  return headers;
}

/** Returns the value of the first header with this lowercase name. */
export function getHeader(headers: Headers, name: string): string | undefined {
  return headers.get(name)?.values[0];
}

/** Replaces all headers with this name by one. */
export function setHeader(headers: Headers, name: string, value: string | number): void {
  headers.set(name.toLowerCase(), { name, values: [String(value)] });
}

/** Lists names and values alternately, as node:http expects. */
export function flattenHeaders(headers: Headers): string[] {
  const flat: string[] = [];
  for (const { name, values } of headers.values()) for (const value of values) flat.push(name, value);
  return flat;
}
