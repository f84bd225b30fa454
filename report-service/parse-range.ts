/**
 * Reads a Range header for a file (RFC 9110, 14.2).
 *
 * @returns the first and the last byte; `whole` where the header is to be ignored; `outside` where no byte of the
 * file is asked for
 */
export function parseRange(
  header: string | undefined,
  bytes: number,
): { start: number; end: number } | "whole" | "outside" {
  // Several ranges in one request may be answered with the whole file.
  const [, first, last] = /^bytes=([0-9]{0,15})-([0-9]{0,15})$/.exec(header ?? "") ?? [];
  if (first === undefined || last === undefined || (first === "" && last === "")) return "whole";
  if (first === "") {
    const suffix = Number(last);
    return suffix === 0 || bytes === 0 ? "outside" : { start: Math.max(0, bytes - suffix), end: bytes - 1 };
  }
  const start = Number(first);
  const end = last === "" ? bytes - 1 : Math.min(Number(last), bytes - 1);
  if (last !== "" && Number(last) < start) return "whole";
  return start >= bytes ? "outside" : { start, end };
}
