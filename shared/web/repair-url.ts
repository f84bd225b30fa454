/**
 * Makes a URL decodable. Reads bytes that are not UTF-8 as Windows-1252, which old pages and programs use in addresses. Keeps a percent
 * sign that begins no byte.
 */
export function repairUrl(url: string): string {
  return url.replace(/(?:%[0-9a-f]{2})+/gi, repairBytes).replace(/%(?![0-9a-f]{2})/gi, "%25");
}

const windows1252 = new TextDecoder("windows-1252");

function repairBytes(escaped: string): string {
  try {
    decodeURIComponent(escaped);
    return escaped;
  } catch {
    return encodeURIComponent(windows1252.decode(Buffer.from(escaped.replaceAll("%", ""), "hex")));
  }
}
