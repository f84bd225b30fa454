import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import { beforeAll, expect, it, test } from "vitest";
import {
  issueKey,
  keys,
  readKongYml,
  send,
  sendBytes,
  startGateway,
  startUpstream,
  useGateways,
} from "./gateways.ts";

// Rules of the plugin that few clients notice. Each response of the upstream is one that PostgREST or PostgreSQL can give.

useGateways();
let url: string;
/** Answers the next requests. */
let respond: (incoming: IncomingMessage, response: ServerResponse) => unknown;
beforeAll(async () => {
  const upstream = await startUpstream((incoming, response) => void respond(incoming, response));
  const config = await readKongYml(({ config }) => {
    config.limits = { demo: { by: "network", hour: 40, day: 40 }, default: { by: "key", hour: 1000 } };
  });
  ({ url } = await startGateway(config, upstream));
});

const ask = (path: string, headers: Record<string, string | string[]> = {}) =>
  send(url, path, { headers: { "x-api-key": issueKey(randomBytes(16).toString("hex")), ...headers } });
/** Sends a request, and returns what the upstream receives of it. */
async function forward(path: string, headers: Record<string, string> = {}) {
  const received: { url?: string | undefined; headers: IncomingMessage["headers"] } = { headers: {} };
  respond = (incoming, response) => {
    Object.assign(received, { url: incoming.url, headers: incoming.headers });
    response.end("[]");
  };
  expect((await ask(path, headers)).status).toBe(200);
  return received;
}
const fail = (status: number, body: object | string, headers = {}) => {
  respond = (_, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
};

it("removes Content-Length from a 304, because some clients would wait for that many bytes", async () => {
  respond = (_, response) => void response.writeHead(304, { "content-length": "5" }).end();
  const { status, headers } = await ask("/general");
  expect([status, headers["content-length"]]).toEqual([304, undefined]);
});

test.each([200, 206])(
  "CSV with status %i has single backslashes, wherever the response is cut",
  async (status) => {
    respond = async (_, response) => {
      response.writeHead(status, { "content-type": "text/csv; charset=utf-8", "content-length": "12" });
      for (const part of ["a\\\\b", "\\", "\\\\\\c", "\\\\d"]) {
        response.write(part);
        await nextTurn();
      }
      response.end();
    };
    const { body, headers } = await ask("/general", { accept: "text/csv" });
    expect([body, headers["content-length"]]).toEqual(["a\\b\\\\c\\d\n", undefined]);
  },
);

it("replaces a hint that contains quotation marks as a whole", async () => {
  const error = { code: "42703", details: null, hint: 'Perhaps "a \\" b".', message: "No column." };
  fail(400, error);
  const { body } = await ask("/general?select=x");
  expect(JSON.parse(body)).toEqual({ ...error, hint: expect.stringContaining("/reference") });
});

it("a call for a format that is not served gets the hint that names the formats", async () => {
  fail(406, {
    code: "PGRST107",
    details: null,
    hint: null,
    message: "None of these media types are available",
  });
  const headers = { "x-api-key": issueKey(randomBytes(16).toString("hex")), accept: "text/html" };
  const call = { method: "POST", headers: { ...headers, "content-type": "application/json" } };
  const { code, hint } = JSON.parse((await send(url, "/rpc/request_file_access", call, "{}")).body);
  expect([code, hint]).toEqual(["PGRST107", expect.stringContaining("text/csv")]);
});

it("says how to avoid a timeout of PostgreSQL, and names the code of a 416", async () => {
  fail(500, { code: "57014", details: null, hint: null, message: "canceling statement" });
  expect(JSON.parse((await ask("/general")).body).hint).toContain("another indexed column");
  fail(416, { code: "PGRST103", details: null, hint: null, message: "Range" });
  expect((await ask("/general?offset=9")).headers["proxy-status"]).toMatch(/error=PGRST103$/);
});

it("passes on no key from a query whose parameters are separated by semicolons", async () => {
  const key = issueKey(randomBytes(16).toString("hex"));
  expect((await forward(`/general?limit=1;api_key=${key}`, { "x-api-key": "" })).url).toBe(
    "/general?limit=1",
  );
});

it("passes on Accept in lowercase, and a report ID as at most 100 ASCII characters", async () => {
  const path = `/general?report_id=eq.%C3%A9${"x".repeat(200)}`;
  const { headers } = await forward(path, { accept: "TEXT/CSV" });
  expect(headers.accept).toBe("text/csv");
  expect(headers["x-filter-report-id"]).toBe(`eq.??${"x".repeat(95)}`);
});

test.each<[string, number, string, string, Record<string, string | string[]>?]>([
  ["GeoJSON with a weight", 406, "application/json", "/general", { accept: "application/geo+json;q=0.9" }],
  ["JSON operators", 400, "1500 columns", `/general?auditee_name=eq.${">".repeat(1501)}`],
  ["a profile sent twice", 400, "Send it once", "/general", { "accept-profile": ["api_v1_1_0", "other"] }],
  ["a header sent often", 400, "16000 bytes", "/general", { "x-a": ["a", "b"].map((it) => it.repeat(9000)) }],
])("refuses %s: %i", async (_, status, hint, path, headers) => {
  respond = (_incoming, response) => response.end("[]");
  const answer = await ask(path, headers);
  expect([answer.status, JSON.parse(answer.body).hint]).toEqual([status, expect.stringContaining(hint)]);
});

it("keeps the count of a network if the database does not know the demonstration key", async () => {
  const unknown = { "proxy-status": "PostgREST; error=API_KEY_INVALID" };
  fail(401, { code: "API_KEY_INVALID", details: null, hint: null, message: "Unknown." }, unknown);
  const readRemaining = async () =>
    Number((await ask("/general", { "x-api-key": "DEMO_KEY" })).headers["x-ratelimit-remaining-hour"]);
  const first = await readRemaining();
  expect(await readRemaining()).toBe(first - 1);
});

it("describes the longer of two windows with as many requests left", async () => {
  respond = (_, response) => response.end("[]");
  const { headers } = await ask("/general", { "x-api-key": "DEMO_KEY" });
  expect(headers["x-ratelimit-remaining-hour"]).toBe(headers["x-ratelimit-remaining-day"]);
  const untilMidnight = 86_400 - (Math.floor(Date.parse(String(headers.date)) / 1000) % 86_400);
  expect(Math.abs(Number(headers["ratelimit-reset"]) - untilMidnight)).toBeLessThan(600);
});

it.each<[what: string, id: string, isKept: boolean]>([
  ["63 characters", `${"x".repeat(39)}-${"x".repeat(23)}`, true],
  ["64 characters", `${"x".repeat(39)}-${"x".repeat(24)}`, false],
  ["what may be a key", `id-${"a1".repeat(20)}`, false],
  ["a space", "an id", false],
])("an X-Request-Id with %s is replaced unless logs may show it: %j", async (_what, id, isKept) => {
  const { headers } = await forward("/general", { "x-request-id": id });
  if (isKept) expect(headers["x-request-id"]).toBe(id);
  else expect(headers["x-request-id"]).toMatch(/^[0-9a-f]{32}$/);
});

test.each([["GET /a b HTTP/1.1\r\nHost: a"], ["GET / HTTP/1.1"]])("%j gets 400 as JSON", async (start) => {
  expect(await sendBytes(url, `${start}\r\n\r\n`)).toMatch(
    /^HTTP\/1\.1 400 .*proxy-status: gateway; error=bad_request\r.*"code":"bad_request"/is,
  );
});

test.concurrent.for([
  ["Content-Length: 90", "{"],
  ["Content-Length: 90", ""],
  ["Transfer-Encoding: chunked", "1\r\n{\r\n"],
  ["Transfer-Encoding: chunked", "90\r\n{"],
])(
  "a call whose body comes too slowly gets 408, which does not count: %s, %j",
  async ([framing, body], { expect }) => {
    const head = ["Host: a", `X-Api-Key: ${keys.standard}`, "Content-Type: application/json", framing];
    const start = `POST /rpc/request_file_access HTTP/1.1\r\n${head.join("\r\n")}\r\n\r\n${body}`;
    // Another byte each second.
    const answers = await Promise.all([sendBytes(url, start), sendBytes(url, start, 10_000, 1000)]);
    for (const answer of answers) {
      expect(answer).toMatch(/^HTTP\/1\.1 408 .*"code":"request_timeout"/s);
      expect(answer).not.toMatch(/^(x-)?ratelimit/im);
    }
  },
);

test("clients that leave while they send a body do not disturb the next requests", async () => {
  respond = (_, response) => response.end("[]");
  const framings = ["Content-Length: 9\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"];
  const head = `Host: a\r\nX-Api-Key: ${keys.standard}\r\nContent-Type: application/json\r\n`;
  const starts = framings.map((framing) => `POST /rpc/request_file_access HTTP/1.1\r\n${head}${framing}`);
  await Promise.all(starts.flatMap((start) => Array.from({ length: 8 }, () => sendBytes(url, start, 200))));
  const headers = { "x-api-key": keys.other, "content-type": "application/json" };
  for (let call = 0; call < 16; call += 1) {
    const { status } = await send(url, "/rpc/request_file_access", { method: "POST", headers }, "{}");
    expect(status).toBe(200);
  }
});

test.each(["Content-Length: 20000", "Transfer-Encoding: chunked"])(
  "a body that is too long gets 413, which does not count: %s",
  async (framing) => {
    const head = ["Host: a", `X-Api-Key: ${keys.standard}`, "Content-Type: application/json", framing];
    const body = framing.startsWith("T") ? `4e20\r\n${"a".repeat(20_000)}\r\n0\r\n\r\n` : "a".repeat(20_000);
    const answer = await sendBytes(
      url,
      `POST /rpc/request_file_access HTTP/1.1\r\n${head.join("\r\n")}\r\n\r\n${body}`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 .*"code":"payload_too_large"/s);
    expect(answer).not.toMatch(/^(x-)?ratelimit/im);
  },
);
