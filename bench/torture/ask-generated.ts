import fc from "fast-check";
import { formatCurl } from "./curl-line.ts";
import type { GeneratedRequest } from "./generate-requests.ts";
import { judgeAnswer, saysWhoIsAway } from "./judge-answer.ts";
import { createTally, type Finding, type PartOptions, type Target } from "./part.ts";
import { type SendOptions, sendRequest, type WireRequest } from "./send-request.ts";

export interface GeneratedOptions extends PartOptions {
  /** By which the requests are made again: `--only <name>`. */
  name: string;
  origin: string;
  arbitrary: fc.Arbitrary<GeneratedRequest>;
  requests: number;
}

/** So many are sent at a time. */
const senders = 4;
const faultsOfASender = 3;
const patience = 70_000;

/** Sends generated requests, and judges each answer by what holds for any. A fault is shrunk to the least request that has it. */
export async function askGenerated(target: Target, options: GeneratedOptions): Promise<Finding> {
  const statuses = createTally();
  const faults: string[] = [];
  const start = performance.now();
  let sent = 0;
  const ask = async (generated: GeneratedRequest) => {
    sent += 1;
    if (sent % 2000 === 0) options.report(`${sent} requests`);
    statuses.add(await askOnce(target, options.origin, generated));
  };
  await Promise.all(
    Array.from({ length: senders }, async (_, sender) => {
      let left = Math.ceil(options.requests / senders);
      for (let turn = 0; left > 0 && turn < faultsOfASender; turn += 1) {
        const seed = options.seed + sender + turn * senders;
        const outcome = await fc.check(fc.asyncProperty(options.arbitrary, ask), { seed, numRuns: left });
        left -= outcome.numRuns;
        if (!outcome.failed) continue;
        const [request] = outcome.counterexample ?? [];
        faults.push(describeFault(options, seed, outcome.errorInstance, request));
      }
    }),
  );
  const seconds = (performance.now() - start) / 1000;
  return {
    figures: `${sent.toLocaleString("en-US")} requests, ${seconds.toFixed(0)} s: ${statuses}`,
    faults,
  };
}

/** @throws Error that says what is wrong with the answer */
async function askOnce(target: Target, origin: string, generated: GeneratedRequest): Promise<string> {
  const { wire, options, isTribal } = withKey(target, generated, target.keys.next);
  const answer = await sendRequest(origin, wire, { ...options, patience });
  const { host } = new URL(target.databaseUrl);
  const fault = judgeAnswer(generated, answer, { leaks: target.leaks, isTribal, addresses: [host] });
  if (fault !== undefined) throw new Error(fault);
  return saysWhoIsAway(answer) ? "503 that says who is away" : String(answer.status);
}

function withKey(
  target: Pick<Target, "baseUrl">,
  { key, ...wire }: GeneratedRequest,
  find: (tier: "individual" | "tribal") => string,
): { wire: WireRequest; options: SendOptions; isTribal: boolean } {
  const values = { demo: "DEMO_KEY", wrong: "a key that is none", none: undefined };
  const value = key === "individual" || key === "tribal" ? find(key) : values[key];
  const headers =
    value === undefined ? wire.headers : [...wire.headers, ["x-api-key", value] as [string, string]];
  return {
    wire: { ...wire, headers },
    options: { localAddress: chooseAddress(target, key) },
    isTribal: key === "tribal",
  };
}

/** The demonstration key is limited by address: on this machine each use comes from another one. */
function chooseAddress({ baseUrl }: Pick<Target, "baseUrl">, key: string): string | undefined {
  if (key !== "demo" || !new URL(baseUrl).hostname.startsWith("127.")) return undefined;
  const number = () => 1 + Math.floor(Math.random() * 250);
  return `127.${number()}.${number()}.${number()}`;
}

function describeFault(
  { name, origin }: GeneratedOptions,
  seed: number,
  error: unknown,
  request: GeneratedRequest | undefined,
): string {
  const message = error instanceof Error ? error.message : String(error);
  if (request === undefined) return `${message} (--only ${name} --seed ${seed})`;
  const { wire } = withKey({ baseUrl: origin }, request, (tier) => `$${tier.toUpperCase()}_KEY`);
  return `${message}\n  npm run torture -- --only ${name} --seed ${seed}\n  ${formatCurl(origin, wire)}`;
}
