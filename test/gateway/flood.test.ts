import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { readTreeTime } from "../support/read-cpu-time.ts";
import type { RunningKong } from "../support/start-kong.ts";
import type { WireAnswer } from "../torture/send-request.ts";
import {
  issueKey,
  kongProgram,
  readKongYml,
  send,
  startRealKong,
  startUpstream,
  useGateways,
} from "./gateways.ts";

// nginx counts a client's requests, and the plugin refuses those over the limit of gateway/kong.env. Needs real Kong (KONG_BIN):
// the embedded gateway has no such limit.

useGateways();
const isPossible = kongProgram !== undefined;
/** The limit in kong.env. */
const burst = 1000;
/** Requests a second after the burst: so few that a slow machine can send more. */
const rate = 10;
const limitRequests = (perSecond: number) => ({
  KONG_NGINX_HTTP_LIMIT_REQ_ZONE: `$http_x_client_network zone=addresses:10m rate=${perSecond}r/s`,
});
const makeKey = () => issueKey(randomBytes(16).toString("hex"));
let upstream: string;
beforeAll(async () => {
  if (!isPossible) return;
  upstream = await startUpstream((_, outgoing) => void outgoing.end("[]"));
});

const ask = (url: string, localAddress: string, path = "/general", key = makeKey()) =>
  send(url, path, { localAddress, headers: { "x-api-key": key } });

/** Sends this many requests, 16 at a time, each with another key. */
async function flood(url: string, count: number, localAddress: string, path?: string): Promise<WireAnswer[]> {
  const answers: WireAnswer[] = [];
  let left = count;
  const work = async () => {
    while (left-- > 0) answers.push(await ask(url, localAddress, path));
  };
  await Promise.all(Array.from({ length: 16 }, work));
  return answers;
}
const countStatus = (answers: WireAnswer[], expected: number) =>
  answers.filter(({ status }) => status === expected).length;

function expectRefusal({ status, headers, body }: WireAnswer, code: string): void {
  expect([status, headers["retry-after"], headers["proxy-status"]]).toEqual([
    429,
    "1",
    `Gateway; error=${code}`,
  ]);
  expect(JSON.parse(body).code).toBe(code);
}

// With a shared socket, the worker that wakes first accepts all connections, so the gateway uses one core.
it.skipIf(!isPossible)("each worker has a socket of its own for new connections", async () => {
  const { port } = await startRealKong(await readKongYml(), upstream);
  const listening = new RegExp(
    `: 0100007F:${port.toString(16).toUpperCase().padStart(4, "0")} \\S+ 0A `,
    "g",
  );
  await expect.poll(async () => (await readFile("/proc/net/tcp", "utf8")).match(listening)?.length).toBe(2);
});

describe.skipIf(!isPossible)("a flood of requests", () => {
  const [flooding, other] = ["127.0.2.1", "127.0.2.2"];

  it("with made-up keys is refused, while another address is served", async () => {
    const { url } = await startRealKong(await readKongYml(), upstream, [], limitRequests(rate));
    const start = performance.now();
    const flooded = flood(url, 2 * burst, flooding);
    const served = [];
    for (let count = 0; count < 50; count += 1) served.push(await ask(url, other));
    expect(countStatus(served, 200)).toBe(50);
    const answers = await flooded;
    const seconds = (performance.now() - start) / 1000;
    const refused = answers.filter(({ status }) => status !== 200);
    expect(countStatus(answers, 200)).toBeGreaterThanOrEqual(burst);
    expect(countStatus(answers, 200)).toBeLessThanOrEqual(burst + 1 + rate * seconds);
    expect(refused.length).toBeGreaterThan(0);
    for (const answer of refused) expectRefusal(answer, "too_many_requests_from_address");
    expect((await ask(url, other)).status).toBe(200);
  });

  describe("over the limit", () => {
    const requests = 300;
    let gateway: RunningKong;
    beforeAll(async () => {
      gateway = await startRealKong(await readKongYml(), upstream, [], limitRequests(1));
      await flood(gateway.url, burst + 200, flooding);
    });

    /** Sends requests, all of which must get this status. Returns the CPU milliseconds for each of them. */
    async function measure(localAddress: string, path: string, status: number): Promise<number> {
      const before = readTreeTime(gateway.pid);
      const answers = await flood(gateway.url, requests, localAddress, path);
      const time = (readTreeTime(gateway.pid) - before) / requests;
      expect(countStatus(answers, status)).toBeGreaterThan(0.95 * requests);
      return time;
    }

    // Each query comes from an address of its own, which stays below the burst.
    it.each([
      ["a short query", "127.0.2.11", "/general?report_id=eq.2023-06-GSAFAC-0000000001", 200],
      [
        "a long query",
        "127.0.2.12",
        `/general?report_id=in.(${"2023-06-GSAFAC-0000000001,".repeat(1000)}a)`,
        200,
      ],
      ["a query that is too costly", "127.0.2.13", `/general?or=(${"a.eq.1,".repeat(4500)}a.eq.1)`, 400],
    ])("costs less CPU time than %s below it", { retry: 2 }, async (_, address, path, status) => {
      const below = await measure(address, path, status);
      expect(await measure(flooding, path, 429)).toBeLessThan(below);
    });
  });
});
