import { beforeAll, describe, expect, it } from "vitest";
import requests from "../client-requests.json" with { type: "json" };
import { findReport, makeAddress, request, target } from "../support/target.ts";

// Requests as real clients of the federal service send them, with what they expect.

interface Expectation {
  status: number | number[];
  fields: string[];
  exact_fields?: boolean;
  content_range?: string;
  error_code?: string;
  body?: string;
}

/** What is answered with [] on the sample: a page past its end, and a filter on a value that a stub does not tell. */
const emptyOnSample = new Set(["h004-docs-results-page-2", "h067-count-boolean"]);

/** The report that the requests ask for. Where a deployment does not have it, they ask for another one. */
const askedFor = "2023-06-GSAFAC-0000000002";
let existing = askedFor;
let isSample = false;
beforeAll(async () => {
  const answer = await request(`/general?report_id=eq.${askedFor}`, { key: "individual" });
  isSample = answer.status === 200;
  if (!isSample) existing = await findReport(true);
});

describe("a client's request", () => {
  it.each(requests.map((item) => [item.id, item] as const))(
    "is answered as expected: %s",
    async (id, item) => {
      const expected: Expectation = item.expect;
      const withKey = (text: string) =>
        text.replaceAll("TEST_KEY", target.keys.individual).replaceAll(askedFor, existing);
      const headers = Object.fromEntries(
        Object.entries(item.headers).map(([name, value]) => [name, withKey(value)]),
      );
      const isDemo = Object.values(headers).includes("DEMO_KEY") && target.baseUrl.includes("//127.");
      const answer = await request(`${item.path}?${withKey(item.query)}`, {
        method: item.method,
        headers,
        // The demonstration key is limited by address.
        ...(isDemo && { from: makeAddress() }),
      });

      if (expected.error_code === "API_KEY_MISSING") {
        // The federal gateway answers 403 in a body of its own; here a missing key is always 401.
        expect(answer.status).toBe(401);
        expect(answer.json.message).toBeTruthy();
        return;
      }
      expect([expected.status].flat(), answer.text.slice(0, 300)).toContain(answer.status);
      if (expected.content_range !== undefined) {
        expect(answer.headers["content-range"]).toMatch(
          expected.content_range.startsWith("^")
            ? new RegExp(expected.content_range)
            : expected.content_range,
        );
      }
      if (expected.error_code !== undefined) expect(answer.json.code).toBe(expected.error_code);
      if (expected.body !== undefined) expect(answer.text).toBe(expected.body);
      if (expected.fields.length === 0) return;
      const rows: Record<string, unknown>[] = [answer.json].flat();
      if (isSample && !emptyOnSample.has(id)) expect(rows.length).toBeGreaterThan(0);
      for (const row of rows) {
        if (expected.exact_fields) expect(Object.keys(row).sort()).toEqual([...expected.fields].sort());
        else for (const field of expected.fields) expect(row).toHaveProperty(field);
      }
    },
  );
});
