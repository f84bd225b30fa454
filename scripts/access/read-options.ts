import { InvalidArgumentError } from "commander";
import { UsageError } from "./describe-error.ts";

/** A day such as 2027-01-31, as the time at which it begins in UTC. */
export function readDay(text: string): string {
  const time = new Date(`${text}T00:00:00Z`);
  if (
    !/^\d{4}-\d\d-\d\d$/.test(text) ||
    Number.isNaN(time.getTime()) ||
    !time.toISOString().startsWith(text)
  ) {
    throw new InvalidArgumentError("It must be a day such as 2027-01-31.");
  }
  return time.toISOString();
}

/** A length of time such as 7d, as a PostgreSQL interval. */
export function readDuration(text: string): string {
  const [, count, unit = "m"] = /^(\d{1,4})(d|h|m)$|^0$/.exec(text) ?? [];
  if (count === undefined && text !== "0") {
    throw new InvalidArgumentError("It must be a length of time such as 7d, 12h or 30m, or 0.");
  }
  return `${count ?? 0} ${{ d: "days", h: "hours", m: "minutes" }[unit]}`;
}

/**
 * What names a key.
 *
 * @throws UsageError at a whole key, which has no place on a command line and is not repeated in the message
 */
export function readKeyReference(text: string): string {
  // An ID has 36 characters; each key has more.
  if (text.length > 36) {
    throw new UsageError(
      "This is neither an ID nor the beginning of a key. If it is a whole key, pass it to verify on standard input to learn its ID.",
    );
  }
  return text;
}
