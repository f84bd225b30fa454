import fc, { type Arbitrary } from "fast-check";
import { createTally, type Finding } from "./finding.ts";
import type { GeneratedRequest } from "./generate-requests.ts";
import { sendRequest, type WireAnswer, type WireRequest } from "./send-request.ts";
import type { Target } from "./target.ts";

interface GeneratedOptions {
  origin: string;
  arbitrary: Arbitrary<GeneratedRequest>;
  requests: number;
  seed: number;
}

const senders = 4;

/**
 * Sends generated requests, and checks each response against rules that hold for all. If a response breaks a rule,
 * shrinks the request to the smallest one whose response still does.
 */
export async function askGenerated(target: Target, options: GeneratedOptions): Promise<Finding> {
  const { origin, arbitrary, requests, seed } = options;
  const statuses = createTally();
  const ask = async ({ key, ...wire }: GeneratedRequest) => {
    const values = { demo: "DEMO_KEY", wrong: "not a key", none: undefined };
    const value = key === "individual" || key === "tribal" ? target.nextKey(key) : values[key];
    const headers: WireRequest["headers"] = value === undefined ? [] : [["x-api-key", value]];
    const sent = { ...wire, headers: [...wire.headers, ...headers] };
    const answer = await sendRequest(origin, sent);
    const fault = judgeAnswer(target, sent, answer, key === "tribal");
    if (fault !== undefined) throw new Error(`${answer.status}: ${fault}`);
    statuses.add(answer.status);
  };
  const outcomes = await Promise.all(
    Array.from({ length: senders }, (_, sender) =>
      fc.check(fc.asyncProperty(arbitrary, ask), {
        seed: seed + sender,
        numRuns: Math.ceil(requests / senders),
      }),
    ),
  );
  const sent = outcomes.reduce((sum, { numRuns }) => sum + numRuns, 0);
  return {
    figures: `${sent.toLocaleString("en-US")} requests, seed ${seed}: ${statuses}`,
    faults: outcomes
      .filter(({ failed }) => failed)
      .map((outcome) => `${outcome.errorInstance}\n${fc.defaultReportMessage(outcome)}`),
  };
}

/** Whether a response means that a part of the service is unavailable. A 503 must also say when to try again. */
export function isUnavailable({ status, headers, body }: WireAnswer): boolean {
  // PostgREST 12 does not know when, if the database has just become unreachable. The body then says it.
  if (status === 503)
    return Number(headers["retry-after"]) > 0
      ? body === "" || body.includes('"code"')
      : body === "" || body.includes("half a minute");
  return status === 504 || (status === 400 && body.includes('"database_unavailable"'));
}

/** Returns what is wrong with a response, or undefined if nothing is. */
function judgeAnswer(
  { databaseUrl, leaks }: Target,
  wire: WireRequest,
  answer: WireAnswer,
  isTribal: boolean,
): string | undefined {
  const { status, headers, body } = answer;
  if (status >= 500 && !(status === 503 && isUnavailable(answer))) return body.slice(0, 300);
  const isWhole = wire.method !== "HEAD" && status !== 304 && status !== 206 && body !== "";
  if (isWhole && /^application\/(\S+\+)?json/.test(String(headers["content-type"]))) {
    try {
      JSON.parse(body);
    } catch (error) {
      return `The body is not valid JSON: ${error}`;
    }
  }
  const request = [wire.path, wire.body, ...wire.headers.flat()].join(" ");
  // A response may repeat what the client sent.
  const known = request.replace(/%([0-7][0-9a-f])/gi, (_, hex) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  const text = `${JSON.stringify(headers)}\n${body}`;
  const suppressed = isTribal ? [] : leaks.findSuppressed(text);
  const hidden = [new URL(databaseUrl).host, ...leaks.findSecrets(text), ...suppressed];
  const leaked = hidden.find((each) => text.includes(each) && !known.includes(each));
  return leaked === undefined
    ? undefined
    : `The response contains ${leaked}, which this client must not see.`;
}
