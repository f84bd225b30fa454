import { describe, expect, it } from "vitest";
import { type Answer, findReport, request, send, target } from "../support/target.ts";

// What scripts on pages of other sites can read of the app, and what caches must know.

const origin = "https://example.org";
const preflight = {
  origin,
  "access-control-request-method": "GET",
  "access-control-request-headers": "range",
};
const download = "/dissemination/report/pdf";
const unknown = "2023-06-GSAFAC-9999999999";
const token = "00000000-0000-4000-8000-000000000000";

/** Sends to the app what a browser sends for a script on another site's page. Returns the status and who may read the response. */
async function ask(path: string, method = "GET", base = target.appUrl) {
  const headers = method === "OPTIONS" ? preflight : { origin };
  const answer = await send(base, path, { method, headers });
  return [answer.status, answer.headers["access-control-allow-origin"], answer] as const;
}

it.each([
  ["/openapi.json", 200],
  ["/changes.atom", 200],
  ["/public-data/manifest.json", 200],
  ["/public-data/general.parquet", 200],
  ["/public-data/none.csv.gz", 404],
  ["/dissemination/public-data/gsa/full/general.csv", 200],
  ["/dissemination/public-data/gsa/full/none.csv", 404],
  [`${download}/${unknown}`, 404],
])("they can read %s (%i)", async (path, status) => {
  expect((await ask(path)).slice(0, 2)).toEqual([status, "*"]);
  const [answered, allowed, { headers }] = await ask(path, "OPTIONS");
  expect([answered, allowed]).toEqual([204, "*"]);
  expect(headers["access-control-allow-headers"]).toMatch(/\bRange\b.*\bIf-None-Match\b/);
});

it("they can read the PDF of a public report, through the redirect", async () => {
  const [status, allowed, { headers }] = await ask(`${download}/${await findReport(true)}`);
  expect([status, allowed]).toEqual([302, "*"]);
  const { origin: storage, pathname, search } = new URL(String(headers.location), target.appUrl);
  const [answered, readable, file] = await ask(pathname + search, "GET", storage);
  expect([answered, readable, file.headers["content-type"]]).toEqual([200, "*", "application/pdf"]);
  expect((await ask(pathname + search, "OPTIONS", storage)).slice(0, 2)).toEqual([204, "*"]);
});

it.each(["/", "/search?q=ohio", "/reference", "/healthz", "/nothing", `${download}/ota/${token}`])(
  "they cannot read %s",
  async (path) => {
    expect((await ask(path))[1]).toBeUndefined();
    expect((await ask(path, "OPTIONS"))[0]).toBe(405);
  },
);

describe("a cache", () => {
  it.each([
    ["/", "GET"],
    ["/", "HEAD"],
    ["/general?limit=1", "GET"],
    ["/general?limit=1", "HEAD"],
  ])("may give %s (%s) only to the same key, and only if it is current", async (path, method) => {
    const { status, headers } = await request(path, { method, key: "individual" });
    expect([status, headers["cache-control"]]).toEqual([200, "private, no-cache"]);
    expectVary(headers);
    if (path === "/") return;
    const again = { "if-none-match": String(headers.etag) };
    const unchanged = await request(path, { method, key: "individual", headers: again });
    expect([unchanged.status, unchanged.headers["cache-control"]]).toEqual([304, "private, no-cache"]);
    expectVary(unchanged.headers);
  });

  it.each([
    [404, "/general?report_id=eq.2023-06-GSAFAC-9999999999"],
    [400, "/general?none=eq.1"],
    [404, "/none"],
    [414, `/general?${"x".repeat(33_000)}`],
  ])("keeps no error: %i", async (status, path) => {
    const answer = await request(path, { key: "individual" });
    expect([answer.status, answer.headers["cache-control"]]).toEqual([status, "no-store"]);
  });
});

function expectVary(headers: Answer["headers"]): void {
  const names = String(headers.vary).toLowerCase().split(/,\s*/);
  expect(names).toEqual(expect.arrayContaining(["x-api-key", "accept", "accept-profile"]));
}
