import { beforeAll, describe, expect, it } from "vitest";
import { findReport, type Request, request } from "../support/target.ts";

let published: string;
let suppressed: string;

beforeAll(async () => {
  published = await findReport(true);
  suppressed = await findReport(false);
});

const headers = { "content-profile": "admin_api_v1_1_0", "content-type": "application/json" };
const call = (key: Request["key"], body: string, more: Record<string, string> = {}) =>
  request("/rpc/request_file_access", {
    method: "POST",
    headers: { ...headers, ...more },
    body,
    ...(key === undefined ? {} : { key }),
  });

describe("request_file_access", () => {
  it("gives the Tribal key a one-time access_uuid that lives a minute", async () => {
    for (const reportId of [suppressed, published]) {
      const before = Date.now();
      const answer = await call("tribal", JSON.stringify({ report_id: reportId }));
      expect(answer.status).toBe(200);
      expect(answer.headers["content-type"]).toMatch(/^application\/json/);
      expect(answer.headers["cache-control"]).toBe("no-store");
      expect(Object.keys(answer.json)).toEqual(["access_uuid", "expires_at"]);
      expect(answer.json.access_uuid).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      const life = Date.parse(answer.json.expires_at) - before;
      expect(life).toBeGreaterThan(55_000);
      expect(life).toBeLessThan(65_000);
    }
  });

  it("gives a different access_uuid each time", async () => {
    const body = JSON.stringify({ report_id: suppressed });
    const [one, other] = await Promise.all([call("tribal", body), call("tribal", body)]);
    expect(one.json.access_uuid).not.toBe(other.json.access_uuid);
  });

  it.each(["demo", "individual"] as const)("tells the %s key the same, whatever the report", async (key) => {
    const answers = await Promise.all(
      [suppressed, published, "2023-06-GSAFAC-9999999999", ""].map((report_id) =>
        call(key, JSON.stringify({ report_id })),
      ),
    );
    for (const answer of answers) {
      expect(answer.status).toBe(401);
      expect(answer.headers["www-authenticate"]).toBe("Key");
      expect(answer.text).toBe(answers[0]?.text);
      expect(answer.json.code).toBe("tribal_key_required");
    }
  });

  it("answers 401 without a key", async () => {
    expect((await call(undefined, JSON.stringify({ report_id: suppressed }))).status).toBe(401);
  });

  it("answers 404 to the Tribal key for a report that does not exist", async () => {
    for (const report_id of ["2023-06-GSAFAC-9999999999", "", "' or true --"]) {
      const answer = await call("tribal", JSON.stringify({ report_id }));
      expect(answer.status).toBe(404);
      expect(answer.json.code).toBe("report_not_found");
    }
  });

  it.each([
    ["no field", "{}", /report_id/],
    ["another field", '{"report": "x"}', /report_id/],
    ["one field too many", '{"report_id": "x", "more": 1}', /report_id/],
    ["null", '{"report_id": null}', /report_id/],
    ["an array", '["x"]', /report_id/],
    ["not JSON", "report_id=x", /json/i],
    ["half of a JSON object", '{"report_id": "x', /json/i],
    ["nothing", "", /json/i],
  ])("answers 400 that names the fault: %s", async (_name, body, fault) => {
    const answer = await call("tribal", body);
    expect(answer.status).toBe(400);
    expect(`${answer.json.message} ${answer.json.hint}`).toMatch(fault);
  });

  it("refuses a body that is too large", async () => {
    expect((await call("tribal", JSON.stringify({ report_id: "x".repeat(20_000) }))).status).toBe(413);
  });

  const body = () => JSON.stringify({ report_id: suppressed });
  const path = "/rpc/request_file_access";
  const { "content-profile": profile, ...json } = headers;
  const mistakes: [string, number, () => [string, Request]][] = [
    ["no content-profile", 404, () => [path, { method: "POST", headers: json, body: body() }]],
    [
      "the profile of the tables",
      404,
      () => [path, { method: "POST", headers: { ...json, "content-profile": "api_v1_1_0" }, body: body() }],
    ],
    [
      "a profile that is not served",
      406,
      () => [path, { method: "POST", headers: { ...json, "content-profile": "admin_api_v9" }, body: body() }],
    ],
    [
      "accept-profile alone",
      404,
      () => [path, { method: "POST", headers: { ...json, "accept-profile": profile }, body: body() }],
    ],
    ["GET", 405, () => [`${path}?report_id=${suppressed}`, { headers: { "accept-profile": profile } }]],
    ["PUT", 405, () => [path, { method: "PUT", headers, body: body() }]],
    ["no /rpc/", 405, () => ["/request_file_access", { method: "POST", headers, body: body() }]],
    ["GET and no /rpc/", 404, () => ["/request_file_access", { headers }]],
    ["a slash at the end", 405, () => [`${path}/`, { method: "POST", headers, body: body() }]],
    ["no body", 400, () => [path, { method: "POST", headers }]],
    [
      "curl's default content-type",
      404,
      () => [
        path,
        {
          method: "POST",
          headers: { "content-profile": profile, "content-type": "application/x-www-form-urlencoded" },
          body: body(),
        },
      ],
    ],
    [
      "a lower-case report ID",
      404,
      () => [path, { method: "POST", headers, body: body().replace("GSAFAC", "gsafac") }],
    ],
  ];
  it.each(mistakes)("says what to send after a request with %s", async (_mistake, status, write) => {
    const [path, options] = write();
    const answer = await request(path, { key: "tribal", ...options });
    expect(answer.status).toBe(status);
    for (const part of ["POST", `content-profile: ${profile}`, '{"report_id": "'])
      expect(answer.json.hint).toContain(part);
    expect(answer.text).not.toMatch(/access_uuid|schema cache/);
  });
});
