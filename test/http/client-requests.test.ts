import { beforeAll, expect, it } from "vitest";
import requests from "../client-requests.json" with { type: "json" };
import { findReport, makeAddress, request, target } from "../support/target.ts";

// Requests as real clients of the federal service send them, and the responses that they expect.

interface Expectation {
  status: number | number[];
  fields: string[];
  exact_fields?: boolean;
  content_range?: string;
  error_code?: string;
  body?: string;
}

/** Requests that get [] on the sample: a page past its end, and a filter on a column that is null in stubs. */
const emptyOnSample = ["h004-docs-results-page-2", "h067-count-boolean"];
/** The report ID in the requests. If the deployment lacks this report, the test substitutes another ID. */
const askedFor = "2023-06-GSAFAC-0000000002";
let existing = askedFor;
beforeAll(async () => {
  const { status } = await request(`/general?report_id=eq.${askedFor}`, { key: "individual" });
  if (status !== 200) existing = await findReport(true);
});

it.each(requests)("$id gets the response that its client expects", async ({ id, method, path, ...item }) => {
  const expected: Expectation = item.expect;
  const fill = (text: string) =>
    text.replaceAll("TEST_KEY", target.keys.individual).replaceAll(askedFor, existing);
  const headers = JSON.parse(fill(JSON.stringify(item.headers)));
  // The demonstration key's rate limit is per address, so each request gets its own.
  const isDemo = Object.values(headers).includes("DEMO_KEY") && target.baseUrl.includes("//127.");
  const from = isDemo ? { from: makeAddress() } : {};
  const answer = await request(`${path}?${fill(item.query)}`, { method, headers, ...from });

  // The federal gateway answers 403 to a missing key. This service always answers 401.
  const status = expected.error_code === "API_KEY_MISSING" ? 401 : expected.status;
  expect([status].flat(), answer.text.slice(0, 300)).toContain(answer.status);
  const range = expected.content_range;
  if (range)
    expect(answer.headers["content-range"]).toMatch(range.startsWith("^") ? new RegExp(range) : range);
  if (expected.error_code) expect(answer.json.code).toBe(expected.error_code);
  if (expected.body !== undefined) expect(answer.text).toBe(expected.body);
  const rows: object[] = expected.fields.length === 0 ? [] : [answer.json].flat();
  if (expected.fields.length > 0 && existing === askedFor && !emptyOnSample.includes(id))
    expect(rows).not.toEqual([]);
  for (const row of rows) {
    if (expected.exact_fields) expect(Object.keys(row).sort()).toEqual([...expected.fields].sort());
    else expect(Object.keys(row)).toEqual(expect.arrayContaining(expected.fields));
  }
});
