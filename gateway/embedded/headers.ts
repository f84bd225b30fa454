/**
 * Header lines in the order and case in which they came, so that several lines of one name survive.
 * Values hold one character a byte (latin1), as node:http reads and writes them.
 */
export type HeaderList = [name: string, value: string][];

/** Pairs up `rawHeaders` of node:http. */
export function readRawHeaders(raw: readonly string[]): HeaderList {
  const headers: HeaderList = [];
  for (let i = 0; i + 1 < raw.length; i += 2) headers.push([raw[i] ?? "", raw[i + 1] ?? ""]);
  return headers;
}

/** The values of every line of that name. */
export function getHeaders(headers: HeaderList, name: string): string[] {
  const wanted = name.toLowerCase();
  return headers.filter((line) => line[0].toLowerCase() === wanted).map((line) => line[1]);
}

/** The value of the first line of that name. */
export function getHeader(headers: HeaderList, name: string): string | undefined {
  const wanted = name.toLowerCase();
  return headers.find((line) => line[0].toLowerCase() === wanted)?.[1];
}

export function removeHeader(headers: HeaderList, name: string): void {
  const wanted = name.toLowerCase();
  for (let i = headers.length - 1; i >= 0; i--) {
    if (headers[i]?.[0].toLowerCase() === wanted) headers.splice(i, 1);
  }
}

/** Leaves exactly one line of that name. Control characters are escaped, as nginx does (`%0D%0A`). */
export function setHeader(headers: HeaderList, name: string, value: string): void {
  removeHeader(headers, name);
  headers.push([name, escapeControls(value)]);
}

function escapeControls(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  return value.replace(/[\x00-\x08\x0a-\x1f\x7f]/g, (char) => {
    return `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
  });
}
