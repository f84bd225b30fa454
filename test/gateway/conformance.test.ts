import { readFile, writeFile } from "node:fs/promises";
import { type OutgoingHttpHeaders, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { WireAnswer } from "../../bench/torture/send-request.ts";
import {
  describeAnswer,
  describeRequest,
  kongProgram,
  readKongYml,
  type Started,
  startEmbedded,
  startRealKong,
  startUpstream,
} from "./gateways.ts";

// Requests, one after the other from empty counters, and what real Kong answered them. Sent to the embedded gateway, or to
// real Kong with KONG_BIN. With RECORD_CONFORMANCE=1 the answers are written down.

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
const started: Started[] = [];
let gateway: Started;

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
  started.push(upstream);
  gateway = await (kongProgram === undefined
    ? startEmbedded(config, upstream.url)
    : startRealKong(kongProgram, config, upstream.url));
  started.push(gateway);
  // The cases count requests within one hour of the clock.
  const left = 3_600_000 - (Date.now() % 3_600_000);
  if (left < 15_000) await sleep(left + 100);
});

afterAll(async () => {
  for (const { close } of started.reverse()) await close();
  if (isRecording) await writeFile(file, `${JSON.stringify(cases, undefined, 2)}\n`);
});

describe("answers as real Kong 3.9.1 did", () => {
  it.for(cases)("$id", async (recorded) => {
    const answer = describeAnswer(await send(recorded), gateway.url);
    if (isRecording) recorded.expect = answer;
    else expect(answer).toEqual(recorded.expect);
  });
});

function send({ method = "GET", path, headers = {}, body, from }: Case): Promise<WireAnswer> {
  const { hostname, port } = new URL(gateway.url);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: hostname,
        port,
        method,
        path: path.replace(/(.)\{(\d+)\}/g, (_, letter: string, times: string) =>
          letter.repeat(Number(times)),
        ),
        headers,
        localAddress: from ?? "127.0.0.1",
        agent: false,
      },
      (response) => {
        const { statusCode: status = 0, headers } = response;
        const read = async () => {
          const bytes = await buffer(response);
          const isCompressed = bytes.length > 0 && headers["content-encoding"] === "gzip";
          return { status, headers, body: String(isCompressed ? gunzipSync(bytes) : bytes) };
        };
        read().then(resolve, reject);
      },
    );
    outgoing.once("error", reject);
    outgoing.end(body);
  });
}
