import { expect, it } from "vitest";
import { tables, totals } from "../support/columns.ts";
import { type Request, request } from "../support/target.ts";

it.each(tables)("a write to %s is refused with 405", async (table) => {
  for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
    const headers = { "content-type": "application/json" };
    const body = '{"report_id": "x"}';
    const answer = await request(`/${table}?report_id=eq.x`, { method, key: "tribal", headers, body });
    expect([answer.status, answer.json.message], method).toEqual([405, "This API is read-only."]);
  }
});

const profiles = ["disclosed", "suppressed", "dissemination", "access", "request", "public", "pg_catalog"];
const profile = (name: string) => ({ headers: { "accept-profile": name } });
it.each<[string, Request, number, string?]>([
  ["/rpc/general", { method: "POST", key: "tribal", body: "{}" }, 405],
  ["/general", { key: "individual", ...profile("api_v1_0_3") }, 406, "PGRST106"],
  // No profile leads to the tables behind the API.
  ...profiles.map((name): [string, Request, number] => [
    "/general",
    { key: "tribal", ...profile(name) },
    406,
  ]),
  ["/", { key: "demo", ...profile("admin_api_v1_1_0") }, 401, "tribal_key_required"],
  ["/", { key: "individual", ...profile("admin_api_v1_1_0") }, 401, "tribal_key_required"],
  ...["/no_such_table", "/rpc/no_such_function", "/data_set", "/api_keys", "/general/", "/v1/general"].map(
    (path): [string, Request, number] => [path, { key: "tribal" }, 404],
  ),
])("%s with %j is answered %i", async (path, options, status, code) => {
  const { status: answered, json } = await request(path, options);
  expect([answered, typeof json.message]).toEqual([status, "string"]);
  if (code !== undefined) expect(json.code).toBe(code);
});

it("a version that does not exist lists those that do", async () => {
  const { json } = await request("/general?limit=1", { key: "individual", ...profile("api_v1_0_3") });
  // PostgREST 13.0.7 moved the list from the message to the hint.
  expect(`${json.message} ${json.hint}`).toContain("api_v1_1_0, admin_api_v1_1_0");
});

it("an aggregate is refused with the names of the tables of totals", async () => {
  const { json } = await request("/federal_awards?select=amount_expended.sum()", { key: "individual" });
  for (const table of totals) expect(json.hint).toContain(table);
});
