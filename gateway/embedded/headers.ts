/** Values by lowercase name, in the order received. Each character of a value is a byte (latin1), as in node:http. */
export type Headers = Map<string, string[]>;

/** Reads names and values that alternate, as in `rawHeaders` of node:http. */
export function readHeaders(raw: readonly string[]): Headers {
  const headers: Headers = new Map();
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const [name = "", value = ""] = [raw[i]?.toLowerCase(), raw[i + 1]];
    const known = headers.get(name);
    if (known) known.push(value);
    else headers.set(name, [value]);
  }
  return headers;
}

/** Returns the first value of the header with this lowercase name. */
export function getHeader(headers: Headers, name: string): string | undefined {
  return headers.get(name)?.[0];
}

/** Replaces headers by those with these lowercase names. Removes a header whose value is false. */
export function setHeaders(headers: Headers, values: Record<string, string | number | false>): void {
  for (const [name, value] of Object.entries(values)) {
    if (value === false) headers.delete(name);
    else headers.set(name, [String(value)]);
  }
}

/** Lists names and values alternately, as node:http expects. */
export function flattenHeaders(headers: Headers): string[] {
  const flat: string[] = [];
  for (const [name, values] of headers) for (const value of values) flat.push(name, value);
  return flat;
}
