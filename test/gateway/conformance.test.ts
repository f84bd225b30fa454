import { readFile, writeFile } from "node:fs/promises";
import type { OutgoingHttpHeaders } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  describeAnswer,
  describeRequest,
  keys,
  kongProgram,
  readKongYml,
  send,
  startEmbedded,
  startRealKong,
  startUpstream,
  useGateways,
} from "./gateways.ts";

// Requests, sent one after the other from empty counters, and what real Kong answered. They go to the embedded gateway, or
// to real Kong if KONG_BIN is set. RECORD_CONFORMANCE=1 records the answers.

interface Case {
  id: string;
  method?: string;
  /** Sent as it is; a number in braces repeats the letter before it. */
  path: string;
  headers?: OutgoingHttpHeaders;
  body?: string;
  /** The address of the client; 127.0.0.1 if absent. */
  from?: string;
  expect: object;
}

const file = new URL("./conformance-cases.json", import.meta.url);
const cases: Case[] = JSON.parse(await readFile(file, "utf8"));
const isRecording = Boolean(process.env.RECORD_CONFORMANCE);
useGateways();
let gateway: { url: string };
const start = (config: string, upstream: string, trustedIps: string[] = []) =>
  kongProgram === undefined
    ? startEmbedded(config, upstream, { trustedIps })
    : startRealKong(kongProgram, config, upstream, { trustedIps });

/** Kong counts a request after it has answered: in its first seconds, up to several hundred milliseconds after. */
const waitForCount = () => sleep(kongProgram === undefined ? 0 : 300);

beforeAll(async () => {
  const config = await readKongYml({
    "hour: 1000": "hour: 10",
    "hour: 30": "hour: 3",
    "day: 50": "day: 5",
    "read_timeout: 65000": "read_timeout: 1000",
  });
  const upstream = await startUpstream(async (incoming, outgoing) => {
    const { pathname, searchParams } = new URL(incoming.url ?? "/", "http://a");
    if (pathname === "/slow") await sleep(2000);
    if (pathname === "/broken" || incoming.destroyed) return void incoming.socket.destroy();
    const status = Number(searchParams.get("status") ?? 200);
    outgoing.writeHead(status, {
      "Content-Type": "application/json; charset=utf-8",
      "Content-Range": "0-0/*",
      "Content-Location": incoming.url ?? "",
    });
    const error = { code: searchParams.get("code"), details: null, hint: null, message: "Refused." };
    outgoing.end(status === 200 ? await describeRequest(incoming) : JSON.stringify(error));
  });
  gateway = await start(config, upstream);
  // The cases count requests within one hour of the clock.
  const left = 3_600_000 - (Date.now() % 3_600_000);
  if (left < 15_000) await sleep(left + 100);
});

afterAll(async () => {
  if (isRecording) await writeFile(file, `${JSON.stringify(cases, undefined, 2)}\n`);
});

describe("answers as real Kong 3.9.1 did", () => {
  it.for(cases)("$id", async (recorded) => {
    const { method, headers, from: localAddress = "127.0.0.1", body } = recorded;
    const path = recorded.path.replace(/(.)\{(\d+)\}/g, (_, letter, times) => letter.repeat(Number(times)));
    const sent = await send(gateway.url, path, { method, headers: headers ?? {}, localAddress }, body);
    if (sent.headers["x-ratelimit-remaining-hour"] !== undefined) await waitForCount();
    const answer = describeAnswer(sent, gateway.url);
    if (isRecording) recorded.expect = answer;
    else expect(answer).toEqual(recorded.expect);
  });
});

// Readers may be on replicas, and only the primary server can write a token.
it("sends calls to the writer and all else to the readers, and counts both", async () => {
  const [reader, writer] = await Promise.all(
    ["reader", "writer"].map((name) => startUpstream((_, response) => response.end(name))),
  );
  const { url } = await start(await readKongYml({ "${POSTGREST_WRITER_URL}": writer ?? "" }), reader ?? "");
  const ask = async (method: string, path: string) => {
    const { body, headers } = await send(url, path, { method, headers: { "x-api-key": keys.standard } });
    await waitForCount();
    return [body, Number(headers["x-ratelimit-remaining-hour"])] as const;
  };
  const [first, remaining] = await ask("GET", "/general");
  expect(first).toBe("reader");
  expect(await ask("POST", "/rpc/request_file_access")).toEqual(["writer", remaining - 1]);
  expect(await ask("HEAD", "/general")).toEqual(["", remaining - 2]);
});

it("counts an IPv6 client by its /64, because it has all addresses in it", async () => {
  const upstream = await startUpstream(({ headers }, response) => response.end(headers["x-client-network"]));
  const { url } = await start(await readKongYml({ "hour: 30": "hour: 5" }), upstream, ["127.0.0.1"]);
  const forged = { "x-api-key": "DEMO_KEY", "x-client-network": "198.51.100.1" };
  for (const [address, network, remaining] of [
    ["2001:db8:0:7::1", "2001:db8:0:7::/64", 4],
    ["2001:DB8::7:ffff:1:2:3", "2001:db8:0:7::/64", 3],
    ["2001:db8:0:8::1", "2001:db8:0:8::/64", 4],
    ["::1", "0:0:0:0::/64", 4],
    ["192.0.2.1", "192.0.2.1", 4],
    ["::ffff:192.0.2.1", "192.0.2.1", 3],
    ["192.0.2.2", "192.0.2.2", 4],
  ] as const) {
    const headers = { ...forged, "x-forwarded-for": address };
    const answer = await send(url, "/general", { headers });
    expect([address, answer.body, answer.headers["x-ratelimit-remaining-hour"]]).toEqual([
      address,
      network,
      String(remaining),
    ]);
    await waitForCount();
  }
});
