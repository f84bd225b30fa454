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
    ["an array", '["x"]', /object/],
    ["not JSON", "report_id=x", /json/i],
    ["half of a JSON object", '{"report_id": "x', /json/i],
    ["nothing", "", /json/i],
  ])("answers 400 that names the fault: %s", async (_name, body, fault) => {
    const answer = await call("tribal", body);
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.json).sort()).toEqual(["code", "details", "hint", "message"]);
    expect(answer.json.message).toMatch(fault);
  });

  it("refuses a body that is too large", async () => {
    expect((await call("tribal", JSON.stringify({ report_id: "x".repeat(20_000) }))).status).toBe(413);
  });

  it("is not to be had by GET", async () => {
    const answer = await request(`/rpc/request_file_access?report_id=${suppressed}`, {
      key: "tribal",
      headers: { "accept-profile": "admin_api_v1_1_0" },
    });
    expect(answer.status).toBe(405);
    expect(answer.text).not.toContain("access_uuid");
  });

  it("is not in the public version", async () => {
    const answer = await call("tribal", JSON.stringify({ report_id: suppressed }), {
      "content-profile": "api_v1_1_0",
    });
    expect(answer.status).toBe(404);
  });
});
