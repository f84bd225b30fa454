import type { WireRequest } from "./send-request.ts";

/** The request as a line for bash. Keys stand in it as variables such as $TRIBAL_KEY. */
export function formatCurl(origin: string, { method, path, headers, body }: WireRequest): string {
  const words = ["curl -isS -g --path-as-is"];
  if (method === "HEAD") words.push("-I");
  else if (method !== "GET" || body !== undefined) words.push(`-X ${quote(method)}`);
  words.push(quote(origin + path));
  for (const [name, value] of headers) {
    // curl leaves out a header that has no value, unless a semicolon follows its name.
    const line = value === "" ? `${name};` : `${name}: ${value}`;
    words.push(`-H ${/^\$[A-Z_]+$/.test(value) ? `"${line}"` : quote(line)}`);
  }
  if (body !== undefined) words.push(`--data-binary ${quote(body)}`);
  return words.join(" ");
}

/** For bash: as it is between quotes, or with escapes where a byte cannot be printed. */
function quote(text: string): string {
  if (/^[\x20-\x26\x28-\x7e]*$/.test(text)) return `'${text}'`;
  const escaped = text.replace(/[\\']/g, "\\$&").replace(/[^\x20-\x7e]/g, (character) => {
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
  return `$'${escaped}'`;
}
