import { beforeAll, describe, expect, it } from "vitest";
import { type Answer, findReport, query, send, target } from "../support/target.ts";

// The PDF of a public report, from outside and without a key.

const download = (reportId: string) => send(target.appUrl, `/dissemination/report/pdf/${reportId}`);
const unknown = "2023-06-GSAFAC-9999999999";
let published: string;
let suppressed: string;

beforeAll(async () => {
  [published, suppressed] = [await findReport(true), await findReport(false)];
});

/** An answer without what differs from request to request. */
function strip({ status, headers: { date, "x-request-id": id, ...headers }, text }: Answer) {
  expect([typeof date, typeof id]).toEqual(["string", "string"]);
  return { status, headers, text };
}

describe("the PDF of a public report", () => {
  it("is redirected to, by an address that lives for a minute or less", async () => {
    const { status, headers, text } = await download(published);
    expect([status, text, headers["cache-control"]]).toEqual([302, "", "no-store"]);
    const { origin, pathname, search, searchParams } = new URL(String(headers.location));
    const left = Number(searchParams.get("expires") ?? Date.now() / 1000 + 50) - Date.now() / 1000;
    expect(left).toBeGreaterThan(30);
    expect(left).toBeLessThanOrEqual(60);
    const file = await send(origin, pathname + search);
    expect(file.headers["content-disposition"]).toContain(`${published}.pdf`);
    expect(file.text.startsWith("%PDF-")).toBe(true);
  });

  it("is not there for a suppressed report, which looks as one that does not exist", async () => {
    const answer = strip(await download(unknown));
    expect([answer.status, JSON.parse(answer.text).code]).toEqual([404, "report_not_found"]);
    expect(strip(await download(suppressed))).toEqual(answer);
    for (const other of ["x", "2023-06-GSAFAC-1%00", `${published}x`, "%27%20or%20true--"])
      expect(strip(await download(other)), other).toEqual(answer);
  });

  it("nor does the time tell them apart", async () => {
    const times: Record<string, number[]> = { [suppressed]: [], [unknown]: [] };
    for (let turn = 0; turn < 40; turn += 1) {
      for (const [reportId, list] of Object.entries(times)) {
        const start = performance.now();
        await download(reportId);
        list.push(performance.now() - start);
      }
    }
    const [one = 0, other = 0] = Object.values(times).map((list) => list.sort((a, b) => a - b)[20]);
    expect(Math.max(one, other) / Math.min(one, other)).toBeLessThan(2);
  });

  it("nor for a superseded report, whose rows are gone", async () => {
    const [row] = await query<{ report_id: string }>(
      "select report_id from disclosed.resubmission where status = 'deprecated_via_resubmission' limit 1",
    );
    expect((await download(row?.report_id ?? "")).status).toBe(404);
  });

  it("is for GET alone", async () => {
    const path = `/dissemination/report/pdf/${published}`;
    expect((await send(target.appUrl, path, { method: "POST" })).status).toBe(405);
  });
});
