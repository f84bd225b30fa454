import { beforeAll, describe, expect, it } from "vitest";
import { findReport, query, request, send, target } from "../support/target.ts";

// The three steps to the PDF of a suppressed report, from outside.

const ota = "/dissemination/report/pdf/ota";
const unknown = "00000000-0000-4000-8000-000000000000";
let suppressed: string;

beforeAll(async () => {
  suppressed = await findReport(false);
});

async function requestAccess(reportId = suppressed): Promise<string> {
  const answer = await request("/rpc/request_file_access", {
    method: "POST",
    key: "tribal",
    headers: { "content-profile": "admin_api_v1_1_0", "content-type": "application/json" },
    body: JSON.stringify({ report_id: reportId }),
  });
  expect(answer.status).toBe(200);
  return answer.json.access_uuid;
}

const redeem = (accessUuid: string, method = "GET") =>
  send(target.appUrl, `${ota}/${accessUuid}`, { method });

/** Sends a request to a signed address. */
async function follow(location: string, change: (path: string) => string = (path) => path) {
  const { origin, pathname, search } = new URL(location);
  return await send(origin, change(pathname + search));
}

describe("a one-time access_uuid", () => {
  it("redirects to the report's PDF", async () => {
    const [general] = (await request(`/general?report_id=eq.${suppressed}`, { key: "tribal" })).json;
    expect(general.is_public).toBe(false);
    const answer = await redeem(await requestAccess());
    expect(answer.status).toBe(302);
    expect(answer.headers["cache-control"]).toBe("no-store");
    const file = await follow(String(answer.headers.location));
    expect(file.status).toBe(200);
    expect(file.headers["content-type"]).toBe("application/pdf");
    expect(file.headers["content-disposition"]).toContain(`${suppressed}.pdf`);
    expect(file.text.startsWith("%PDF-")).toBe(true);
    expect(file.text.trimEnd().endsWith("%%EOF")).toBe(true);
  });

  it("works once", async () => {
    const accessUuid = await requestAccess();
    expect((await redeem(accessUuid)).status).toBe(302);
    expect((await redeem(accessUuid)).status).toBe(404);
  });

  it("is not spent by HEAD", async () => {
    const accessUuid = await requestAccess();
    expect((await redeem(accessUuid, "HEAD")).headers.location).toBeUndefined();
    expect((await redeem(accessUuid, "HEAD")).status).toBe((await redeem(unknown, "HEAD")).status);
    expect((await redeem(accessUuid)).status).toBe(302);
  });

  it("has expired after its minute", async () => {
    const accessUuid = await requestAccess();
    await query(
      `update access.access_tokens set expires_at = expires_at - interval '61 seconds'
       where token_sha256 = sha256(uuid_send($1::uuid))`,
      [accessUuid],
    );
    expect((await redeem(accessUuid)).status).toBe(404);
  });

  it("is answered with the same 404 whether spent, expired, unknown or not a UUID", async () => {
    const spent = await requestAccess();
    await redeem(spent);
    const answers = await Promise.all(
      [spent, unknown, "not-a-uuid", "%00", suppressed].map((token) => redeem(token)),
    );
    for (const answer of answers) {
      expect(answer.status).toBe(404);
      expect(answer.headers["cache-control"]).toBe("no-store");
      expect(answer.text).toBe(answers[0]?.text);
    }
  });

  it("is stored nowhere as it is", async () => {
    const accessUuid = await requestAccess();
    const rows = await query<{ row: string }>("select access_tokens::text as row from access.access_tokens");
    expect(rows.length).toBeGreaterThan(0);
    for (const { row } of rows) expect(row).not.toContain(accessUuid);
  });
});

describe("a signed address", () => {
  it("is refused with any of its characters changed", async () => {
    const location = String((await redeem(await requestAccess())).headers.location);
    const { pathname, search } = new URL(location);
    const path = pathname + search;
    for (let index = 1; index < path.length; index += 1) {
      const changed = path[index] === "0" ? "1" : "0";
      const answer = await follow(location, () => path.slice(0, index) + changed + path.slice(index + 1));
      expect(answer.status, `character ${index} of ${path}`).toBe(403);
    }
  });

  it("names a time at most 60 s ahead", async () => {
    const location = String((await redeem(await requestAccess())).headers.location);
    const url = new URL(location);
    const expires = Number(url.searchParams.get("expires"));
    const lifetime = url.searchParams.get("X-Amz-Expires");
    const seconds = lifetime === null ? expires - Date.now() / 1000 : Number(lifetime);
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
  });
});
