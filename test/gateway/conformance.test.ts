import { readFile, writeFile } from "node:fs/promises";
import { type IncomingMessage, METHODS, type OutgoingHttpHeaders } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
import { apiRequest } from "../torture/generate-requests.ts";
import { sendRequest, type WireAnswer, type WireRequest } from "../torture/send-request.ts";
import {
  keys,
  kongProgram,
  readKongYml,
  send,
  startEmbedded,
  startGateway,
  startRealKong,
  startSilentUpstream,
  startUpstream,
  unlimited,
  useGateways,
} from "./gateways.ts";

// Sends requests one after another, starting with empty counters, and compares the responses with recorded ones of real
// Kong. Tests the embedded gateway, or real Kong if KONG_BIN is set. RECORD_CONFORMANCE=1 records the responses.

interface Case {
  id: string;
  method?: string;
  /** Sent unchanged, as are the headers, except that a number in braces repeats the character before it. */
  path: string;
  headers?: OutgoingHttpHeaders;
  body?: string;
  /** The client's address. The default is 127.0.0.1. */
  from?: string;
  expect: object;
}

const file = new URL("./conformance-cases.json", import.meta.url);
const cases: Case[] = JSON.parse(await readFile(file, "utf8"));
const isRecording = Boolean(process.env.RECORD_CONFORMANCE);
useGateways();
let url: string;

beforeAll(async () => {
  const config = await readKongYml(({ service, config }) => {
    service.read_timeout = 1000;
    config.limits = { demo: { by: "network", hour: 3, day: 5 }, default: { by: "key", hour: 10 } };
  });
  const upstream = await startUpstream(async (incoming, outgoing) => {
    const { pathname, searchParams } = new URL(incoming.url ?? "/", "http://a");
    if (pathname === "/slow") await sleep(2000);
    if (pathname === "/broken" || searchParams.has("broken") || incoming.destroyed)
      return void incoming.socket.destroy();
    if (pathname === "/cut") return void incoming.socket.end("HTTP/1.1 200 OK\r\nContent-Type: appl");
    const status = Number(searchParams.get("status") ?? 200);
    const code = searchParams.get("code");
    const proxyStatus = searchParams.has("proxy") ? { "Proxy-Status": `PostgREST; error=${code}` } : {};
    const retry = searchParams.get("retry");
    const retryAfter = retry === null ? {} : { "Retry-After": retry };
    outgoing.writeHead(status, { ...describeRows(incoming), ...proxyStatus, ...retryAfter });
    const error = { code, details: null, hint: searchParams.get("hint"), message: "Refused." };
    outgoing.end(status === 200 ? await describeRequest(incoming) : JSON.stringify(error));
  });
  ({ url } = await startGateway(config, upstream));
  // Limits apply to calendar hours, so all cases must run within one.
  const left = 3_600_000 - (Date.now() % 3_600_000);
  if (left < 15_000) await sleep(left + 100);
});

afterAll(async () => {
  if (isRecording) await writeFile(file, `${JSON.stringify(cases, undefined, 2)}\n`);
});

const expand = (text: string) =>
  text.replace(/(.)\{(\d+)\}/g, (_, letter, times) => letter.repeat(Number(times)));

it.for(cases)("responds as real Kong 3.9.1 did: $id", async (recorded) => {
  const { method, headers = {}, from: localAddress = "127.0.0.1", body } = recorded;
  const path = expand(recorded.path);
  const expanded = JSON.parse(expand(JSON.stringify(headers)));
  const sent = await send(url, path, { method, headers: expanded, localAddress }, body);
  const answer = describeAnswer(sent, url);
  if (isRecording) recorded.expect = answer;
  else expect(answer).toEqual(recorded.expect);
});

it("tells clients to repeat a request if no connection to the upstream can be made", async () => {
  const silent = await startSilentUpstream();
  for (const upstream of ["http://127.0.0.1:1", "http://nowhere.invalid:80", silent]) {
    const { url } = await startGateway(await readKongYml(), upstream);
    const { status, headers, body } = await send(url, "/general", {
      headers: { "x-api-key": keys.standard },
    });
    expect([status, headers["retry-after"], JSON.parse(body).code], upstream).toEqual([
      503,
      "30",
      "api_unavailable",
    ]);
  }
});

// Readers may use replicas, and only the primary server can write a token.
it("sends POST requests to the writer and all others to the readers, and counts both", async () => {
  const reader = await startUpstream((_, response) => response.end("reader"));
  const writer = await startUpstream((_, response) => response.end("writer"));
  const { url } = await startGateway(
    await readKongYml(({ config }) => {
      config.writer_url = writer;
    }),
    reader,
  );
  const ask = async (method: string, path: string) => {
    const { body, headers } = await send(url, path, { method, headers: { "x-api-key": keys.standard } });
    return [body, Number(headers["x-ratelimit-remaining-hour"])];
  };
  const [first, remaining] = await ask("GET", "/general");
  expect(first).toBe("reader");
  expect(await ask("POST", "/rpc/request_file_access")).toEqual(["writer", Number(remaining) - 1]);
  expect(await ask("HEAD", "/general")).toEqual(["", Number(remaining) - 2]);
});

// An IPv6 client has all the addresses in its /64.
it("counts an IPv6 client by its /64, and takes X-Forwarded-For only from trusted proxies", async () => {
  const upstream = await startUpstream(({ headers }, response) => response.end(headers["x-client-network"]));
  const config = await readKongYml(({ config }) => {
    config.limits.demo = { by: "network", hour: 5 };
  });
  const { url } = await startGateway(config, upstream, ["127.0.0.1", "10.0.0.0/8"]);
  const forged = { "x-api-key": "DEMO_KEY", "x-client-network": "198.51.100.1" };
  for (const [address, network, remaining] of [
    ["2001:db8:0:7::1", "2001:db8:0:7::/64", 4],
    ["2001:DB8::7:ffff:1:2:3", "2001:db8:0:7::/64", 3],
    ["2001:db8:0:8::1", "2001:db8:0:8::/64", 4],
    ["::1", "0:0:0:0::/64", 4],
    ["192.0.2.1", "192.0.2.1", 4],
    ["::ffff:192.0.2.1", "192.0.2.1", 3],
    ["9.9.9.9, 192.0.2.2", "192.0.2.2", 4],
    ["9.9.9.9, 10.0.0.7", "9.9.9.9", 4],
  ] as const) {
    const { body, headers } = await send(url, "/general", {
      headers: { ...forged, "x-forwarded-for": address },
    });
    expect([body, Number(headers["x-ratelimit-remaining-hour"])], address).toEqual([network, remaining]);
  }
});

// Both gateways must give clients the same responses and PostgREST the same requests.
const requestCount = Number(process.env.DIFFERENTIAL_REQUESTS ?? 3000);
const seed = Number(process.env.DIFFERENTIAL_SEED ?? 1);
/** Header lines beyond those of the torture run: headers that the gateway sets, malformed keys and repeated keys. */
const oddLines = `X-Api-Key-Sha256: 0 | x_api_key_sha256: 0 | X-Api-Key-Tier: demo | X-Filter-Report-Id: eq.mine
  X-Client-Network: 192.0.2.1 | X-Row-Order: any | X-Order-Rules: 1 | Connection: X-Api-Key-Sha256 | Connection: close, x-filter-report-id
  X-Request-Id: mine-1 | X-Request-Id: ${keys.issuedEarlier} | X-Api-Key: ${keys.standard}
  Origin: https://example.org | Referer: https://example.org/?api_key=x | X.Odd!Name: 1 | TE: trailers`;
const oddHeader = fc.constantFrom(...oddLines.split(/ \| |\n */)).map((line): [string, string] => {
  const [name = "", value = ""] = line.split(": ");
  return [name, value];
});
const { standard: individual, issuedEarlier: tribal } = keys;
const keyOf = { individual, tribal, demo: "DEMO_KEY", wrong: "no key", none: "" };
const place = fc.constantFrom("header", "header", "header", "query");

const anyRequest: fc.Arbitrary<WireRequest> = fc
  .tuple(apiRequest, fc.array(oddHeader, { maxLength: 1 }), place)
  .map(([{ key, ...request }, more, place]): WireRequest => {
    const value = keyOf[key];
    const inHeader: WireRequest["headers"] = value !== "" && place === "header" ? [["X-Api-Key", value]] : [];
    const mark = request.path.includes("?") ? "&" : "?";
    const inQuery = value !== "" && place === "query" ? `${mark}api_key=${encodeURIComponent(value)}` : "";
    return { ...request, path: request.path + inQuery, headers: [...inHeader, ...request.headers, ...more] };
  })
  // Node refuses unknown methods and non-ASCII bytes in a URL, but nginx accepts them.
  .filter(({ method, path }) => METHODS.includes(method) && !/[\x80-\xff]/.test(path));

it.skipIf(kongProgram === undefined)(
  `the embedded gateway gives ${requestCount} requests the same responses as real Kong (KONG_BIN)`,
  { timeout: 600_000 },
  async () => {
    const config = await readKongYml(unlimited);
    const statuses = [200, 200, 200, 200, 206, 304, 400, 401, 404, 406, 500, 503];
    const upstream = await startUpstream(async (incoming, outgoing) => {
      const body = await describeRequest(incoming);
      const status = statuses[(incoming.url?.length ?? 0) % statuses.length] ?? 200;
      const more = { ETag: '"strong"', ...(status === 304 ? { "Content-Length": "5" } : {}) };
      outgoing.writeHead(status, { ...describeRows(incoming), ...more });
      outgoing.end(status === 503 ? `{"code":"PGRST001",${body.slice(1)}` : body);
    });
    const gateways = [await startEmbedded(config, upstream), await startRealKong(config, upstream)];
    const differences: object[] = [];
    for (const [n, wire] of fc.sample(anyRequest, { seed, numRuns: requestCount }).entries()) {
      const [embedded, kong] = await Promise.all(gateways.map(({ url }) => describeAnswerTo(wire, url)));
      if (JSON.stringify(embedded) !== JSON.stringify(kong)) differences.push({ n, wire, embedded, kong });
    }
    expect(differences).toEqual([]);
  },
);

async function describeAnswerTo(wire: WireRequest, url: string): Promise<object> {
  const answer = await sendRequest(url, wire).catch((error: Error) => error);
  return answer instanceof Error ? { message: answer.message } : describeAnswer(answer, url);
}

/** Headers of a response with rows. */
const describeRows = ({ url = "" }: IncomingMessage) => ({
  "Content-Type": "application/json; charset=utf-8",
  "Content-Range": "0-0/*",
  "Content-Location": url,
});

/** Headers that depend on the gateway's software, the connection or the time, and those that PostgREST does not read. */
const LEFT_OUT =
  /^(date|server|via|connection|keep-alive|transfer-encoding|content-length|x-kong-request-id|x-real-ip|x-forwarded-.*)$/;
/** Every response has this value of Access-Control-Expose-Headers, so the recorded ones leave it out. */
const exposedHeaders = parse(await readKongYml())
  .plugins.find(({ name }: { name: string }) => name === "cors")
  .config.exposed_headers.join(",");
const SECONDS = /^(ratelimit-reset|retry-after)$/;
const REQUEST_ID = /\b[0-9a-f]{32}\b/g;
const HASH = /^[0-9a-f]{64}$/;

/** What the client sees of a response, and what the upstream saw of the request if the body describes it. */
function describeAnswer({ status, headers, body }: WireAnswer, url: string): object {
  const text = body.replace(REQUEST_ID, "<request id>").replaceAll(`["${new URL(url).port}"]`, '["<port>"]');
  return { status, headers: describeHeaders(headers), body: describeBody(text) };
}

function describeHeaders(headers: WireAnswer["headers"]): object {
  const entries = Object.entries(headers).flatMap(([name, value]) => {
    if (name === "access-control-expose-headers" && value === exposedHeaders) return [];
    if (name === "x-order-rules") return [[name, String(value).replace(HASH, "<hash>")]];
    const text = SECONDS.test(name) ? "<seconds>" : String(value).replace(REQUEST_ID, "<request id>");
    return LEFT_OUT.test(name) ? [] : [[name, text]];
  });
  return Object.fromEntries(entries.sort());
}

function describeBody(text: string): unknown {
  try {
    const { headers, ...rest } = JSON.parse(text);
    // The host header contains the upstream's port, which differs in each run.
    return headers === undefined
      ? rest
      : { ...rest, headers: { ...describeHeaders(headers), host: "<host>" } };
  } catch {
    return text;
  }
}

/** Describes a request as the upstream received it. Each character of the body is a byte. */
async function describeRequest(incoming: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of incoming.setEncoding("latin1")) body += chunk;
  const { method, url, headersDistinct: headers } = incoming;
  return JSON.stringify({ method, url, headers, body });
}
