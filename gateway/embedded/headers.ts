/**
 * Header lines by their names in lower case, in the order in which they came. Values hold one character a byte (latin1), as
 * node:http reads and writes them.
 */
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

/** The value of the first line of that name, which is in lower case. */
export function getHeader(headers: Headers, name: string): string | undefined {
  return headers.get(name)?.values[0];
}

/** Leaves exactly one line of that name. */
export function setHeader(headers: Headers, name: string, value: string | number): void {
  headers.set(name.toLowerCase(), { name, values: [String(value)] });
}

/** Names and values in turn, as node:http takes them. */
export function flattenHeaders(headers: Headers): string[] {
  return [...headers.values()].flatMap(({ name, values }) => values.flatMap((value) => [name, value]));
}
