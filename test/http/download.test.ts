import { beforeAll, describe, expect, it } from "vitest";
import {
  type Answer,
  findReport,
  type KeyName,
  query,
  queryValue,
  type Request,
  request,
  send,
  target,
} from "../support/target.ts";

// How the PDF of a report is reached from outside: a suppressed one in three steps, a public one without a key.

const call = "/rpc/request_file_access";
const headers = { "content-profile": "admin_api_v1_1_0", "content-type": "application/json" };
const unknown = "2023-06-GSAFAC-9999999999";
const token = "00000000-0000-4000-8000-000000000000";
let published: string;
let suppressed: string;
beforeAll(async () => {
  [published, suppressed] = [await findReport(true), await findReport(false)];
});

const post = (key: KeyName | undefined, body: string) =>
  request(call, { method: "POST", headers, body, ...(key && { key }) });
const ask = (key: KeyName | undefined, report_id: string) => post(key, JSON.stringify({ report_id }));
const requestAccess = async (): Promise<string> => (await ask("tribal", suppressed)).json.access_uuid;
const redeem = (accessUuid: string, method = "GET") =>
  send(target.appUrl, `/dissemination/report/pdf/ota/${accessUuid}`, { method });
const download = (reportId: string, method = "GET") =>
  send(target.appUrl, `/dissemination/report/pdf/${reportId}`, { method });

/** That an answer redirects to a report's PDF, by an address that lives for a minute at most. */
async function expectRedirect({ status, headers, text }: Answer, reportId: string): Promise<URL> {
  expect([status, text, headers["cache-control"]]).toEqual([302, "", "no-store"]);
  const url = new URL(String(headers.location));
  const lifetime = url.searchParams.get("X-Amz-Expires");
  const seconds = Number(lifetime ?? Number(url.searchParams.get("expires")) - Date.now() / 1000);
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(60);
  const file = await send(url.origin, url.pathname + url.search);
  expect([file.status, file.headers["content-type"]]).toEqual([200, "application/pdf"]);
  expect(file.headers["content-disposition"]).toContain(`${reportId}.pdf`);
  expect(file.text).toMatch(/^%PDF-.*%%EOF\s*$/s);
  return url;
}

describe("request_file_access", () => {
  it("gives the Tribal key another access_uuid each time, which lives a minute", async () => {
    const answers = await Promise.all([suppressed, suppressed, published].map((id) => ask("tribal", id)));
    expect(new Set(answers.map(({ json }) => json.access_uuid)).size).toBe(3);
    for (const answer of answers) {
      expect([answer.status, answer.headers["cache-control"]]).toEqual([200, "no-store"]);
      expect(Object.keys(answer.json)).toEqual(["access_uuid", "expires_at"]);
      expect(answer.json.access_uuid).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      const life = Date.parse(answer.json.expires_at) - Date.now();
      expect(life).toBeGreaterThan(50_000);
      expect(life).toBeLessThan(65_000);
    }
  });

  it.each(["demo", "individual"] as const)("tells the %s key the same, whatever the report", async (key) => {
    const answers = await Promise.all([suppressed, published, unknown, ""].map((id) => ask(key, id)));
    for (const { status, headers, text, json } of answers) {
      expect([status, headers["www-authenticate"], json.code]).toEqual([401, "Key", "tribal_key_required"]);
      expect(text).toBe(answers[0]?.text);
    }
  });

  it("answers 401 without a key", async () => {
    expect((await ask(undefined, suppressed)).status).toBe(401);
  });

  it.each([unknown, "", "' or true --"])("answers 404 for a report that does not exist: %j", async (id) => {
    const { status, json } = await ask("tribal", id);
    expect([status, json.code]).toEqual([404, "report_not_found"]);
  });

  it.each([
    ["{}", /report_id/],
    ['{"report": "x"}', /report_id/],
    ['{"report_id": "x", "more": 1}', /report_id/],
    ['{"report_id": null}', /report_id/],
    ['["x"]', /report_id/],
    ["report_id=x", /json/i],
    ['{"report_id": "x', /json/i],
    ["", /json/i],
  ])("answers 400 that names the fault in %j", async (body, fault) => {
    const { status, json } = await post("tribal", body);
    expect(status).toBe(400);
    expect(`${json.message} ${json.hint}`).toMatch(fault);
  });

  const { "content-profile": profile, ...json } = headers;
  const other = (name: string) => ({ ...json, "content-profile": name });
  const form = { "content-profile": profile, "content-type": "application/x-www-form-urlencoded" };
  it.each<[mistake: string, status: number, options: Request, path?: string]>([
    ["no content-profile", 404, { headers: json }],
    ["the profile of the tables", 404, { headers: other("api_v1_1_0") }],
    ["a profile that is not served", 406, { headers: other("admin_api_v9") }],
    ["accept-profile alone", 404, { headers: { ...json, "accept-profile": profile } }],
    ["curl's default content-type", 404, { headers: form }],
    ["GET", 405, { method: "GET", body: "", headers: { "accept-profile": profile } }],
    ["PUT", 405, { method: "PUT" }],
    ["no /rpc/", 405, {}, "/request_file_access"],
    ["GET and no /rpc/", 404, { method: "GET", body: "" }, "/request_file_access"],
    ["a slash at the end", 405, {}, `${call}/`],
    ["no body", 400, { body: "" }],
    ["a lowercase report ID", 404, { body: '{"report_id":"2023-06-gsafac-0000000001"}' }],
  ])("says what to send after a request with %s", async (_mistake, status, options, path = call) => {
    const complete = {
      method: "POST",
      key: "tribal",
      headers,
      body: JSON.stringify({ report_id: suppressed }),
    };
    const { body, ...rest } = { ...complete, ...options } as Request;
    const answer = await request(path, { ...rest, ...(body && { body }) });
    expect(answer.status).toBe(status);
    for (const part of ["POST", `content-profile: ${profile}`, '{"report_id": "'])
      expect(answer.json.hint).toContain(part);
    expect(answer.text).not.toMatch(/access_uuid|schema cache/);
  });
});

describe("a one-time access_uuid", () => {
  it("redirects to the report's PDF, once, and is not spent by HEAD", async () => {
    const accessUuid = await requestAccess();
    expect((await redeem(accessUuid, "HEAD")).status).toBe((await redeem(token, "HEAD")).status);
    await expectRedirect(await redeem(accessUuid), suppressed);
    expect((await redeem(accessUuid)).status).toBe(404);
  });

  it("is answered with the same 404 whether spent, expired, unknown or not a UUID", async () => {
    const [spent, expired] = [await requestAccess(), await requestAccess()];
    await redeem(spent);
    await query(
      `update access.access_tokens set expires_at = expires_at - interval '61 seconds'
       where token_sha256 = sha256(uuid_send($1::uuid))`,
      [expired],
    );
    const texts = [spent, expired, token, "not-a-uuid", "%00", suppressed].map(async (it) => {
      const { status, headers, text } = await redeem(it);
      return JSON.stringify([status, headers["cache-control"], text]);
    });
    const [first, ...others] = [...new Set(await Promise.all(texts))];
    expect([JSON.parse(first ?? "").slice(0, 2), others]).toEqual([[404, "no-store"], []]);
  });

  it("is stored only as a hash", async () => {
    const accessUuid = await requestAccess();
    const rows = "select string_agg(access_tokens::text, ' ') from access.access_tokens";
    expect(await queryValue(rows)).not.toContain(accessUuid);
  });

  it("leads to an address that is refused if any of its characters is changed", async () => {
    const { origin, pathname, search } = await expectRedirect(
      await redeem(await requestAccess()),
      suppressed,
    );
    const path = pathname + search;
    for (let index = 1; index < path.length; index += 1) {
      const changed = path.slice(0, index) + (path[index] === "0" ? "1" : "0") + path.slice(index + 1);
      expect((await send(origin, changed)).status, changed).toBe(403);
    }
  });
});

describe("the PDF of a public report", () => {
  it("is redirected to, by GET alone", async () => {
    await expectRedirect(await download(published), published);
    expect((await download(published, "POST")).status).toBe(405);
  });

  it("is not there for a suppressed report, whose answer is that of an unknown one", async () => {
    const strip = async (id: string) => {
      const { status, headers, text } = await download(id);
      const { date, "x-request-id": requestId, ...rest } = headers;
      return { status, headers: rest, text };
    };
    const answer = await strip(unknown);
    expect([answer.status, JSON.parse(answer.text).code]).toEqual([404, "report_not_found"]);
    for (const other of [suppressed, "x", "2023-06-GSAFAC-1%00", `${published}x`, "%27%20or%20true--"])
      expect(await strip(other), other).toEqual(answer);
  });

  it("nor does the time tell a suppressed report from an unknown one", async () => {
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

  it("is not there for a superseded report, whose rows are gone", async () => {
    const superseded = await queryValue<string>(
      "select report_id from disclosed.resubmission where status = 'deprecated_via_resubmission' limit 1",
    );
    expect((await download(superseded)).status).toBe(404);
  });
});
