import type { Answer } from "./send-request.ts";

const numberOf = (text: string | undefined) => (text === undefined ? undefined : Number(text));

/** How many requests a key has left, as an answer's headers say; undefined where the key is not limited so. */
export function readLimits({ headers }: Answer): {
  hour: { left: number; of: number } | undefined;
  day: { left: number; of: number } | undefined;
  /** In the hour and in the day. */
  left: number;
} {
  const read = (span: "hour" | "day") => {
    const left = numberOf(headers[`x-ratelimit-remaining-${span}`]);
    const of = numberOf(headers[`x-ratelimit-limit-${span}`]);
    return left === undefined || of === undefined ? undefined : { left, of };
  };
  const hour = read("hour");
  const day = read("day");
  const left = Math.min(hour?.left ?? Number.POSITIVE_INFINITY, day?.left ?? Number.POSITIVE_INFINITY);
  return { hour, day, left };
}

/** What is left, in words: "27 of 30 requests left this hour, 45 of 50 today"; undefined where nothing is said. */
export function describeLimits(answer: Answer): string | undefined {
  const { hour, day } = readLimits(answer);
  const format = (number: number) => number.toLocaleString("en-US");
  const parts = [
    ...(hour === undefined ? [] : [`${format(hour.left)} of ${format(hour.of)} requests left this hour`]),
    ...(day === undefined
      ? []
      : [`${format(day.left)} of ${format(day.of)} ${hour ? "" : "requests left "}today`]),
  ];
  return parts.length === 0 ? undefined : parts.join(", ");
}

/** Which limit is reached and when it begins anew, in the visitor's own time and zone. */
export function describeRetry(answer: Answer, now = new Date()): string {
  const { hour, day } = readLimits(answer);
  const span = day?.left === 0 ? "day" : hour?.left === 0 ? "hour" : undefined;
  const what =
    span === undefined ? "This key’s requests are used up." : `This ${span}’s requests are used up.`;
  const seconds = Number(answer.headers["retry-after"] ?? Number.NaN);
  if (!Number.isFinite(seconds)) return what;
  const at = new Date(now.getTime() + seconds * 1000).toLocaleString([], {
    weekday: seconds > 43_200 ? "long" : undefined,
    hour: "numeric",
    minute: "2-digit",
    timeZoneName: "short",
  });
  const minutes = Math.ceil(seconds / 60);
  const wait =
    seconds < 90
      ? `${Math.ceil(seconds)} seconds`
      : minutes < 90
        ? `${minutes} minutes`
        : `${Math.round(minutes / 60)} hours`;
  return `${what} There are new ones at ${at}, in ${wait}.`;
}
