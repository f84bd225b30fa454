import { beforeAll, describe, expect, it } from "vitest";
import { columnNames, columns, tables } from "../support/columns.ts";
import { findReport, type KeyName, keyNames, queryValue, request } from "../support/target.ts";

// What each key can see of public and suppressed reports, and in which form.

let published: string;
let suppressed: string;
beforeAll(async () => {
  [published, suppressed] = [await findReport(true), await findReport(false)];
});

const isOfType: Record<string, (value: unknown) => boolean> = {
  TEXT: (value) => typeof value === "string",
  "TEXT[]": (value) => Array.isArray(value) && value.every((each) => typeof each === "string"),
  VARCHAR: (value) => typeof value === "string",
  BIGINT: (value) => Number.isSafeInteger(value),
  INTEGER: (value) => Number.isSafeInteger(value),
  BOOLEAN: (value) => typeof value === "boolean",
  DATE: (value) => typeof value === "string" && /^\d{4}-\d{2}-\d{2}$/.test(value),
};
it.each(Object.keys(columns))("%s has the published columns in order and their JSON types", async (table) => {
  const answer = await request(`/${table}?limit=200`, { key: "individual" });
  expect(answer.status).toBe(200);
  for (const row of answer.json) {
    expect(Object.keys(row)).toEqual(columnNames(table));
    for (const { name, type } of columns[table] ?? []) {
      const fits = row[name] === null || isOfType[type.replace(/\(\d+\)$/, "")]?.(row[name]);
      expect(fits, `${table}.${name} (${type}): ${JSON.stringify(row[name])}`).toBe(true);
    }
  }
});

describe.each(keyNames)("with the %s key", (key) => {
  const get = (path: string, headers = {}, method = "GET") => request(path, { key, headers, method });

  it.each([{}, { "accept-profile": "api_v1_1_0" }])("general returns a page with %j", async (headers) => {
    const answer = await get("/general?limit=5", headers);
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "content-range": "0-4/*",
      "content-profile": "api_v1_1_0",
    });
    expect(answer.json).toHaveLength(5);
    for (const row of answer.json) expect(Object.keys(row)).toEqual(columnNames("general"));
  });

  it("an unknown report_id gets 404, wherever the filter is in the query", async () => {
    const ids = ["2023-06-GSAFAC-9999999999", "x&report_id=eq.x", "x".repeat(20_000), "%C3%A9".repeat(60)];
    for (const query of ids.flatMap((id) => [`report_id=eq.${id}`, `select=report_id&report_id=eq.${id}`])) {
      // The gateway tells PostgREST the filter in this header, so it must overwrite the client's value.
      const { status, headers, json } = await get(`/general?${query}`, { "x-filter-report-id": "neq.x" });
      expect([status, json.code], query).toEqual([404, "report_not_found"]);
      expect(headers["content-type"]).toMatch(/^application\/json/);
      expect(Object.keys(json).sort()).toEqual(["code", "details", "hint", "message"]);
      expect(await get(`/general?${query}`, {}, "HEAD")).toMatchObject({ status, text: "" });
    }
  });

  it("other filters by report_id that find nothing get an empty array", async () => {
    const excluded = `eq.${published}&audit_year=eq.1900`;
    for (const filter of ["in.(no-such-report)", "like.no-such*", "gt.zzz", excluded])
      expect(await get(`/general?report_id=${filter}`), filter).toMatchObject({ status: 200, json: [] });
  });

  it("a suppressed report is one row of general: complete for a Tribal key, and otherwise a stub", async () => {
    const { status, json } = await get(`/general?report_id=eq.${suppressed}`);
    expect([status, json.length]).toEqual([200, 1]);
    const identity = { report_id: suppressed, is_public: false };
    const stub = Object.fromEntries(columnNames("general").map((name) => [name, null]));
    const whole = expect.objectContaining({ auditee_uei: expect.any(String), ...identity });
    expect(json).toEqual([key === "tribal" ? whole : { ...stub, ...identity }]);
  });

  it.each(tables)("%s shows suppressed reports only to Tribal keys (stubs: to all)", async (table) => {
    for (const schema of ["disclosed", "suppressed"]) {
      const rows = `select distinct report_id from ${schema}.${table} order by report_id limit 20`;
      const held = await queryValue<string[]>(`select array(${rows})`);
      const { status, json } = await get(`/${table}?report_id=in.(${held})&select=report_id`);
      expect(status).toBe(200);
      const seen = new Set(json.map((row: { report_id: string }) => row.report_id));
      const isShown = schema === "disclosed" || key === "tribal" || table === "general";
      expect([...seen].sort(), schema).toEqual(isShown ? held : []);
    }
  });
});

it.each(["demo", "individual"] as const)(
  "no filter reveals a value of a suppressed report to the %s key",
  async (key) => {
    const report = await queryValue("select report_id from suppressed.general limit 1");
    const [row] = (await request(`/general?report_id=eq.${report}`, { key: "tribal" })).json;
    expect(row.auditee_name).not.toBeNull();
    for (const [column, value] of Object.entries(row)) {
      if (value === null || value === "" || column === "report_id" || column === "is_public") continue;
      const filter = `report_id=eq.${report}&${column}=not.is.null`;
      expect((await request(`/general?${filter}`, { key })).json, column).toEqual([]);
    }
  },
);

it("an exact count does not include rows that the key may not see", async () => {
  const rows = await queryValue("select count(*) from disclosed.federal_awards");
  const options = { key: "individual", headers: { prefer: "count=exact" } } as const;
  const { headers } = await request("/federal_awards?limit=1", options);
  expect(headers["content-range"]).toBe(`0-0/${rows}`);
});

it("rows of a suppressed report are embedded only for a Tribal key", async () => {
  const report = await queryValue("select report_id from suppressed.federal_awards limit 1");
  const path = `/general?report_id=eq.${report}&select=report_id,federal_awards(award_reference)`;
  const embed = async (key: KeyName) => (await request(path, { key })).json;
  expect(await embed("individual")).toEqual([{ report_id: report, federal_awards: [] }]);
  expect((await embed("tribal"))[0].federal_awards.length).toBeGreaterThan(0);
});
