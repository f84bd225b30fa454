import { describe, expect, it } from "vitest";
import { computedTables, tables } from "../support/columns.ts";
import {
  type KeyName,
  keyNames,
  query,
  queryValue,
  type Request,
  request,
  target,
} from "../support/target.ts";

// PostgREST clients work unchanged, cannot write, and learn that the data set has changed.

const get = (path: string, headers: Record<string, string> = {}) =>
  request(path, { key: "individual", headers });
const single = "application/vnd.pgrst.object+json";
const profile = (name: string, key: KeyName = "tribal") => ({ key, headers: { "accept-profile": name } });
type Refusal = [path: string, options: Request, status: number | number[], code?: string];
const behindTheApi = "disclosed suppressed dissemination access request public pg_catalog".split(" ");
const noTables = "/no_such_table /rpc/no_such_function /data_set /api_keys /general/ /v1/general".split(" ");
it.each<Refusal>([
  ["/general?limit=2", { headers: { accept: single } }, 406, "PGRST116"],
  // PostgREST 12.0.2 answers 415.
  ["/general?limit=1", { headers: { accept: "application/xml" } }, [406, 415], "PGRST107"],
  ["/general?select=report_id&offset=10000000", { headers: { prefer: "count=exact" } }, 416, "PGRST103"],
  ["/general?audit_year=2023", {}, 400, "PGRST100"],
  ["/general?no_such_column=eq.1", {}, 400, "42703"],
  ["/general?fac_accepted_date=eq.yesterdayish", {}, 400, "22007"],
  ["/federal_awards?select=audit_year,amount_expended.sum()", {}, 400, "PGRST123"],
  ["/general", { headers: { accept: "application/geo+json" } }, 406, "PGRST107"],
  ["/rpc/general", { method: "POST", body: "{}" }, 404, "no_such_function"],
  ["/", profile("admin_api_v1_1_0", "demo"), 401, "tribal_key_required"],
  ["/", profile("admin_api_v1_1_0", "individual"), 401, "tribal_key_required"],
  ...behindTheApi.map((name): Refusal => ["/general", profile(name), 406]),
  ...noTables.map((path): Refusal => [path, { key: "tribal" }, 404]),
])("%s with %j gets %s %s", async (path, options, status, code) => {
  const { status: answered, json } = await request(path, { key: "individual", ...options });
  expect([status].flat()).toContain(answered);
  expect(json.message).toBeTypeOf("string");
  if (code !== undefined) expect(json.code).toBe(code);
});

it.each(tables)("a write to %s is refused with 405", async (table) => {
  for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
    const headers = { "content-type": "application/json" };
    const body = '{"report_id": "x"}';
    const answer = await request(`/${table}?report_id=eq.x`, { method, key: "tribal", headers, body });
    expect([answer.status, answer.json.message], method).toEqual([405, "This API is read-only."]);
  }
});

it("errors name the alternatives: served versions, and tables of totals instead of aggregates", async () => {
  const { json: version } = await request("/general?limit=1", profile("api_v1_0_3"));
  // PostgREST 13.0.7 moved the list from the message to the hint.
  expect(`${version.message} ${version.hint}`).toMatch(/ api_v1_1_0, (.*, )?admin_api_v1_1_0/);
  const { json: aggregate } = await get("/federal_awards?select=amount_expended.sum()");
  for (const table of computedTables.filter((name) => name.startsWith("totals_")))
    expect(aggregate.hint).toContain(table);
});

// The versions of PostgREST give different hints, or none.
it.each([
  ["/findingstext", {}, "GET / lists the tables"],
  ["/general?select=no_such_column", {}, "/reference"],
  ["/general?auditee_nam=eq.x", {}, "/reference"],
  ["/general?select=findings(no_such_column)", {}, "/reference"],
  ["/general", { accept: "application/geo+json" }, "text/csv"],
  ["/general", { accept: "application/xml" }, "text/csv"],
] as const)("%s with %j gets a hint that says where to look: %s", async (path, headers, hint) => {
  const { json } = await get(path, headers);
  expect(json.hint).toContain(hint);
});

it("formats in capital letters are served", async () => {
  expect((await get("/general?limit=1", { accept: "TEXT/CSV" })).headers["content-type"]).toMatch(
    /^text\/csv/,
  );
});

it("GeoJSON is left out of Accept if the client accepts other formats too", async () => {
  const answer = await get("/general?limit=1", { accept: "application/geo+json, text/csv;q=0.5" });
  expect([answer.status, answer.headers["content-type"]]).toEqual([200, "text/csv; charset=utf-8"]);
});

describe("format=csv in the query string", () => {
  it.each(["*/*", "text/html, application/xml;q=0.9, */*;q=0.8", "TEXT/CSV", ""])(
    "means CSV if Accept is %j, and is no filter",
    async (accept) => {
      const csv = await get("/general?select=report_id&limit=2", { accept: "text/csv" });
      const answer = await get("/general?select=report_id&format=csv&limit=2", { accept });
      expect([answer.status, answer.headers["content-type"]]).toEqual([200, "text/csv; charset=utf-8"]);
      expect(answer.text).toBe(csv.text);
    },
  );

  it("works with a key in the query string, as in an address that a spreadsheet reads", async () => {
    const key = `api_key=${target.keys.individual}`;
    for (const query of [`format=csv&${key};limit=1`, `limit=1&${key}&format=csv`]) {
      const { status, text } = await request(`/general?select=report_id&${query}`);
      expect([status, text.split("\n").length]).toEqual([200, 3]);
    }
  });

  it.each([
    ["format=xlsx", "*/*"],
    ["format=", "*/*"],
    ["format=CSV", "*/*"],
    ["format=csv", "application/json"],
    ["format=csv", "application/vnd.pgrst.object+json"],
  ])("is refused if it is %s and Accept is %s", async (query, accept) => {
    const { status, json } = await get(`/general?limit=1&${query}`, { accept });
    expect([status, json.code]).toEqual([400, "request_refused"]);
    expect(json.message).toContain("format");
  });
});

// A response to HEAD has no body, and browsers can read only the headers that CORS exposes.
it.each<[path: string, options: Request, code: string]>([
  ["/general", {}, "API_KEY_MISSING"],
  ["/general", { key: { value: "unknown" } }, "API_KEY_INVALID"],
  ["/general?limit=x", { key: "individual" }, "request_refused"],
  ["/general?report_id=eq.none", { key: "individual" }, "report_not_found"],
  ["/general", { key: "individual", headers: { "if-match": '"x"' } }, "data_set_changed"],
  ["/", profile("admin_api_v1_1_0", "individual"), "tribal_key_required"],
  ["/GENERAL", { key: "individual" }, "no_such_table"],
  ["/general?x;report_id=eq.none", { key: "individual" }, "report_not_found"],
  ["/general?offset=9999999", { key: "individual", headers: { prefer: "count=exact" } }, "PGRST103"],
  ["/rpc/request_file_access", { key: "tribal" }, "method_not_allowed"],
  [`/general?${"x".repeat(40_000)}`, { key: "individual" }, "uri_too_long"],
])("a failed HEAD of %s with %j names its error in Proxy-Status", async (path, options, code) => {
  const { headers, text } = await request(path, { ...options, method: "HEAD" });
  expect([headers["proxy-status"], text]).toEqual([expect.stringMatching(`^\\w+; error=${code}$`), ""]);
  expect(headers["access-control-expose-headers"]).toContain("proxy-status");
  const { json, headers: same } = await request(path, options);
  expect([json.code, same["proxy-status"]]).toEqual([code, headers["proxy-status"]]);
});

it("browsers may send every header", async () => {
  const names = "x-api-key,x-client-info,x-retry-count,cache-control,x-anything";
  const headers = {
    origin: "https://example.org",
    "access-control-request-method": "GET",
    "access-control-request-headers": names,
  };
  const answer = await request("/general", { method: "OPTIONS", headers });
  expect([answer.status, answer.headers["access-control-allow-headers"]]).toEqual([200, names]);
});

describe("pages", () => {
  it.each(["", "&limit=40000"])("have at most 20,000 rows (%j)", async (limit) => {
    const rows = await queryValue<number>("select least(count(*), 20000)::int from disclosed.federal_awards");
    const answer = await get(`/federal_awards?select=report_id${limit}`);
    expect([answer.status, answer.json.length]).toEqual([200, rows]);
    expect(answer.headers["content-range"]).toBe(`0-${rows - 1}/*`);
  });

  it("neither overlap nor miss rows, and keep the table's order", async () => {
    const walked: unknown[] = [];
    for (let offset = 0, rows: unknown[] = [0]; rows.length > 0; offset += 5000) {
      const page = `limit=5000&offset=${offset}`;
      rows = (await get(`/federal_awards?select=report_id,award_reference&${page}`)).json;
      walked.push(...rows);
    }
    const rows = await query("select report_id, award_reference from disclosed.federal_awards order by ctid");
    expect(walked).toEqual(rows);
  });

  it("are the same with Range as with limit and offset, and empty past the end", async () => {
    const answer = await get("/general?select=report_id", { "range-unit": "items", range: "2-4" });
    expect([answer.status, answer.headers["content-range"]]).toEqual([200, "2-4/*"]);
    expect(answer.json).toEqual((await get("/general?select=report_id&limit=3&offset=2")).json);
    expect(await get("/general?offset=10000000")).toMatchObject({ status: 200, json: [] });
  });

  it.each(["exact", "planned", "estimated"])("carry a total with Prefer: count=%s", async (count) => {
    const answer = await get("/general?select=report_id&limit=2", { prefer: `count=${count}` });
    expect(answer.status).toBe(206);
    expect(answer.headers["content-range"]).toMatch(/^0-1\/\d+$/);
  });
});

it.each<[filter: string, column: string, pattern: RegExp]>([
  ["audit_year=gte.2022&audit_year=lte.2023", "audit_year", /^202[23]$/],
  ["or=(auditee_state.eq.CA,auditee_state.eq.TX)", "auditee_state", /^(CA|TX)$/],
  ["and=(audit_year.eq.2023,or(auditee_state.eq.CA,auditee_state.eq.NY))", "audit_year", /^2023$/],
  ["auditee_state=not.eq.CA&is_public=eq.true", "auditee_state", /^(?!CA)/],
  ["auditee_state=in.(CA,TX)", "auditee_state", /^(CA|TX)$/],
  ["auditee_name=ilike(any).{*county*,*city*}", "auditee_name", /county|city/i],
  ["auditee_name=fts.county", "auditee_name", /count/i],
])("the filter %s returns rows, and only rows that match", async (filter, column, pattern) => {
  const { status, json } = await get(`/general?select=${column}&${filter}&limit=50`);
  expect([status, json.length > 0]).toEqual([200, true]);
  for (const row of json) expect(row[column]).toMatch(pattern);
});

it("embedding adds a row's submission as an object, and !inner filters by it", async () => {
  const path = "/federal_awards?select=general!inner(auditee_state)&general.auditee_state=eq.CA&limit=20";
  const { json } = await get(path);
  expect(json.length).toBeGreaterThan(0);
  for (const row of json) expect(row).toEqual({ general: { auditee_state: "CA" } });
});

describe("the ETag", () => {
  const page = "/general?limit=3&select=report_id";
  const getEtag = async (key: KeyName = "individual") => String((await request(page, { key })).headers.etag);

  it.each(tables)("of %s is the same for all tables, and only clients may cache it", async (table) => {
    const { headers } = await get(`/${table}?limit=1`);
    expect(headers.etag).toMatch(/^(W\/)?"[0-9a-f]{32}"$/);
    expect(headers["cache-control"]).toBe("private, no-cache");
    expect([headers.vary].join()).toContain("Accept, Accept-Profile, Prefer, Range, X-Api-Key");
    expect(headers.etag).toBe(await getEtag());
  });

  it.each([
    [304, "if-none-match", (etag: string) => [etag, `W/${etag}`, `"other", ${etag}`]],
    [200, "if-none-match", () => ['"other"', "*", "nonsense"]],
    [200, "if-match", (etag: string) => [etag, `W/${etag}`, `"other", ${etag}`, "*"]],
    [412, "if-match", () => ['"stale"']],
  ] as const)("gives %i when tested with %s", async (status, name, makeValues) => {
    const etag = await getEtag();
    for (const value of makeValues(etag)) {
      const headers = { [name]: value };
      const answer = await get(page, headers);
      expect([answer.status, answer.headers.etag], value).toEqual([status, etag]);
      if (status === 200) expect(answer.json).toHaveLength(3);
      // A Content-Length without a body breaks clients that keep connections open.
      if (status === 304) expect([answer.text, answer.headers["content-length"]]).toEqual(["", undefined]);
      if (status === 412) expect(answer.json.code).toBe("data_set_changed");
      const head = await request(page, { key: "individual", method: "HEAD", headers });
      expect(head.status, value).toBe(status);
    }
  });

  it("differs between tiers, and another tier's ETag does not match", async () => {
    expect(new Set(await Promise.all(keyNames.map(getEtag))).size).toBe(3);
    expect((await get(page, { "if-none-match": await getEtag("tribal") })).status).toBe(200);
  });
});
