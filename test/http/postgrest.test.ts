import { beforeAll, describe, expect, it } from "vitest";
import { columnNames } from "../support/columns.ts";
import { findReport, query, queryValue, request } from "../support/target.ts";

// Clients of PostgREST work unchanged.

const get = (path: string, headers: Record<string, string> = {}) =>
  request(path, { key: "individual", headers });
let published: string;
beforeAll(async () => {
  published = await findReport(true);
});

const single = "application/vnd.pgrst.object+json";
type Refusal = [path: string, headers: Record<string, string>, status: number, code: string];
it.each<Refusal>([
  ["/general?limit=2", { accept: single }, 406, "PGRST116"],
  ["/general?select=report_id&offset=10000000", { prefer: "count=exact" }, 416, "PGRST103"],
  ["/general?audit_year=2023", {}, 400, "PGRST100"],
  ["/general?no_such_column=eq.1", {}, 400, "42703"],
  ["/general?fac_accepted_date=eq.yesterdayish", {}, 400, "22007"],
  ["/federal_awards?select=audit_year,amount_expended.sum()", {}, 400, "PGRST123"],
])("%s with %j is answered %i %s", async (path, headers, status, code) => {
  const answer = await get(path, headers);
  expect([answer.status, answer.json.code]).toEqual([status, code]);
});

describe("representations", () => {
  it("are CSV and single objects", async () => {
    const csv = await get("/general?limit=2", { accept: "text/csv" });
    expect([csv.status, csv.headers["content-type"]]).toEqual([200, "text/csv; charset=utf-8"]);
    expect(csv.text.split("\n")[0]).toBe(columnNames("general").join(","));
    const one = await get(`/general?report_id=eq.${published}`, { accept: single });
    expect([one.status, one.json.report_id]).toEqual([200, published]);
    expect(one.headers["content-type"]).toMatch(single);
  });

  it("are refused where PostgREST has none", async () => {
    const answer = await get("/general?limit=1", { accept: "application/xml" });
    expect(answer.json.code).toBe("PGRST107");
    // PostgREST 12.0.3 and newer say 406.
    expect([406, 415]).toContain(answer.status);
  });
});

describe("pages", () => {
  it.each(["", "&limit=40000"])("are cut at exactly 20,000 rows (%s)", async (limit) => {
    const rows = await queryValue<number>(
      "select least(count(*), 20000)::integer from disclosed.federal_awards",
    );
    const answer = await get(`/federal_awards?select=report_id${limit}`);
    expect([answer.status, answer.json.length]).toEqual([200, rows]);
    expect(answer.headers["content-range"]).toBe(`0-${rows - 1}/*`);
  });

  it("neither overlap nor miss rows, and keep the order of the table", async () => {
    const walked: unknown[] = [];
    for (let offset = 0, rows: unknown[] = [0]; rows.length > 0; offset += 5000) {
      const page = `limit=5000&offset=${offset}`;
      rows = (await get(`/federal_awards?select=report_id,award_reference&${page}`)).json;
      walked.push(...rows);
    }
    const rows = await query("select report_id, award_reference from disclosed.federal_awards order by ctid");
    expect(walked).toEqual(rows);
  });

  it("are the same by Range as by limit and offset, and empty past the end", async () => {
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
])("the filter %s finds rows, and no others", async (filter, column, pattern) => {
  const { status, json } = await get(`/general?select=${column}&${filter}&limit=50`);
  expect([status, json.length > 0]).toEqual([200, true]);
  for (const row of json) expect(row[column]).toMatch(pattern);
});

it("rows are ordered as asked, nulls included", async () => {
  const order = "total_amount_expended.desc.nullslast,report_id.asc";
  const { json } = await get(`/general?select=total_amount_expended&order=${order}&limit=100`);
  const amounts = json.map((row: { total_amount_expended: number }) => row.total_amount_expended);
  expect(amounts).toEqual([...amounts].sort((a, b) => b - a));
});

it("embedding brings the submission of a row as an object, and filters by it with !inner", async () => {
  const path = "/federal_awards?select=general!inner(auditee_state)&general.auditee_state=eq.CA&limit=20";
  const { json } = await get(path);
  expect(json.length).toBeGreaterThan(0);
  for (const row of json) expect(row).toEqual({ general: { auditee_state: "CA" } });
});
