import { createHash, randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { tables } from "../support/columns.ts";
import { type Answer, findReport, makeAddress, request, send, target } from "../support/target.ts";

// Requests that are refused because of their key. test/gateway/conformance-cases.json has more of them.

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const ask = (value: string, from?: string) =>
  request("/general?limit=1", { key: { value }, ...(from && { from }) });
const addChecksum = (key: string) => key + sha256(key).slice(0, 8);
/** A well-formed key that was never issued, so only the database can refuse it. */
const makeKey = (tier = "individual") => addChecksum(`${tier}_${randomBytes(16).toString("hex")}`);

function expectUnauthorized({ status, headers, json }: Answer): void {
  expect(status).toBe(401);
  expect(headers["www-authenticate"]).toBeTruthy();
  expect(headers["content-type"]).toMatch(/^application\/json/);
  expect(json.error).toEqual({ code: json.code, message: json.message });
  expect(json.message).toContain("x-api-key");
}

it.each([
  ...["/?", "/general?limit=1", "/federal_awards?", "/no_such_table?", "/general?report_id=eq.x"],
  // PostgREST would answer 400 before it checks the key.
  "/general?limit=x&select=(",
])("%s without a valid key is refused with 401", async (path) => {
  expectUnauthorized(await request(path));
  expectUnauthorized(await request(path, { key: { value: "unknown" } }));
  expectUnauthorized(await request(`${path}&api_key=unknown`));
});

it("keys that were never issued are refused with 401, also if many come at once", async () => {
  const tiers = Array.from({ length: 100 }, (_, n) => ["individual", "tribal", "no0such0tier"][n % 3]);
  // The rate limit of the tier demo is per address, so this key needs its own.
  const demo = ask(makeKey("demo"), makeAddress());
  for (const answer of await Promise.all([...tiers.map((tier) => ask(makeKey(tier))), demo])) {
    expectUnauthorized(answer);
    expect(answer.json.code).toBe("API_KEY_INVALID");
  }
});

it.each([
  ["a key of another tier", (key: string) => addChecksum(key.replace(/^.*_(.{32}).*/, "tribal_$1"))],
  ["the stored hash of a key", sha256],
  ["43 characters, like an older key", (key: string) => sha256(key).slice(0, 43)],
])("a key turned into %s is refused", async (_, forge) => {
  expectUnauthorized(await ask(forge(target.keys.individual)));
});

it("a key in the query counts if the header is empty, and never reaches PostgREST", async () => {
  const path = `/general?limit=1;api_key=${target.keys.individual}&select=report_id`;
  const { status, json } = await request(path, { headers: { "x-api-key": "" } });
  expect([status, Object.keys(json[0])]).toEqual([200, ["report_id"]]);
});

it("forged headers do not change which key a request has", async () => {
  const headers = {
    "x-api-key-sha256": sha256(target.keys.tribal),
    x_api_key_sha256: sha256(target.keys.tribal),
    "x-api-key-tier": "tribal",
    authorization: "Bearer None",
    "x-filter-report-id": "eq.no-such-report",
  };
  const suppressed = await findReport(false);
  for (const table of tables) {
    const path = `/${table}?report_id=eq.${suppressed}`;
    const { json: plain } = await request(path, { key: "individual" });
    expect((await request(path, { key: "individual", headers })).json, table).toEqual(plain);
  }
  expectUnauthorized(await request("/general?limit=1", { headers }));
});

const bearer = (head: string, claims: string, signature: string) => {
  const [first, second] = [head, claims].map((text) => Buffer.from(text).toString("base64url"));
  return { authorization: `Bearer ${first}.${second}.${signature}` };
};
it.each<[string, Record<string, string>]>([
  ["no credentials", {}],
  ["a key", { "x-api-key": "DEMO_KEY" }],
  ["the hash of a key", { "x-api-key-sha256": sha256("DEMO_KEY") }],
  ["a token signed with another secret", bearer('{"alg":"HS256"}', '{"role":"gateway"}', "c2lnbmF0dXJl")],
  ["an unsigned token", bearer('{"alg":"none"}', '{"role":"api_tribal"}', "")],
])("PostgREST's own port answers 401 to %s", async (_, headers) => {
  expect((await send(target.postgrestUrl, "/general?limit=1", { headers })).status).toBe(401);
});
