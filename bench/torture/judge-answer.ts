import type { LeakWatch } from "./leak-watch.ts";
import type { WireAnswer, WireRequest } from "./send-request.ts";

/** What is known of who asked, and of what no answer may hold. */
export interface JudgeOptions {
  leaks: LeakWatch;
  /** Whether the key sees suppressed submissions. */
  isTribal: boolean;
  /** Host and port of what stands behind, which clients need not know. */
  addresses: string[];
}

/** Whether an answer says that a part of the service is away, and when to come back. */
export function saysWhoIsAway({ status, headers, body }: WireAnswer): boolean {
  return (
    status === 503 && Number(headers["retry-after"]) > 0 && (body === "" || readCode(body) !== undefined)
  );
}

/**
 * Judges an answer by rules that hold whatever was asked.
 *
 * @returns what is wrong with it; undefined if nothing is
 */
export function judgeAnswer(
  wire: WireRequest,
  answer: WireAnswer,
  { leaks, isTribal, addresses }: JudgeOptions,
): string | undefined {
  const { status, headers, body } = answer;
  if (status >= 500 && !saysWhoIsAway(answer)) return `${status}: ${body.slice(0, 300)}`;
  const type = String(headers["content-type"] ?? "");
  const isWhole = wire.method !== "HEAD" && status !== 304 && status !== 206;
  if (isWhole && body !== "" && /^application\/(json|openapi\+json|vnd\.pgrst\.object\+json)/.test(type)) {
    try {
      JSON.parse(body);
    } catch (error) {
      return `${status}: its JSON cannot be read: ${String(error)}`;
    }
  }
  const asked = decodeLoosely(wire.path + (wire.body ?? "") + wire.headers.join());
  const text = `${JSON.stringify(headers)}\n${body}`;
  const shown = addresses.find((address) => text.includes(address) && !asked.includes(address));
  if (shown !== undefined) return `${status}: it tells the address ${shown}`;
  if (isTribal) return undefined;
  const leaked = leaks.findSuppressed(text).find((word) => !asked.includes(word));
  return leaked === undefined ? undefined : `${status}: it tells the suppressed value ${leaked}`;
}

function readCode(body: string): unknown {
  try {
    return JSON.parse(body).code;
  } catch {
    return undefined;
  }
}

/** Echoes of what was asked are no leak. */
function decodeLoosely(text: string): string {
  return text.replace(/%([0-7][0-9a-f])/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
}
