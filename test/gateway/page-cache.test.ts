import { randomBytes } from "node:crypto";
import { chmod, rename } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { makeDirectory } from "../support/make-directory.ts";
import { unlimitedAddresses } from "../support/start-kong.ts";
import {
  hash,
  issueKey,
  kongProgram,
  readKongYml,
  send,
  startGateway,
  startRealKong,
  startUpstream,
  unlimited,
  useGateways,
} from "./gateways.ts";

// Kong keeps large pages, and asks PostgREST each time whether they are current. The upstream decides like request.decide().

useGateways();
const page = "/federal_awards?limit=1000";
let upstream: string;
let url: string;
/** The data set that the upstream serves, the hashes of keys that it does not know, and what was asked of it. */
let dataSet: string;
let revoked: string[];
let asked: { status: number; headers: IncomingMessage["headers"]; url: string }[];
/** Holds back rows until it resolves. */
let ready: Promise<void>;
/** Whether the upstream breaks the connection before the last row. */
let breaks: boolean;

const tiers = new Map<string, string>();
const makeKey = (tier = "individual") => {
  const key = issueKey(randomBytes(16).toString("hex"), tier);
  tiers.set(hash(key), tier);
  return key;
};
async function answer(incoming: IncomingMessage, response: ServerResponse) {
  const { headers, url = "" } = incoming;
  const sha256 = String(headers["x-api-key-sha256"]);
  const tier = String(tiers.get(sha256));
  const etag = `"${dataSet} ${tier}"`;
  const isStale = ![undefined, etag].includes(headers["x-if-match"]?.toString());
  const current = headers["if-none-match"] === etag ? 304 : 200;
  const served = isStale ? 412 : current;
  const status = revoked.includes(sha256) ? 401 : served;
  asked.push({ status, headers, url });
  if (status !== 200)
    return void response.writeHead(status, { etag, "proxy-status": "PostgREST; error=x" }).end();
  await ready;
  const permitted = headers["x-cacheable"] && tier !== "tribal" ? { "x-accel-expires": "@1" } : {};
  const type = headers.accept === "text/csv" ? headers.accept : "application/json; charset=utf-8";
  response.writeHead(200, { etag, "content-type": type, "data-set": dataSet, ...permitted });
  if (breaks) return void response.write("rows", () => response.destroy());
  response.end(
    `rows of ${dataSet} for ${tier}, ${url} ${headers.range ?? ""} ${headers["accept-profile"] ?? ""} ${headers.prefer ?? ""} ${type}\n`,
  );
}

beforeAll(async () => {
  upstream = await startUpstream((incoming, response) => void answer(incoming, response));
  ({ url } = await startGateway(await readKongYml(unlimited), upstream));
});
let name = 0;
/** A page that no other test asks for. */
let path: string;
beforeEach(() => {
  [dataSet, revoked, asked, ready, breaks] = ["one", [], [], Promise.resolve(), false];
  path = `${page}&offset=${1000 * name++}`;
});

const ask = (key: string, target = path, headers = {}, gateway = url) =>
  send(gateway, target, { headers: { "x-api-key": key, ...headers } });
const statuses = () => asked.map(({ status }) => status);
/** A key that has read a page, so that the cache is used for it. */
async function introduce(tier?: string) {
  const key = makeKey(tier);
  await ask(key, `${page}&order=report_id`);
  asked = [];
  return key;
}

it.skipIf(kongProgram !== undefined)("the embedded gateway keeps nothing", async () => {
  const key = await introduce();
  for (const _ of "abc") {
    const { body, headers } = await ask(key);
    expect([body, headers["x-accel-expires"]]).toEqual([expect.stringContaining("rows of one"), undefined]);
  }
  expect(statuses()).toEqual([200, 200, 200]);
});

describe.skipIf(kongProgram === undefined)("a page", () => {
  it("is made once, and asked about each time", async () => {
    const [one, other] = [await introduce(), await introduce()];
    const answers = [];
    for (const key of [one, other, one]) answers.push(await ask(key));
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
    expect(statuses()).toEqual([200, 304, 304]);
    const [first, ...later] = answers.map(({ headers }) => headers);
    for (const headers of later) {
      expect(Object.keys(headers).sort()).toEqual(Object.keys(first ?? {}).sort());
      for (const same of ["etag", "data-set", "content-type", "vary", "cache-control"])
        expect(headers[same]).toEqual(first?.[same]);
      expect(Math.abs(Date.parse(String(headers.date)) - Date.now())).toBeLessThan(30_000);
    }
    expect(new Set(answers.map(({ headers }) => headers["x-request-id"])).size).toBe(3);
  });

  it("counts toward the rate limit each time", async () => {
    const key = await introduce();
    const left = [];
    for (const _ of "abc") left.push(Number((await ask(key)).headers["ratelimit-remaining"]));
    expect(left).toEqual([left[0], Number(left[0]) - 1, Number(left[0]) - 2]);
  });

  it("is refused to a key that was revoked since its last request", async () => {
    const [key, other] = [await introduce(), await introduce()];
    await ask(key);
    revoked = [hash(key)];
    const { status, body } = await ask(key);
    expect([status, body.includes("rows")]).toEqual([401, false]);
    expect((await ask(other)).status).toBe(200);
    expect(statuses()).toEqual([200, 401, 304]);
  });

  it("is made again after a publication", async () => {
    const key = await introduce();
    await ask(key);
    dataSet = "two";
    for (const _ of "ab") expect((await ask(key)).body).toContain("rows of two");
    expect(statuses()).toEqual([200, 200, 304]);
  });

  it("of one tier is never sent to another, even if their keys do not say which tier they have", async () => {
    const keys = [await introduce(), await introduce("demo"), await introduce()];
    // The tier has changed since the key was issued.
    tiers.set(hash(String(keys[2])), "research");
    for (const key of [...keys, ...keys])
      expect((await ask(key)).body).toContain(`rows of one for ${tiers.get(hash(key))},`);
  });

  it("of a Tribal key is not kept", async () => {
    const tribal = await introduce("tribal");
    for (const _ of "abc") expect((await ask(tribal)).body).toContain("for tribal");
    expect(statuses()).toEqual([200, 200, 200]);
    // Nor if the key looks like a key of another tier, and belonged to that tier when the page was kept.
    const key = await introduce();
    await ask(key);
    tiers.set(hash(key), "tribal");
    for (const _ of "ab") expect((await ask(key)).body).toContain("for tribal");
    expect(statuses()).toEqual([200, 200, 200]);
    expect((await ask(await introduce())).body).toContain("for individual");
  });

  it("depends on the URL, Accept, Accept-Profile, Prefer and Range", async () => {
    const key = await introduce();
    const asks = [
      {},
      { accept: "text/csv" },
      { "accept-profile": "api_v1_1_0" },
      { prefer: "count=exact" },
      { range: "0-9" },
    ];
    const bodies = new Set();
    for (const _ of "ab") for (const headers of asks) bodies.add((await ask(key, path, headers)).body);
    bodies.add((await ask(key, `${path}&select=report_id`)).body);
    expect(bodies.size).toBe(asks.length + 1);
  });

  it("that is kept answers 412 to another If-Match, and 304 to its ETag", async () => {
    const key = await introduce();
    const { headers } = await ask(key);
    const etag = String(headers.etag);
    const check = async (name: string, value: string) => (await ask(key, path, { [name]: value })).status;
    expect(await check("if-match", '"other"')).toBe(412);
    expect(await check("if-match", etag)).toBe(200);
    expect(await check("if-none-match", etag)).toBe(304);
    expect(await check("if-none-match", '"other"')).toBe(200);
    // PostgREST does not know this condition, and nginx would answer 412.
    expect(await check("if-unmodified-since", "Mon, 01 Jan 2024 00:00:00 GMT")).toBe(200);
  });

  it("is compressed for clients that accept it", async () => {
    const key = await introduce();
    const plain = await ask(key);
    const { headers, body } = await ask(key, path, { "accept-encoding": "gzip" });
    expect([headers["content-encoding"], headers.etag, body]).toEqual([
      "gzip",
      `W/${plain.headers.etag}`,
      plain.body,
    ]);
  });

  it("that PostgREST did not finish is not kept", async () => {
    const key = await introduce();
    breaks = true;
    await expect(ask(key)).rejects.toThrow("aborted");
    breaks = false;
    expect((await ask(key)).body).toContain("rows of one");
    expect(statuses()).toEqual([200, 200]);
  });

  it("is made once if several clients ask for it at the same time", async () => {
    const keys = [await introduce(), await introduce(), await introduce()];
    let release = () => {};
    ready = new Promise((resolve) => {
      release = resolve;
    });
    const answers = keys.map((key) => ask(key));
    await expect.poll(() => asked.length).toBe(1);
    release();
    expect(new Set((await Promise.all(answers)).map(({ status }) => status))).toEqual(new Set([200]));
    expect(statuses().sort()).toEqual([200, 304, 304]);
  });

  it("is not waited for by keys that the gateway does not know", async () => {
    let release = () => {};
    ready = new Promise((resolve) => {
      release = resolve;
    });
    const unknown = makeKey();
    revoked = [hash(unknown)];
    const first = ask(await introduceLater());
    await expect.poll(() => asked.length).toBe(1);
    const refused = ask(unknown);
    // A request that waits for a page does so for 5 s.
    await expect.poll(statuses, { timeout: 4000 }).toEqual([200, 401]);
    release();
    expect([(await first).status, (await refused).status]).toEqual([200, 401]);
  });

  it("that cannot be kept, because the disk is full, breaks once, and is sent to a client that tries again", async () => {
    const directory = await makeDirectory();
    // Kong's unprivileged user creates a directory there.
    await chmod(directory, 0o777);
    const temporary = join(directory, "temporary");
    const environment = { ...unlimitedAddresses, KONG_NGINX_HTTP_PROXY_TEMP_PATH: temporary };
    const gateway = await startRealKong(await readKongYml(unlimited), upstream, [], environment);
    const key = makeKey();
    await ask(key, path, {}, gateway.url);
    await rename(temporary, `${temporary}-removed`);
    await expect(ask(key, path, {}, gateway.url)).rejects.toThrow("socket hang up");
    for (const _ of "abc") expect((await ask(key, path, {}, gateway.url)).body).toContain("rows of one");
  });

  it.each([
    "/general?report_id=eq.2023-06-GSAFAC-0000000001",
    "/federal_awards?limit=999",
    "/federal_awards?offset=1000",
  ])("of few rows, such as %s, is not kept, and a client cannot ask for it", async (small) => {
    const key = await introduce();
    for (const _ of "ab") await ask(key, small, { "x-cacheable": "yes" });
    expect(asked.map(({ status, headers }) => [status, headers["x-cacheable"]])).toEqual([
      [200, undefined],
      [200, undefined],
    ]);
  });
});

/** Like introduce, while rows are held back. */
async function introduceLater() {
  const held = ready;
  ready = Promise.resolve();
  const key = await introduce();
  ready = held;
  return key;
}
