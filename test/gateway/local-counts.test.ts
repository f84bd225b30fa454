import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, beforeEach, expect, it } from "vitest";
import {
  issueKey,
  kongProgram,
  readKongYml,
  send,
  startEmbedded,
  startRealKong,
  startUpstream,
  useGateways,
} from "./gateways.ts";

// One gateway counts alone: Kong in a dictionary that its workers share, the embedded gateway in its process.

useGateways();
const limits = { demo: { by: "network", hour: 30, day: 50 }, default: { by: "key", hour: 100 } } as const;
let url: string;
beforeAll(async () => {
  const refused = { "proxy-status": "PostgREST; error=API_KEY_INVALID" };
  const upstream = await startUpstream(({ url }, response) => {
    if (url === "/general?limit=0") response.writeHead(401, refused).end('{"code":"API_KEY_INVALID"}');
    else response.end("[]");
  });
  const config = await readKongYml(({ config }) => Object.assign(config, { limits }));
  ({ url } =
    kongProgram === undefined
      ? await startEmbedded(config, upstream)
      : await startRealKong(config, upstream));
});

// Windows are calendar hours, so a test that starts at the end of one waits for the next.
beforeEach(async () => {
  const left = 3_600_000 - (Date.now() % 3_600_000);
  if (left < 15_000) await sleep(left + 500);
});

/** Sends this many requests, some at a time, and returns how many passed. */
async function countPassed(
  count: number,
  atATime: number,
  key: string,
  path = "/general",
  from = "127.0.0.1",
) {
  let [left, passed] = [count, 0];
  const work = async () => {
    while (left-- > 0) {
      const { status } = await send(url, path, { headers: { "x-api-key": key }, localAddress: from });
      passed += Number(status === 200);
    }
  };
  await Promise.all(Array.from({ length: atATime }, work));
  return passed;
}
const makeKey = () => issueKey(randomBytes(16).toString("hex"));

it.each([1, 4, 24, 100])(
  "exactly as many requests pass as the limits allow, %i at a time",
  async (atATime) => {
    const passed = [
      await countPassed(120, atATime, "DEMO_KEY", "/general", `127.0.2.${atATime}`),
      await countPassed(220, atATime, makeKey()),
    ];
    expect(passed).toEqual([limits.demo.hour, limits.default.hour]);
  },
);

it("requests that are refused for another reason do not count", async () => {
  const key = makeKey();
  for (const path of ["/GENERAL", "/general?limit=x", "/general?select=a,a"])
    expect(await countPassed(5, 1, key, path)).toBe(0);
  expect(await countPassed(120, 4, key)).toBe(limits.default.hour);
});

it("the requests of a key that PostgreSQL does not know are forgotten, so that made-up keys take no memory", async () => {
  const headers = { "x-api-key": makeKey() };
  const remaining = [];
  for (let sent = 0; sent < 3; sent++) {
    const answer = await send(url, "/general?limit=0", { headers });
    remaining.push([answer.status, answer.headers["ratelimit-remaining"]]);
  }
  expect(remaining).toEqual(Array(3).fill([401, String(limits.default.hour - 1)]));
});
