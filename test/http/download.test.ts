import { beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../shared/connect.ts";
import {
  type Answer,
  findReport,
  type KeyName,
  queryValue,
  type Request,
  request,
  send,
  target,
} from "../support/target.ts";

// How clients download a report's PDF: a suppressed report in three steps, a public one without a key.

const call = "/rpc/request_file_access";
const json = { "content-type": "application/json" };
const profiles: Record<string, string>[] = [
  {},
  ...["api_v1_1_0", "admin_api_v1_1_0"].map((schema) => ({ "content-profile": schema })),
];
const unknown = "2023-06-GSAFAC-9999999999";
const token = "00000000-0000-4000-8000-000000000000";
let published: string;
let suppressed: string;
beforeAll(async () => {
  [published, suppressed] = [await findReport(true), await findReport(false)];
});

const post = (key: KeyName | undefined, body: string, options: Request = {}, path = call) =>
  request(path, { method: "POST", headers: json, body, ...(key && { key }), ...options });
const ask = (key: KeyName | undefined, report_id: string, profile = {}) =>
  post(key, JSON.stringify({ report_id }), { headers: { ...json, ...profile } });
const requestAccess = async (): Promise<string> => (await ask("tribal", suppressed)).json.access_uuid;
const redeem = (accessUuid: string, method = "GET") =>
  send(target.appUrl, `/dissemination/report/pdf/ota/${accessUuid}`, { method });
const download = (reportId: string, method = "GET") =>
  send(target.appUrl, `/dissemination/report/pdf/${reportId}`, { method });

/** Expects a redirect to a report's PDF, with a signed URL that expires within a minute. Returns that URL. */
async function expectRedirect({ status, headers, text }: Answer, reportId: string): Promise<URL> {
  expect([status, text, headers["cache-control"]]).toEqual([302, "", "no-store"]);
  const url = new URL(String(headers.location), target.appUrl);
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

describe.each(profiles)("request_file_access with %j", (profile) => {
  it("gives the Tribal key a new access_uuid each time, valid for a minute and not stored as text", async () => {
    const answers = await Promise.all(
      [suppressed, suppressed, published].map((id) => ask("tribal", id, profile)),
    );
    expect(new Set(answers.map(({ json }) => json.access_uuid)).size).toBe(3);
    const stored = await queryValue("select string_agg(access_tokens::text, ' ') from access.access_tokens");
    for (const { status, headers, json } of answers) {
      expect([status, headers["cache-control"]]).toEqual([200, "no-store"]);
      expect(Object.keys(json)).toEqual(["access_uuid", "expires_at"]);
      expect(json.access_uuid).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      expect(stored).not.toContain(json.access_uuid);
      const life = Date.parse(json.expires_at) - Date.now();
      expect(life).toBeGreaterThan(20_000);
      expect(life).toBeLessThan(65_000);
    }
  });

  it.each([
    ["demo", "tribal_key_required"],
    ["individual", "tribal_key_required"],
    [undefined, "API_KEY_MISSING"],
  ] as const)("gives the key %s the same response for every report: 401 %s", async (key, code) => {
    const answers = await Promise.all(
      [suppressed, published, unknown, ""].map((id) => ask(key, id, profile)),
    );
    answers.push(await post(key, "{}", { headers: { ...json, ...profile } }));
    for (const { status, headers, text, json } of answers) {
      expect([status, headers["www-authenticate"], json.code]).toEqual([401, "Key", code]);
      expect(text).toBe(answers[0]?.text);
    }
  });

  it("gives a made-up key the same response for every report: 401 API_KEY_INVALID", async () => {
    const headers = { ...json, ...profile, "x-api-key": `tribal_${"a1".repeat(20)}` };
    const answers = await Promise.all(
      [suppressed, published, unknown].map((report_id) =>
        post(undefined, JSON.stringify({ report_id }), { headers }),
      ),
    );
    expect(new Set(answers.map(({ status, json, text }) => `${status} ${json.code} ${text}`)).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 401, json: { code: "API_KEY_INVALID" } });
  });

  it.each([unknown, "2023-06-gsafac-0000000001", "", "' or true --"])(
    "answers 404 for a report that does not exist: %j",
    async (id) => {
      const { status, json } = await ask("tribal", id, profile);
      expect([status, json.code]).toEqual([404, "report_not_found"]);
    },
  );

  it.each([
    ["report_id", '{} {"report":"x"} {"report_id":"x","more":1} {"report_id":null} ["x"]'],
    ["JSON", 'report_id=x {"report_id":"x'],
  ])("answers 400 and asks for %s if the body is one of %s", async (fault, bodies) => {
    for (const body of ["", ...bodies.split(" ")]) {
      const answer = await post("tribal", body, { headers: { ...json, ...profile } });
      expect(answer.status, body).toBe(400);
      expect(`${answer.json.message} ${answer.json.hint}`, body).toMatch(new RegExp(fault, "i"));
    }
  });
});

describe("request_file_access", () => {
  it.each(["api_v1_1_0", "admin_api_v1_1_0"])("answers GET and HEAD with 405, with %s", async (schema) => {
    const headers = { "accept-profile": schema };
    for (const key of ["tribal", "individual"] as const)
      for (const method of ["GET", "HEAD"])
        expect((await request(`${call}?report_id=${suppressed}`, { method, headers, key })).status).toBe(405);
  });

  const accept = { "accept-profile": "admin_api_v1_1_0" };
  const form = { "content-type": "application/x-www-form-urlencoded" };
  it.each<[mistake: string, status: number, options: Request, path?: string]>([
    ["a profile that is not served", 406, { headers: { ...json, "content-profile": "admin_api_v9" } }],
    ["curl's default content-type", 404, { headers: form }],
    ["GET", 405, { method: "GET", body: "", headers: accept }],
    ["PUT", 405, { method: "PUT" }],
    ["no /rpc/", 405, {}, "/request_file_access"],
    ["GET and no /rpc/", 404, { method: "GET", body: "" }, "/request_file_access"],
    ["a trailing slash", 405, {}, `${call}/`],
    ["no body", 400, { body: "" }],
  ])("says what to send after a request with %s", async (_mistake, status, options, path = call) => {
    const body = JSON.stringify({ report_id: suppressed });
    const answer = await post("tribal", body, options, path);
    expect(answer.status).toBe(status);
    for (const part of ["POST", "content-type: application/json", '{"report_id": "'])
      expect(answer.json.hint).toContain(part);
    expect(answer.text).not.toMatch(/access_uuid|schema cache/);
  });
});

it("an access_uuid survives HEAD and redirects once, to a signed URL that cannot be changed", async () => {
  const accessUuid = await requestAccess();
  expect((await redeem(accessUuid, "HEAD")).status).toBe((await redeem(token, "HEAD")).status);
  const { origin, pathname, search } = await expectRedirect(await redeem(accessUuid), suppressed);
  const [spent, never] = [await redeem(accessUuid), await redeem(token)];
  expect([spent.status, spent.text]).toEqual([404, never.text]);
  const path = pathname + search;
  for (let index = 1; index < path.length; index += 1) {
    const changed = path.slice(0, index) + (path[index] === "0" ? "1" : "0") + path.slice(index + 1);
    expect((await send(origin, changed)).status, changed).toBe(403);
  }
});

describe("GET /dissemination/report/pdf/<report_id>", () => {
  it("redirects to the PDF of a public report, and refuses POST", async () => {
    await expectRedirect(await download(published), published);
    expect((await download(published, "POST")).status).toBe(405);
  });

  it("answers 404 alike for a suppressed, superseded, malformed or unknown report ID", async () => {
    const strip = async (id: string) => {
      const { status, headers, text } = await download(id);
      const { date, "x-request-id": requestId, ...rest } = headers;
      return { status, headers: rest, text };
    };
    const answer = await strip(unknown);
    expect([answer.status, JSON.parse(answer.text).code]).toEqual([404, "report_not_found"]);
    const superseded = await queryValue<string>(
      "select report_id from disclosed.resubmission where status = 'deprecated_via_resubmission' limit 1",
    );
    const malformed = ["x", "2023-06-GSAFAC-1%00", `${published}x`, "%27%20or%20true--"];
    for (const other of [suppressed, superseded, ...malformed])
      expect(await strip(other), other).toEqual(answer);
  });

  it("takes the database as much work for a suppressed report as for an unknown one", async () => {
    const countBlocks = async (reportId: string) => {
      const plans = `explain (analyze, buffers, format json) select publication.is_public_report('${reportId}')`;
      // The first execution in a session also reads the catalog.
      const client = await connect(target.databaseUrl, "test");
      await client.query(plans);
      const { rows } = await client.query(plans).finally(() => client.end());
      return rows[0]["QUERY PLAN"][0].Plan["Shared Hit Blocks"];
    };
    expect(await countBlocks(suppressed)).toBeLessThan((await countBlocks(unknown)) + 4);
  });
});
