import { InvalidArgumentError } from "commander";
import { UsageError } from "./program.ts";

/** Whether a text is a day such as 2027-01-31. */
export function isDay(text: string): boolean {
  const time = new Date(`${text}T00:00:00Z`);
  return /^\d{4}-/.test(text) && !Number.isNaN(time.getTime()) && time.toISOString().startsWith(`${text}T`);
}

/** Reads a day. */
export function readDay(text: string): string {
  if (isDay(text)) return text;
  throw new InvalidArgumentError("Enter a date such as 2027-01-31.");
}

/** Reads how many rows to print. */
export function readCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Enter a number such as 100.");
}

/** Reads a duration such as 7d, as a PostgreSQL interval. */
export function readDuration(text: string): string {
  if (text === "0") return "0";
  const [, count, unit = "m"] = /^(\d{1,4})(d|h|m)$/.exec(text) ?? [];
  if (count !== undefined) return `${count} ${{ d: "days", h: "hours", m: "minutes" }[unit]}`;
  throw new InvalidArgumentError("Enter a duration such as 7d, 12h or 30m, or 0.");
}

/**
 * Reads a key's ID, prefix or the first characters of its ID.
 *
 * @throws UsageError for a whole key, because process lists show command lines. The message does not repeat the key
 */
export function readKeyReference(text: string): string {
  // An ID has 36 characters, and each key has more.
  if (text.length <= 36) return text;
  throw new UsageError(
    "The argument is too long for a key's ID or prefix. If it is a whole key, pipe it into the verify command to find its ID.",
  );
}
