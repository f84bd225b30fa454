import { describe, expect, it } from "vitest";
import { columns, tables, totals } from "../support/columns.ts";
import { keyNames, request } from "../support/target.ts";

describe("a write", () => {
  it.each(keyNames)("is refused with 405 on each table, with the %s key", async (key) => {
    for (const table of key === "individual" ? tables : ["general"]) {
      for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
        const answer = await request(`/${table}?report_id=eq.x`, {
          method,
          key,
          headers: { "content-type": "application/json" },
          body: '{"report_id": "x"}',
        });
        expect(answer.status, `${method} /${table}`).toBe(405);
        expect(answer.json.message).toBe("This API is read-only.");
      }
    }
  });

  it("is refused on a function as well", async () => {
    const answer = await request("/rpc/general", { method: "POST", key: "tribal", body: "{}" });
    expect(answer.status).toBe(405);
  });
});

describe("a version", () => {
  it("that is not there is refused with 406, which lists those that are", async () => {
    const answer = await request("/general?limit=1", {
      key: "individual",
      headers: { "accept-profile": "api_v1_0_3" },
    });
    expect(answer.status).toBe(406);
    expect(answer.json.code).toBe("PGRST106");
    // PostgREST 13.0.7 moved the list from the message to the hint.
    expect(`${answer.json.message} ${answer.json.hint}`).toContain("api_v1_1_0, admin_api_v1_1_0");
  });

  it.each(["demo", "individual"] as const)(
    "that needs Tribal access is refused to the %s key with 401",
    async (key) => {
      const answer = await request("/", { key, headers: { "accept-profile": "admin_api_v1_1_0" } });
      expect(answer.status).toBe(401);
      expect(answer.json.code).toBe("tribal_key_required");
    },
  );

  it("is no way to the tables behind it", async () => {
    for (const profile of [
      "disclosed",
      "suppressed",
      "dissemination",
      "access",
      "request",
      "public",
      "pg_catalog",
    ]) {
      const answer = await request("/general?limit=1", {
        key: "tribal",
        headers: { "accept-profile": profile },
      });
      expect(answer.status, profile).toBe(406);
    }
  });

  it("describes itself at /", async () => {
    const answer = await request("/", { key: "individual" });
    expect(answer.status).toBe(200);
    expect(answer.headers["content-type"]).toMatch(/^application\/openapi\+json/);
    expect(Object.keys(answer.json.definitions).sort()).toEqual(Object.keys(columns).sort());
    for (const table of Object.keys(columns)) {
      const { description, properties } = answer.json.definitions[table];
      expect(description, table).toBeTruthy();
      for (const [column, property] of Object.entries<{ description?: string }>(properties)) {
        expect(property.description, `${table}.${column}`).toBeTruthy();
      }
    }
  });
});

describe("what does not exist", () => {
  it.each(["/no_such_table", "/rpc/no_such_function", "/data_set", "/api_keys", "/general/", "/v1/general"])(
    "is answered with 404 and a message: %s",
    async (path) => {
      const answer = await request(path, { key: "tribal" });
      expect([answer.status, typeof answer.json.message]).toEqual([404, "string"]);
    },
  );

  it("names the tables of totals in answer to an aggregate", async () => {
    const answer = await request("/federal_awards?select=audit_year,amount_expended.sum()", {
      key: "individual",
    });
    expect(answer.status).toBe(400);
    for (const table of totals) expect(answer.json.hint).toContain(table);
  });
});
