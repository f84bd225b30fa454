import { createHash, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import path from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, beforeEach, expect, it } from "vitest";
import { luaPluginsDirectory } from "../../gateway/embedded/lua-plugin.ts";
import { runLua } from "../../gateway/embedded/lua-state.ts";
import {
  issueKey,
  readKongYml,
  send,
  startGateway,
  startUpstream,
  unlimited,
  useGateways,
} from "./gateways.ts";

// The gateway tells the report service which keys are used. Responses do not wait for this.

useGateways();
let url: string;
let told: string[] = [];
/** How the report service answers. */
let answer: (response: ServerResponse) => void;
const answerAtOnce = (response: ServerResponse) => void response.end();

beforeAll(async () => {
  const reportService = await startUpstream(async (incoming, outgoing) => {
    told.push(...(await text(incoming)).split("\n"));
    answer(outgoing);
  });
  const postgrest = await startUpstream((incoming, outgoing) => {
    const [, status, code] = /status=(\d+) ?(\w*)/.exec(decodeURIComponent(incoming.url ?? "")) ?? [];
    outgoing.writeHead(Number(status ?? 200), code ? { "proxy-status": `PostgREST; error=${code}` } : {});
    outgoing.end("[]");
  });
  const config = await readKongYml((kong) => {
    unlimited(kong);
    kong.config.usage_url = `${reportService}/used-keys`;
  });
  ({ url } = await startGateway(config, postgrest));
});
beforeEach(async () => {
  // Windows are calendar hours, so a test that starts at the end of one waits for the next.
  const left = 3_600_000 - (Date.now() % 3_600_000);
  if (left < 15_000) await sleep(left + 500);
  [told, answer] = [[], answerAtOnce];
});

const makeKey = () => issueKey(randomBytes(16).toString("hex"));
const hashOf = (key: string) => createHash("sha256").update(key).digest("hex");
const get = async (key: string, path = "/general") =>
  (await send(url, path, { headers: { "x-api-key": key } })).status;
const countTold = (key: string) => told.filter((hash) => hash === hashOf(key)).length;

it.each([200, 304, 404, 406, 412, 429])("tells that a key is used if its request gets %i", async (status) => {
  const key = makeKey();
  expect(await get(key, `/general?status=${status}`)).toBe(status);
  await expect.poll(() => countTold(key)).toBe(1);
});

it("does not tell it for unknown keys, errors of the database and requests that the gateway refuses", async () => {
  const key = makeKey();
  const statuses: number[] = [];
  for (const path of ["?status=401%20API_KEY_INVALID", "?status=503", "?status=500", "?limit=x"])
    statuses.push(await get(key, `/general${path}`));
  expect(statuses).toEqual([401, 503, 500, 400]);
  const other = makeKey();
  await get(other);
  await expect.poll(() => countTold(other)).toBe(1);
  expect(countTold(key)).toBe(0);
});

it("tells it with the 1st, 2nd, 4th and 8th request", async () => {
  const key = makeKey();
  for (let sent = 1; sent <= 15; sent++) await get(key);
  await expect.poll(() => countTold(key)).toBe(4);
});

it("answers while the report service does not, and tells it again later", async () => {
  const key = makeKey();
  answer = () => {};
  expect(await get(key)).toBe(200);
  await expect.poll(() => countTold(key)).toBe(1);
  answer = (response) => void response.destroy();
  expect(await get(key)).toBe(200);
  await expect.poll(() => countTold(key)).toBe(2);
  answer = answerAtOnce;
  expect([await get(key), await get(key)]).toEqual([200, 200]);
  await expect.poll(() => countTold(key)).toBe(3);
});

it("sends at most 100 keys in a message, and forgets the others until it is sent", async () => {
  const sent: unknown[] = [];
  const run = await runLua(
    `local host, timer = ...
    local client = { set_timeout = function() end, request_uri = function(_, _, options) host.send(options.body) end }
    package.preload["resty.http"] = function() return { new = function() return client end } end
    ngx = { timer = { at = function(_, callback, url) timer = function() callback(false, url) end return true end } }
    local key_use = load(host.source)()
    return function(hash) if hash then key_use.note("http://a", hash, 1) else timer() end end`,
    {
      source: await readFile(path.join(luaPluginsDirectory, "single-audit/key_use.lua"), "utf8"),
      send: (body) => void sent.push(body),
    },
  );
  const hashes = Array.from({ length: 150 }, (_, number) => `hash ${number}`);
  for (const hash of hashes) run(hash);
  run();
  run("another");
  run();
  expect(sent).toEqual([hashes.slice(0, 100).join("\n"), "another"]);
});
