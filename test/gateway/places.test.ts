import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { luaPluginsDirectory } from "../../gateway/embedded/lua-plugin.ts";
import { runLua } from "../../gateway/embedded/lua-state.ts";
import type { WireAnswer } from "../torture/send-request.ts";
import {
  hash,
  issueKey,
  openRequest,
  readKongYml,
  send,
  startGateway,
  startUpstream,
  useGateways,
} from "./gateways.ts";

// How many requests are in progress at a time, and how others wait (gateway/plugins/single-audit/places.lua).

useGateways();
const [ofKey, ofNetwork, ofDemo, slow, all, mostWaiting] = [2, 3, 3, 5, 6, 100];
const makeKey = () => issueKey(randomBytes(16).toString("hex"));
let host = 1;
/** An address that no other test uses. */
const makeAddress = () => `127.0.3.${host++}`;

let url: string;
/** Of a gateway whose requests wait only a second. */
let hastyUrl: string;
/** Requests that the upstream has not answered, by key. */
const held: { key: unknown; answer: (status?: number, body?: object) => void }[] = [];
let holds = false;
beforeAll(async () => {
  const upstream = await startUpstream((incoming, response) => {
    const answer = (status = 200, body: object = []) =>
      response
        .writeHead(status, { ...(status === 401 && { "proxy-status": "PostgREST; error=API_KEY_INVALID" }) })
        .end(JSON.stringify(body));
    if (incoming.url?.startsWith("/large")) return void response.end("x".repeat(30_000_000));
    if (!holds) return answer();
    held.push({ key: incoming.headers["x-api-key-sha256"], answer });
  });
  const start = async (longest_wait: number) => {
    const config = await readKongYml(({ config }) => {
      Object.assign(config, { longest_wait, most_waiting: mostWaiting });
      config.at_a_time = { key: ofKey, network: ofNetwork, shared_key: ofDemo, all, unread: 24 };
    });
    return (await startGateway(config, upstream)).url;
  };
  [url, hastyUrl] = [await start(30), await start(1)];
});
beforeEach(() => {
  holds = false;
  return releaseAll();
});

const lookup = "/general?report_id=eq.2023-06-GSAFAC-0000000001";
const ask = (localAddress: string, key: string, gateway = url, path = "/general") =>
  send(gateway, path, { localAddress, headers: { "x-api-key": key } });
/** Makes PostgreSQL's answer known: it has accepted the key. */
async function makeKnownKey(gateway = url): Promise<string> {
  const key = makeKey();
  holds = false;
  expect((await ask("127.0.4.1", key, gateway)).status).toBe(200);
  return key;
}
/** Sends requests that the upstream does not answer yet. */
function sendMany(
  count: number,
  address: string,
  key: string,
  gateway = url,
  path?: string,
): Promise<WireAnswer>[] {
  holds = true;
  return Array.from({ length: count }, () => ask(address, key, gateway, path));
}
async function releaseAll(): Promise<void> {
  for (const { answer } of held.splice(0)) answer();
}
async function releaseUntil(answers: Promise<WireAnswer>[]): Promise<WireAnswer[]> {
  let isOver = false;
  const all = Promise.all(answers).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await releaseAll();
    await sleep(5);
  }
  return all;
}
const remaining = ({ headers }: WireAnswer) => Number(headers["x-ratelimit-remaining-hour"]);

describe("requests at a time", () => {
  it("of a key wait for each other, and all are answered", async () => {
    const [address, key] = [makeAddress(), await makeKnownKey()];
    const answers = sendMany(40, address, key);
    await expect.poll(() => held.length).toBe(ofKey);
    await sleep(300);
    expect(held.length).toBe(ofKey);
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, held.length);
    }, 1);
    const statuses = (await releaseUntil(answers)).map(({ status }) => status);
    clearInterval(watch);
    expect(statuses).toEqual(Array(40).fill(200));
    expect(most).toBeLessThanOrEqual(ofKey);
  });

  it("of a network wait for each other, and those of another network do not", async () => {
    const [address, keys] = [makeAddress(), [await makeKnownKey(), await makeKnownKey()]];
    const another = await makeKnownKey();
    const answers = keys.flatMap((key) => sendMany(ofKey, address, key));
    await expect.poll(() => held.length).toBe(ofNetwork);
    const other = sendMany(1, makeAddress(), another);
    await expect.poll(() => held.length).toBe(ofNetwork + 1);
    for (const { status } of await releaseUntil([...answers, ...other])) expect(status).toBe(200);
  });

  it("of three keys, however many, leave a place for a fourth key", async () => {
    const [fourth, ...keys] = await Promise.all(Array.from({ length: 4 }, () => makeKnownKey()));
    const answers = keys.flatMap((key) => {
      const address = makeAddress();
      return sendMany(4, address, key);
    });
    await expect.poll(() => new Set(held.map(({ key }) => key)).size).toBe(3);
    await sleep(300);
    expect(held.length).toBeLessThan(slow);
    const one = sendMany(1, makeAddress(), fourth ?? "");
    await expect.poll(() => held.at(-1)?.key).toBe(hash(fourth ?? ""));
    held.pop()?.answer();
    expect((await Promise.all(one))[0]?.status).toBe(200);
    for (const { status } of await releaseUntil(answers)) expect(status).toBe(200);
  });

  it("that may be slow, of however many keys, leave a place for those that ask for a single report or make a call", async () => {
    const keys: string[] = [];
    while (keys.length < all) keys.push(await makeKnownKey(hastyUrl));
    const [another, third] = [await makeKnownKey(hastyUrl), await makeKnownKey(hastyUrl)];
    const answers = keys.flatMap((key) => sendMany(1, makeAddress(), key, hastyUrl));
    await expect.poll(() => held.length).toBe(slow);
    const quick = [
      () => sendMany(1, makeAddress(), another, hastyUrl, lookup),
      () => [
        send(
          hastyUrl,
          "/rpc/request_file_access",
          {
            method: "POST",
            localAddress: makeAddress(),
            headers: { "x-api-key": third, "content-type": "application/json" },
          },
          "{}",
        ),
      ],
    ];
    for (const sendQuick of quick) {
      const [answer] = sendQuick();
      await expect.poll(() => held.length).toBe(all);
      held.pop()?.answer();
      expect((await answer)?.status).toBe(200);
    }
    const late = await Promise.race(answers);
    expect([late.status, JSON.parse(late.body).code]).toEqual([503, "api_busy"]);
    await releaseUntil(answers);
  });

  it("with DEMO_KEY, from however many networks, leave places for other keys", async () => {
    const key = await makeKnownKey();
    const answers = Array.from({ length: all + 1 }, () => sendMany(1, makeAddress(), "DEMO_KEY")).flat();
    await expect.poll(() => held.length).toBe(ofDemo);
    const other = sendMany(1, makeAddress(), key);
    await expect.poll(() => held.length).toBe(ofDemo + 1);
    for (const { status } of await releaseUntil([...answers, ...other])) expect(status).toBe(200);
  });

  it("of many clients leave none of PostgREST's connections waiting, and get 503 after a while", async () => {
    const keys: string[] = [];
    while (keys.length < all + 1) keys.push(await makeKnownKey(hastyUrl));
    const answers = keys.flatMap((key) => sendMany(1, makeAddress(), key, hastyUrl, lookup));
    await expect.poll(() => held.length).toBe(all);
    const busy = await Promise.race(answers);
    expect([busy.status, busy.headers["retry-after"], JSON.parse(busy.body).code]).toEqual([
      503,
      "5",
      "api_busy",
    ]);
    await releaseUntil(answers);
  });

  it("that waited too long get 429, which does not count toward the hour", async () => {
    const [address, key] = [makeAddress(), await makeKnownKey(hastyUrl)];
    const before = remaining(await ask(address, key, hastyUrl));
    const answers = sendMany(ofKey + 1, address, key, hastyUrl);
    const { status, headers, body } = await Promise.race(answers);
    expect([status, headers["retry-after"]]).toEqual([429, "5"]);
    expect(JSON.parse(body)).toMatchObject({
      code: "too_many_requests_at_a_time",
      hint: expect.stringContaining(`${ofKey} of a key and ${ofNetwork} of a client IP`),
    });
    await releaseUntil(answers);
    holds = false;
    expect(remaining(await ask(address, key, hastyUrl))).toBe(before - ofKey - 1);
  });

  it("of a key that has one get 503 if the places of other keys kept it from a second one", async () => {
    const [key, ...others] = await Promise.all(Array.from({ length: 3 }, () => makeKnownKey(hastyUrl)));
    const running = others.flatMap((other) => sendMany(1, makeAddress(), other, hastyUrl));
    const address = makeAddress();
    const own = sendMany(2, address, key ?? "", hastyUrl);
    await expect.poll(() => held.length).toBe(3);
    const { status, body } = await Promise.race(own);
    expect([status, JSON.parse(body).code]).toEqual([503, "api_busy"]);
    await releaseUntil([...running, ...own]);
  });

  it("beyond those that may wait get 429 at once", async () => {
    const [address, key] = [makeAddress(), await makeKnownKey()];
    const answers = sendMany(ofKey + mostWaiting + 20, address, key);
    let refused = 0;
    for (const answer of answers) void answer.then(({ status }) => (refused += Number(status === 429)));
    await expect.poll(() => refused).toBe(20);
    const statuses = (await releaseUntil(answers)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(ofKey + mostWaiting);
  });
});

describe("clients", () => {
  const leave = async (address: string, key: string) => {
    const request = openRequest(url, "/general", { localAddress: address, headers: { "x-api-key": key } });
    request.on("error", () => {});
    request.end();
    await sleep(200);
    request.destroy();
    await sleep(200);
  };

  it("that leave while they wait give their place up", async () => {
    const [address, key] = [makeAddress(), await makeKnownKey()];
    const running = sendMany(ofKey, address, key);
    await expect.poll(() => held.length).toBe(ofKey);
    await leave(address, key);
    await releaseUntil(running);
    expect(held).toEqual([]);
    await sleep(200);
    expect(held).toEqual([]);
  });

  it("that leave before PostgREST has answered give their place up", async () => {
    const [address, key] = [makeAddress(), await makeKnownKey()];
    holds = true;
    for (let count = 0; count < ofKey; count++) await leave(address, key);
    expect(held.length).toBe(ofKey);
    const next = sendMany(1, address, key);
    await expect.poll(() => held.length).toBe(ofKey + 1);
    await releaseUntil(next);
  });

  it("that read slowly keep no place, but may have only 24 unread responses", async () => {
    const [address, key] = [makeAddress(), await makeKnownKey(hastyUrl)];
    const headers = { "x-api-key": key };
    const responses: IncomingMessage[] = [];
    for (let count = 0; count < 24; count++) {
      const request = openRequest(hastyUrl, "/large", { localAddress: address, headers });
      request.end();
      const [response] = await once(request, "response");
      responses.push(response);
    }
    const { status, body } = await ask(address, key, hastyUrl);
    expect([status, JSON.parse(body).hint]).toEqual([
      429,
      expect.stringContaining("Read each response to the end"),
    ]);
    expect((await ask(address, await makeKnownKey(hastyUrl), hastyUrl)).status).toBe(200);
    for (const response of responses) response.destroy();
    await expect.poll(async () => (await ask(address, key, hastyUrl)).status, { timeout: 10_000 }).toBe(200);
  });

  it("with made-up keys fill only a queue of their own", async () => {
    const [address, key] = [makeAddress(), await makeKnownKey()];
    const made = Array.from({ length: mostWaiting + 10 }, () => sendMany(1, address, makeKey())).flat();
    await expect.poll(() => held.length).toBe(ofKey);
    const known = sendMany(1, address, key);
    await expect.poll(() => held.length).toBe(ofKey + 1);
    held.pop()?.answer();
    expect((await Promise.all(known))[0]?.status).toBe(200);
    let isOver = false;
    const all = Promise.all(made).finally(() => (isOver = true));
    while (!isOver) {
      for (const { answer } of held.splice(0)) answer(401, { code: "API_KEY_INVALID" });
      await sleep(5);
    }
    expect(new Set((await all).map(({ status }) => status))).toEqual(new Set([401, 429]));
  });
});

/** The rule alone, with a clock that stands still between calls. */
async function loadPlaces(atATime: Record<string, number>, mostWaiting: number) {
  const clock = { seconds: 1000 };
  const read = (file: string) => readFile(file, "latin1");
  const plugin = path.join(luaPluginsDirectory, "single-audit");
  const lua = await runLua(
    `local host = ...
    for name, source in pairs(host.modules) do package.preload[name] = load(source) end
    local dict = require("dict")(host.now)
    local places = require "kong.plugins.single-audit.places"
    local visits = {}
    return function(action, id, hash)
      if action == "leave" then return places.leave(visits[id], dict) end
      visits[id] = visits[id] or places.open(host.config, { kong_id = id, hash = hash, network = hash }, true)
      local verdict, pause = places.ask(visits[id], dict, host.now())
      return verdict == "wait" and pause or verdict
    end`,
    {
      now: () => clock.seconds,
      modules: {
        dict: await read(path.join(luaPluginsDirectory, "../embedded/lua/shared_dict.lua")),
        "kong.plugins.single-audit.places": await read(path.join(plugin, "places.lua")),
        "kong.plugins.single-audit.refusal": await read(path.join(plugin, "refusal.lua")),
      },
      config: {
        limits: { default: { by: "key" } },
        at_a_time: { shared_key: 9, unread: 9, ...atATime },
        longest_wait: 10,
        most_waiting: mostWaiting,
      },
    },
  );
  return {
    clock,
    /** Returns "pass", "refuse", or the seconds after which to ask again. */
    ask: (id: string, hash = "h") => lua("ask", id, hash) as "pass" | "refuse" | number,
    leave: (id: string) => void lua("leave", id),
  };
}

it("a worker that dies frees its places", async () => {
  const { clock, ask } = await loadPlaces({ key: 1, network: 9, all: 9 }, 1);
  expect([ask("first"), ask("second"), ask("third")]).toEqual(["pass", expect.any(Number), "refuse"]);
  clock.seconds += 30;
  expect(ask("fourth")).toEqual(expect.any(Number));
  clock.seconds += 60;
  expect(ask("fifth")).toBe("pass");
});

it("requests pass roughly in the order of arrival, even while new ones keep arriving", async () => {
  const { clock, ask, leave } = await loadPlaces({ key: 2, network: 3, all: 6 }, 100);
  const begin = clock.seconds;
  const events: { at: number; client: number; isAnswer?: boolean }[] = [];
  for (let client = 0; client < 128; client++) events.push({ at: begin + client / 1000, client });
  const sent = Array(128).fill(0);
  const since = Array(128).fill(0);
  const waits: number[] = [];
  const id = (client: number) => `${client}-${sent[client]}`;
  // Each client sends its next request when it has the answer to the one before, which takes PostgREST 30 ms.
  while (clock.seconds < begin + 40) {
    events.sort((one, other) => other.at - one.at);
    const { at, client, isAnswer } = events.pop() as (typeof events)[number];
    clock.seconds = at;
    if (isAnswer) {
      leave(id(client));
      sent[client] += 1;
      since[client] = 0;
    }
    since[client] ||= at;
    const said = ask(id(client), String(client));
    expect(said).not.toBe("refuse");
    if (said === "pass") {
      if (at > begin + 10) waits.push(at - since[client]);
      events.push({ at: at + 0.03, client, isAnswer: true });
    } else events.push({ at: at + Number(said), client });
  }
  waits.sort((one, other) => one - other);
  const mean = waits.reduce((sum, wait) => sum + wait, 0) / waits.length;
  expect(waits.length / 30).toBeGreaterThan(130);
  // If a request that was just sent could overtake those that wait, some would wait for 10 seconds.
  expect((waits[Math.floor(waits.length * 0.99)] ?? 0) / mean).toBeLessThan(3);
});
