import { METHODS } from "node:http";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { apiRequest } from "../../bench/torture/generate-requests.ts";
import { sendRequest, type WireRequest } from "../../bench/torture/send-request.ts";
import {
  describeAnswer,
  describeRequest,
  keys,
  kongProgram,
  readKongYml,
  startEmbedded,
  startRealKong,
  startUpstream,
  useGateways,
} from "./gateways.ts";

// Sends the same requests to the embedded gateway and to real Kong. Both must give clients the same answers and PostgREST the
// same requests. Skipped without real Kong.

const requestCount = Number(process.env.DIFFERENTIAL_REQUESTS ?? 3000);
const seed = Number(process.env.DIFFERENTIAL_SEED ?? 1);
/** In addition to the torture run's headers: headers that the gateway sets, and keys that are malformed or sent twice. */
const oddHeaders = fc.constantFrom<[string, string][]>(
  [],
  [],
  [["X-Api-Key-Sha256", "0".repeat(64)]],
  [["x_api_key_sha256", "0".repeat(64)]],
  [["X-Api-Key-Tier", "demo"]],
  [["X-Filter-Report-Id", "eq.mine"]],
  [["X-Client-Network", "192.0.2.1"]],
  [["Connection", "X-Api-Key-Sha256"]],
  [["Connection", "close, x-filter-report-id"]],
  [["X-Request-Id", "mine-1"]],
  [["X-Request-Id", keys.issuedEarlier]],
  [["Origin", "https://example.org"]],
  [["X-Api-Key", keys.standard]],
  [["Referer", "https://example.org/?api_key=x"]],
  [["X.Odd!Name", "1"]],
  [["TE", "trailers"]],
);
const keyOf = {
  individual: keys.standard,
  tribal: keys.issuedEarlier,
  demo: "DEMO_KEY",
  wrong: "no key",
  none: "",
};
const place = fc.constantFrom("header", "header", "header", "query");

const anyRequest: fc.Arbitrary<WireRequest> = fc
  .tuple(apiRequest, oddHeaders, place)
  .map(([{ key, ...request }, more, place]): WireRequest => {
    const value = keyOf[key];
    const inHeader: WireRequest["headers"] = value !== "" && place === "header" ? [["X-Api-Key", value]] : [];
    const mark = request.path.includes("?") ? "&" : "?";
    const inQuery = value !== "" && place === "query" ? `${mark}api_key=${encodeURIComponent(value)}` : "";
    return { ...request, path: request.path + inQuery, headers: [...inHeader, ...request.headers, ...more] };
  })
  // Node refuses such methods, and such bytes in a URL, where nginx takes them.
  .filter(({ method, path }) => METHODS.includes(method) && !/[\x80-\xff]/.test(path));

describe.skipIf(kongProgram === undefined)(`the embedded gateway beside real Kong (KONG_BIN)`, () => {
  useGateways();
  let embedded: string;
  let kong: string;

  beforeAll(async () => {
    const config = await readKongYml({
      "hour: 1000": "hour: 1000000",
      "hour: 30": "hour: 1000000",
      "day: 50": "day: 1000000",
    });
    const upstream = await startUpstream(async (incoming, outgoing) => {
      const body = await describeRequest(incoming);
      const status =
        [200, 200, 200, 200, 206, 304, 400, 401, 404, 406, 500, 503][(incoming.url?.length ?? 0) % 12] ?? 200;
      outgoing.writeHead(status, {
        "Content-Type": "application/json; charset=utf-8",
        "Content-Location": incoming.url ?? "",
        "Content-Range": "0-0/*",
        ETag: '"strong"',
        ...(status === 304 ? { "Content-Length": "5" } : {}),
      });
      outgoing.end(status === 503 ? `{"code":"PGRST001",${body.slice(1)}` : body);
    });
    embedded = (await startEmbedded(config, upstream)).url;
    kong = (await startRealKong(kongProgram ?? "", config, upstream)).url;
  });

  it(`gives the same answers to ${requestCount} requests`, { timeout: 600_000 }, async () => {
    const differences: object[] = [];
    for (const [n, wire] of fc.sample(anyRequest, { seed, numRuns: requestCount }).entries()) {
      const [mine, real] = await Promise.all([embedded, kong].map((url) => ask(url, wire)));
      if (JSON.stringify(mine) !== JSON.stringify(real)) differences.push({ n, wire, mine, real });
    }
    expect(differences).toEqual([]);
  });
});

async function ask(url: string, wire: WireRequest): Promise<object> {
  const answer = await sendRequest(url, wire).catch((error: Error) => error);
  return answer instanceof Error ? { message: answer.message } : describeAnswer(answer, url);
}
