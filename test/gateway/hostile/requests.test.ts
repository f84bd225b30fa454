import { describe, expect, it } from "vitest";
import { childTables, columnNames, embeddableTables } from "../../support/columns.ts";
import { findReport, request, target } from "../../support/target.ts";
import { sendBytes } from "../gateways.ts";

// Both gateways refuse expensive, misleading or harmful requests before they count or forward them.

/** Sends a row of a test table: a path, or a query string for the table general. */
const get = (row: string, headers: Record<string, string> = {}) =>
  request(row.startsWith("/") ? row : `/general?limit=1&${row}`, { key: "individual", headers });
const list = (count: number, item = "report_id") => Array.from({ length: count }, () => item).join(",");
const ids = Array.from({ length: 1000 }, (_, n) => `2023-06-GSAFAC-${String(n).padStart(10, "0")}`).join(",");
const nest = (depth: number, open = "(") =>
  `or=${`${open}and`.repeat(depth - 1)}(is_public.is.true,is_public.is.false)${")".repeat(depth - 1)}`;
/** Sends a GET request with these header lines. Returns the raw response. */
const getRaw = (path: string, head: string) =>
  sendBytes(
    target.baseUrl,
    `GET ${path} HTTP/1.1\r\nHost: a\r\nX-Api-Key: ${target.keys.individual}\r\n${head}\r\n\r\n`,
  );

/** Requests that are refused, by a part of the hint that they get. */
const refused: Record<string, string[]> = {
  "300 columns": [
    `select=${list(301)}`,
    `s%65lect=${list(301).replaceAll(",", "%2C")}`,
    `federal_awards.order=${list(301)}`,
    `select=a:report_id${"->b".repeat(400)}`,
  ],
  "each column once": [
    "/findings_text?limit=1&select=a:finding_text,b:finding_text",
    "/findings_text?limit=1&select=*,a:finding_text",
    "/findings_text?limit=1&select=a:finding_text,*",
    'select="report_id",report_id',
    "select=report_id,a:report_id::text",
    "select=report_id,a:report_id->0",
    "select=report_id,+report_id%20",
    "select=report_id,report%5Fid",
    "select=report_id,findings_text(a:finding_text,b:finding_text)",
    // PostgREST also splits queries at semicolons.
    "/findings_text?x;limit=1;select=a:finding_text,b:finding_text",
  ],
  "the whole name": [
    'select=a:report_id->a",b:auditee_name,c:auditee_name,d:report_id->b"',
    'select="report_id',
    // In the key of a JSON path, PostgREST takes "!" and quotation marks as they are.
    'select=x:report_id->a!",b:auditee_name,c:auditee_name,d:report_id->b!"',
    'select=x:report_id->"q"!",b:auditee_name,c:auditee_name,d:report_id->b!"',
  ],
  "at most 200 bytes": [
    `select=${Array.from({ length: 10 }, (_, n) => `${"x".repeat(63)}${n}:${n}`)}`,
    `${"federal_awards.".repeat(20)}order=report_id`,
  ],
  "without a cast": ["/findings_text?limit=1&select=finding_text::BYTEA", "x;select=report_id::bytea"],
  'Embed "general" only once': [
    "/findings?limit=1&select=a:general(report_id),b:general(report_id)",
    "select=*,federal_awards(*,...general(*))",
  ],
  "more than twice": [`select=${["a", "b", "c"].map((it) => `${it}:findings!inner(award_reference)`)}`],
  "4 deep": [`/findings?limit=1&select=${"federal_awards(findings(".repeat(2)}federal_awards(*)))))`],
  "10 tables": [`select=${[...childTables, "x:findings"].map((it) => `${it}(report_id)`)}`],
  "1500 columns": [`audit_year=in.(${list(1501, "1")})`, `audit_year=in.(${list(301, "1")})&`.repeat(5)],
  "6 deep": [...[nest(7), nest(7, "%28"), `or=${"(".repeat(7000)}`, `or=${")".repeat(20)}${"(".repeat(7)}`]],
  "100 parameters": [`${"limit=1&".repeat(99)}report_id=eq.X`, `${"audit_year=neq.1;".repeat(101)}`],
  "32000 bytes": [`auditee_name=eq.${"x".repeat(32_000)}`],
  // A stray byte, an overlong form, half a surrogate pair, too large a code point, a truncated one, and a zero byte.
  "without %00": ["%ff", "%C0%AF", "%ED%A0%80", "%F4%90%80%80", "%E2%82", "a%00b"].map(
    (bytes) => `auditee_name=eq.${bytes}`,
  ),
  "such as limit=100": [
    ...["50abc", "1,000", "1e3", "1.5", "", "all", "0x10", "(-1)", "9".repeat(30)].map((it) => `limit=${it}`),
    ...["limit=-1", "x;limit=x", "federal_awards.limit=-1"],
    ...["x", "-1", "(-1)"].map((it) => `/findings?select=report_id,general(*)&general.limit=${it}`),
  ],
  "such as offset=100": ["abc", "1%20000", "-", "-5"].map((it) => `offset=${it}`),
  "Encode # as %23": ["limit=1#x", "auditee_name=eq.#1"],
};

describe("a request is refused", () => {
  it.each(Object.entries(refused))("with the hint %j", async (hint, rows) => {
    for (const row of rows) {
      const { status, json, headers } = await get(row);
      expect([status, json?.code], row.slice(0, 100)).toEqual([400, "request_refused"]);
      expect(json.hint, row.slice(0, 100)).toContain(hint);
      expect(headers["access-control-allow-origin"]).toBe("*");
      expect(headers["x-ratelimit-remaining-hour"]).toBeUndefined();
    }
  });

  it.each([
    ["a header that is not UTF-8", "User-Agent: \xff"],
    ["headers of more than 16,000 bytes", `X-A: ${"a".repeat(9000)}\r\nX-B: ${"a".repeat(9000)}`],
    ["more than 100 headers", `${"X-A: 1\r\n".repeat(100)}X-B: 1`],
    ["Content-Length on GET", "Content-Length: 5"],
    ["a chunked body on GET", "Transfer-Encoding: chunked"],
    ["a Connection header that names the filter", "Connection: X-Filter-Report-Id"],
    ["a second Connection header that names the key", "Connection: close\r\nConnection: x-api-key-sha256"],
    ["a Connection header that names Content-Length", "Connection: content-length"],
  ])("for %s", async (_, head) => {
    const answer = await getRaw("/general?report_id=eq.none", head);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });

  it("for a path with a zero byte, and gets 404 for a path that is not a table's name", async () => {
    expect((await get("/general%00")).status).toBe(400);
    // A line break must not make the gateway check a different path and query from those it forwards.
    const twoLines = `/general%0A/general%0Alimit=1?${"a=eq.1&".repeat(150)}`;
    for (const path of [
      `/${"/".repeat(31_000)}`,
      "/general%ff",
      "/GENERAL",
      "/general&api_key=x",
      `/${"a".repeat(50)}`,
      twoLines,
    ])
      expect(await get(path), path).toMatchObject({ status: 404, json: { code: "no_such_table" } });
    // Kong would send PostgREST these bytes in X-Forwarded-Path, even if its normalized path does not have them.
    for (const path of ["/\x80/..", "/\x80/../general"])
      expect(await getRaw(`${path}?limit=1`, "Connection: close"), path).toMatch(/^HTTP\/1\.1 40[04] /);
  });
});

it.each([
  ["300 columns", `order=${list(300)}`],
  ["all columns by name", `select=${columnNames("general").join(",%20")}`],
  ["aliases, casts and quotes", 'select="Report":"report_id",name:auditee_name::text,year:audit_year->>0'],
  ["10 embedded tables", `select=${embeddableTables.slice(0, 10).map((it) => `${it}(*)`)}`],
  ["a table embedded twice", "select=report_id,a:findings(award_reference),b:findings(award_reference)"],
  ["tables embedded 4 deep", "select=*,federal_awards(*,findings(*,federal_awards(*,findings(*))))"],
  ["columns of general spread into a row", "/findings?limit=1&select=*,...general(auditee_name)"],
  ["1,000 report IDs", `select=report_id&report_id=in.(${ids})`],
  ["1,000 report IDs in another table", `/federal_awards?select=report_id&report_id=in.(${ids})`],
  ["parentheses 6 deep", nest(6)],
  ["spaces around a limit", "limit=+2%20&offset=0"],
  ["100 parameters", `${"audit_year=neq.1&".repeat(98)}select=report_id`],
  ["characters of 1 to 4 bytes", "auditee_name=eq.a%C3%A9%E2%82%AC%ED%9F%BF%F0%9F%98%80%F4%8F%BF%BF"],
])("a request with %s passes", async (_, row) => expect(await get(row)).toMatchObject({ status: 200 }));

it.each(["Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c", "Connection: close", "Content-Length: 0"])(
  "a request with %j passes",
  async (head) => expect(await getRaw("/general?report_id=eq.none", head)).toMatch(/^HTTP\/1\.1 404 /),
);

it.each(["a", "+", "."])("a select of 31,000 times %j is answered or refused", async (letter) => {
  for (const select of [letter.repeat(31_000), `"report_id",${letter.repeat(30_980)}`])
    expect((await get(`select=${select}`)).status).toBeLessThan(500);
});

it("a response does not repeat the URL, because some clients read at most 16 KB of headers", async () => {
  const path = `/general?select=report_id&report_id=in.(${ids},${await findReport(true)})`;
  const answer = await fetch(target.baseUrl + path, { headers: { "x-api-key": target.keys.individual } });
  expect([answer.status, answer.headers.get("content-location")]).toEqual([200, null]);
  expect(answer.headers.get("access-control-expose-headers")).not.toContain("content-location");
  expect(await answer.json()).not.toHaveLength(0);
});

it.each([
  ["/general?limit=100", "application/json"],
  ["/general?limit=100", "text/csv"],
  ["/general?limit=1", "application/vnd.pgrst.object+json"],
  ["/", "application/openapi+json"],
])("%s as %s is compressed only if Accept-Encoding allows it, and has Vary", async (path, accept) => {
  for (const [encoding, expected] of Object.entries({ gzip: "gzip", identity: undefined })) {
    const { status, headers } = await get(path, { accept, "accept-encoding": encoding });
    expect([status, headers["content-encoding"]]).toEqual([200, expected]);
    expect([headers.vary].flat().join()).toContain("Accept-Encoding");
  }
});

const hidden = "GET /general?limit=1&select=stranger:audit_year HTTP/1.1\r\nHost: a\r\nX-Api-Key: DEMO_KEY";
const length = `Content-Length: ${hidden.length + 4}\r\n`;
it.each([
  `${length}Connection: content-length`,
  `${length}Content-Length: 0`,
  `${length}Transfer-Encoding: chunked`,
  "Transfer-Encoding: chunked, identity\r\nConnection: transfer-encoding",
])("a witness with another key gets its own rows while a request is smuggled (%j)", async (head) => {
  const attack = getRaw("/general?limit=0", `${head}\r\n\r\n${hidden}`);
  for (const turn of [1, 2, 3, 4]) {
    const { json } = await request(`/general?limit=1&select=mine${turn}:report_id`, { key: "tribal" });
    expect(Object.keys(json[0])).toEqual([`mine${turn}`]);
  }
  await attack;
});
