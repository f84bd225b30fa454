import { beforeAll, describe, expect, it } from "vitest";
import { columnNames, columns } from "../support/columns.ts";
import { findReport, keyNames, request } from "../support/target.ts";

let published: string;
let suppressed: string;

beforeAll(async () => {
  published = await findReport(true);
  suppressed = await findReport(false);
});

describe.each(keyNames)("general, with the %s key", (key) => {
  it.each([[{}], [{ "accept-profile": "api_v1_1_0" }]])(
    "answers a page with the published columns in their order, with %j",
    async (headers) => {
      const answer = await request("/general?limit=5", { key, headers });
      expect(answer.status).toBe(200);
      expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
      expect(answer.headers["content-range"]).toBe("0-4/*");
      expect(answer.headers["content-profile"]).toBe("api_v1_1_0");
      expect(answer.headers.etag).toMatch(/^(W\/)?"[^"]+"$/);
      expect(answer.json).toHaveLength(5);
      for (const row of answer.json) expect(Object.keys(row)).toEqual(columnNames("general"));
    },
  );

  it("answers 404 to a report_id that does not exist, wherever the filter is", async () => {
    for (const query of ["report_id=eq.2023-06-GSAFAC-9999999999", "select=report_id&report_id=eq.x"]) {
      const { status, headers, json } = await request(`/general?${query}`, { key });
      expect([status, json.code], query).toEqual([404, "report_not_found"]);
      expect(headers["content-type"]).toMatch(/^application\/json/);
      expect(Object.keys(json).sort()).toEqual(["code", "details", "hint", "message"]);
      expect(await request(`/general?${query}`, { key, method: "HEAD" })).toMatchObject({ status, text: "" });
    }
  });

  it("leaves other operators, and existing reports that another filter excludes, to PostgREST", async () => {
    const excluded = `eq.${published}&audit_year=eq.1900`;
    for (const filter of ["in.(no-such-report)", "like.no-such*", "gt.zzz", excluded]) {
      const answer = await request(`/general?report_id=${filter}`, { key });
      expect([answer.status, answer.json], filter).toEqual([200, []]);
    }
  });
});

it.each(keyNames)(
  "a suppressed report is one row of general for the %s key: a stub, or all for Tribal",
  async (key) => {
    const { status, json } = await request(`/general?report_id=eq.${suppressed}`, { key });
    expect([status, json.length]).toEqual([200, 1]);
    const identity = { report_id: suppressed, is_public: false };
    const stub = Object.fromEntries(columnNames("general").map((name) => [name, null]));
    const whole = expect.objectContaining({ auditee_uei: expect.any(String), ...identity });
    expect(json).toEqual([key === "tribal" ? whole : { ...stub, ...identity }]);
  },
);

describe("the values of a row", () => {
  const isOfType: Record<string, (value: unknown) => boolean> = {
    TEXT: (value) => typeof value === "string",
    "VARCHAR(30)": (value) => typeof value === "string",
    BIGINT: (value) => Number.isSafeInteger(value),
    INTEGER: (value) => Number.isSafeInteger(value),
    BOOLEAN: (value) => typeof value === "boolean",
    DATE: (value) => typeof value === "string" && /^\d{4}-\d{2}-\d{2}$/.test(value),
  };
  it.each(Object.keys(columns))("have the JSON types of the published columns in %s", async (table) => {
    const answer = await request(`/${table}?limit=200`, { key: "individual" });
    expect(answer.status).toBe(200);
    for (const row of answer.json) {
      expect(Object.keys(row)).toEqual(columnNames(table));
      for (const { name, type } of columns[table] ?? []) {
        const fits = row[name] === null || isOfType[type]?.(row[name]);
        expect(fits, `${table}.${name} (${type}): ${JSON.stringify(row[name])}`).toBe(true);
      }
    }
  });

  it("never leave both cognizant and oversight agency null in a public row", async () => {
    const nulls = "or=(cognizant_agency.is.null,oversight_agency.is.null)";
    const answer = await request(`/general?is_public=eq.true&${nulls}`, { key: "individual" });
    expect(answer.json).toEqual([]);
  });
});
