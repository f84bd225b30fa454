import { createHash, randomBytes } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { tables } from "../support/columns.ts";
import {
  type Answer,
  findReport,
  query,
  queryValue,
  type Request,
  request,
  send,
  target,
} from "../support/target.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const ask = (key: string) => request("/general?limit=1", { key: { value: key } });

/** A key that was never issued, which only the database can know. */
function makeUnknownKey(tier = "individual"): string {
  const key = `${tier}_${randomBytes(16).toString("hex")}`;
  return key + sha256(key).slice(0, 8);
}

function expectUnauthorized({ status, headers, json }: Answer): void {
  expect(status).toBe(401);
  expect(headers["www-authenticate"]).toBeTruthy();
  expect(headers["content-type"]).toMatch(/^application\/json/);
  expect(json.error).toEqual({ code: json.code, message: json.message });
  expect(json.message).toContain("x-api-key");
}

describe("a query without a valid key", () => {
  const paths = [
    ...["/", "/general?limit=1", "/federal_awards", "/no_such_table", "/general?report_id=eq.x"],
    // PostgREST would answer 400 before it checks the key.
    "/general?limit=x&select=(",
  ];
  const badKeys: Record<string, Request & { parameter?: string }> = {
    "no key": {},
    "an empty key": { key: { value: "" } },
    "what cannot be a key": { key: { value: "unknown" } },
    "a key with a wrong checksum": {
      key: { value: makeUnknownKey().replace(/.$/, (it) => (it === "0" ? "1" : "0")) },
    },
    "a key under another header's name": { headers: { apikey: "DEMO_KEY" } },
    "an unknown key in the query string": { parameter: "api_key=unknown" },
  };
  it.each(Object.entries(badKeys))("is refused with 401: %s", async (_, { parameter = "", ...options }) => {
    for (const path of paths) {
      const url = path + (path.includes("?") ? "&" : "?") + parameter;
      expectUnauthorized(await request(url, options));
    }
  });

  it("is refused with 401 when the key was never issued, whatever its tier", async () => {
    for (const tier of ["individual", "demo", "tribal", "no0such0tier"]) {
      const answer = await ask(makeUnknownKey(tier));
      expectUnauthorized(answer);
      expect(answer.json.code).toBe("API_KEY_INVALID");
    }
    expectUnauthorized(await ask(randomBytes(40).toString("hex").slice(0, 43)));
  });

  it("is refused if only its tier is changed", async () => {
    const forged = target.keys.individual.replace(/^.*_(.{32}).*/, "tribal_$1");
    expectUnauthorized(await ask(forged + sha256(forged).slice(0, 8)));
  });

  it("is refused with 401 however many come at once, each with a key of its own", async () => {
    const keys = Array.from({ length: 200 }, (_, index) => `unknown-${index}`);
    const answers = await Promise.all(keys.map((value) => request("/general?limit=1", { key: { value } })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
  });

  it("is refused when the key sent is the stored hash of a key", async () => {
    expect((await ask(sha256(target.keys.individual))).status).toBe(401);
  });
});

it("a key is refused from the very next request when it has expired", async () => {
  const issue = "select api_key from access.issue_key('individual', 'tester@example.gov', 'test')";
  const key = await queryValue<string>(issue);
  expect((await ask(key)).status).toBe(200);
  const hash = "key_sha256 = sha256(convert_to($1, 'UTF8'))";
  await query(`update access.api_keys set expires_at = now() where ${hash}`, [key]);
  expectUnauthorized(await ask(key));
});

describe("identity", () => {
  let suppressed: string;
  beforeAll(async () => {
    suppressed = await findReport(false);
  });

  it("comes from the key in the query string as well, which goes no further", async () => {
    const answer = await request(`/general?limit=1&api_key=${target.keys.individual}&select=report_id`);
    expect(answer.status).toBe(200);
    expect(JSON.stringify(answer.headers)).not.toContain(target.keys.individual);
  });

  it("is not taken from headers that a client forges", async () => {
    const forged = {
      "x-api-key-sha256": sha256(target.keys.tribal),
      x_api_key_sha256: sha256(target.keys.tribal),
      "x-api-key-tier": "tribal",
      authorization: "Bearer None",
      "x-filter-report-id": "eq.no-such-report",
    };
    for (const table of tables) {
      const path = `/${table}?report_id=eq.${suppressed}`;
      const { json: plain } = await request(path, { key: "individual" });
      expect((await request(path, { key: "individual", headers: forged })).json, table).toEqual(plain);
    }
    expect((await request("/general?limit=1", { headers: forged })).status).toBe(401);
  });
});

describe("PostgREST's own port", () => {
  it.each([
    ["nothing", {}],
    ["a key", { "x-api-key": "DEMO_KEY" }],
    ["the hash of a key", { "x-api-key-sha256": sha256("DEMO_KEY") }],
    [
      "a token of another secret",
      { authorization: "Bearer eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoiZ2F0ZXdheSJ9.c2lnbmF0dXJl" },
    ],
    ["an unsigned token", { authorization: "Bearer eyJhbGciOiJub25lIn0.eyJyb2xlIjoiYXBpX3RyaWJhbCJ9." }],
  ])("answers 401 to %s", async (_name, headers) => {
    expect((await send(target.postgrestUrl, "/general?limit=1", { headers })).status).toBe(401);
  });
});
