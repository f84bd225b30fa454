import { gunzipSync } from "node:zlib";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readReportServiceConfig } from "../../report-service/config.ts";
import { type RunningReportService, startReportService } from "../../report-service/start-report-service.ts";
import { deployDatabase } from "../../scripts/deploy/deploy-database.ts";
import { readSiteConfig } from "../../site/config.ts";
import { createSite } from "../../site/create-site.ts";

import { send } from "../report-service/http.ts";
import { columns } from "../support/columns.ts";
import { createScratchDatabase } from "../support/scratch-database.ts";
import { query, target } from "../support/target.ts";

// What the app serves, seen as HTTP.

const pages = ["/", "/totals", "/reference", "/explorer", "/files"];
const csp = (api: string) =>
  `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' ${api}; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`;
const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  send(target.appUrl, path, { method, headers });

async function listAssets(): Promise<string[]> {
  const bodies = await Promise.all(pages.map((page) => get(page)));
  return [...new Set(bodies.flatMap(({ body }) => body.match(/\/assets\/[\w.-]+/g) ?? []))];
}

describe.each(pages)("the page %s", (page) => {
  it("may load from this app and ask the API, and nothing else", async () => {
    const { status, headers, body } = await get(page);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": csp(target.baseUrl),
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cache-control": "public, no-cache",
    });
    expect(body).not.toMatch(/<script(?![^>]*src="\/assets\/)|<style|\sstyle=|\son\w+=/);
  });

  it("answers 304 if the client has it, compresses it if the client accepts that, and answers HEAD", async () => {
    const { headers, body } = await get(page);
    const etag = String(headers.etag);
    expect(await get(page, { "if-none-match": etag })).toMatchObject({ status: 304, body: "" });
    expect(await get(page, { "if-none-match": '"another"' })).toMatchObject({ status: 200 });
    const packed = await get(page, { "accept-encoding": "gzip, deflate, br" });
    expect(packed.headers).toMatchObject({ "content-encoding": "gzip", etag });
    expect(gunzipSync(Buffer.from(packed.body, "latin1")).toString("latin1")).toBe(body);
    const head = await get(page, {}, "HEAD");
    expect(head).toMatchObject({ status: 200, body: "" });
    expect(head.headers["content-length"]).toBe(String(body.length));
  });
});

describe("an asset", () => {
  it("has its content's hash in its name, and is kept for a year", async () => {
    const assets = await listAssets();
    expect(assets.length).toBeGreaterThanOrEqual(4);
    for (const asset of assets) {
      const { status, headers } = await get(asset);
      expect(asset).toMatch(/-[0-9A-Z]{8}\.(js|css|json)$/);
      expect({ status, ...headers }).toMatchObject({
        status: 200,
        "cache-control": "public, max-age=31536000, immutable",
        "x-content-type-options": "nosniff",
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      });
    }
  });

  it("is small: a page and all assets together are less than 60 KB, as they are sent", async () => {
    const measure = async (path: string) =>
      (await get(path, { "accept-encoding": "gzip, deflate, br" })).body.length;
    const assets = await Promise.all((await listAssets()).map(measure));
    const largest = Math.max(...(await Promise.all(pages.map(measure))));
    expect(assets.reduce((sum, size) => sum + size, largest)).toBeLessThan(60_000);
  });

  it("with the description of the versions is one for a deployment and data set, and no secret", async () => {
    const [path = ""] = (await listAssets()).filter((asset) => asset.endsWith(".json"));
    const { headers, body } = await get(path);
    expect(headers["content-type"]).toBe("application/json; charset=utf-8");
    const versions = JSON.parse(Buffer.from(body, "latin1").toString());
    expect(versions.map(({ schema }: { schema: string }) => schema)).toEqual([
      "api_v1_1_0",
      "admin_api_v1_1_0",
    ]);
    const [{ tables }] = versions;
    expect(tables.map(({ name }: { name: string }) => name).sort()).toEqual(Object.keys(columns).sort());
    // Rows are found by these keys, so they must be unique.
    for (const { name, key } of tables as { name: string; key: string[] }[]) {
      if (key.length === 0) continue;
      const [counted] = await query<{ rows: string; keys: string }>(
        `select count(*) as rows, count(distinct (${key})) as keys from disclosed.${name}`,
      );
      expect({ name, rows: counted?.rows }).toEqual({ name, rows: counted?.keys });
    }
    expect(tables[0]).toMatchObject({ name: "general", key: ["report_id"] });
    // An older page names another file. It gets the current one and must not keep it.
    const other = await get("/assets/api-00000000.json");
    expect([other.status, other.headers["cache-control"], other.body]).toEqual([200, "no-cache", body]);
  });

  it("that does not exist is answered like any other path", async () => {
    const unknown = await get("/nothing");
    expect(unknown.status).toBe(404);
    for (const path of ["/assets/site.css", "/assets/..%2fsite.css", "/assets/", "/reference/x"]) {
      expect(await get(path)).toEqual(unknown);
    }
  });

  it("is a page for browsers and JSON for programs", async () => {
    const browser = await get("/nothing", { accept: "text/html,application/xhtml+xml,*/*;q=0.8" });
    expect(browser).toMatchObject({
      status: 404,
      headers: {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": csp(target.baseUrl),
        "cache-control": "no-store",
        vary: "Accept",
      },
    });
    expect(browser.body).toContain("There is no such page.");
    for (const accept of ["*/*", "application/json", "application/json, text/plain, */*"]) {
      const program = await get("/nothing", { accept });
      expect(program.headers).toMatchObject({
        "content-type": "application/json; charset=utf-8",
        vary: "Accept",
      });
    }
    const spent = `/dissemination/report/pdf/ota/${"0".repeat(8)}-0000-0000-0000-${"0".repeat(12)}`;
    const unknown = await get(spent, { accept: "text/html" });
    expect([unknown.status, unknown.body.includes("There is nothing to download here.")]).toEqual([
      404,
      true,
    ]);
  });
});

describe("the search box", () => {
  it.each([
    ["2023-06-gsafac-0000000001", "row/general?report_id=eq.2023-06-GSAFAC-0000000001"],
    ["12-3456789", "general?auditee_ein=eq.123456789"],
    [" abcdefghjk12 ", "general?auditee_uei=eq.ABCDEFGHJK12"],
    ["texas 2023", "general?auditee_state=eq.TX&audit_year=eq.2023&order="],
    ["New York", "general?auditee_state=eq.NY&order="],
    ["City of 2020 Texas", "general?auditee_name=ilike.*City%20of%202020%20Texas*"],
    ["Philadelphia", "general?auditee_name=ilike.*Philadelphia*"],
    ["town & county, 50%", "general?auditee_name=ilike.*town%20%26%20county,%2050"],
  ])("leads from %s to %s", async (text, filter) => {
    const { status, headers } = await get(`/find?q=${encodeURIComponent(text)}`);
    expect(status).toBe(303);
    expect(headers.location).toContain(`/explorer#api_v1_1_0/${filter}`);
  });
});

describe("security.txt", () => {
  it("names the contact, and ends within a year", async () => {
    const { status, headers, body } = await get("/.well-known/security.txt");
    expect({ status, type: headers["content-type"] }).toEqual({
      status: 200,
      type: "text/plain; charset=utf-8",
    });
    expect(body).toMatch(/^Contact: (mailto|https):/m);
    const expires = Date.parse(/^Expires: (.*)$/m.exec(body)?.[1] ?? "");
    expect(expires).toBeGreaterThan(Date.now() + 86_400_000);
    expect(expires).toBeLessThan(Date.now() + 365 * 86_400_000);
  });
});

/** The app on a database, with an API that nobody asks. */
async function startApp(
  databaseUrl: string,
  environment: Record<string, string> = {},
): Promise<RunningReportService> {
  const site = readSiteConfig({ API_URL: "https://api.example.gov/", ...environment });
  const config = readReportServiceConfig({
    APP_PORT: "0",
    REPORT_SERVICE_DATABASE_URL: databaseUrl,
    REPORTS_DIRECTORY: "/nowhere",
  });
  const addSite = site && (await createSite(site));
  return startReportService({ ...config, addSite, logger: pino({ level: "silent" }) });
}

it.each([
  ["no due time", undefined, /^(?!.*Next refresh due)/s],
  ["a time", "staging", /Next refresh due<\/dt><dd><time/],
  ["what a refresh follows", "development", /Next refresh due<\/dt><dd>after each change to the code/],
])("the first page shows %s if ENVIRONMENT is %s", async (_what, environment, expected) => {
  const service = await startApp(
    target.databaseUrl,
    environment === undefined ? {} : { ENVIRONMENT: environment },
  );
  const { body } = await send(service.url, "/");
  await service.close();
  expect(body).toContain("Published</dt>");
  expect(body).toMatch(expected);
});

it("the first page says so if no data has been published", async () => {
  const database = await createScratchDatabase();
  try {
    await deployDatabase(database.url);
    const service = await startApp(database.url);
    const { body } = await send(service.url, "/");
    await service.close();
    expect(body).toContain("No data has been published yet.");
  } finally {
    await database.drop();
  }
});

describe("without a database", () => {
  let service: RunningReportService;
  beforeAll(async () => {
    service = await startApp("postgres://report_service@127.0.0.1:1/none");
  });
  afterAll(() => service.close());

  // This one has no bulk files, and so no page of them.
  it.each(pages.filter((page) => page !== "/files"))("%s answers all the same", async (page) => {
    const { status, headers, body } = await send(service.url, page);
    expect(status).toBe(200);
    expect(headers["content-security-policy"]).toBe(csp("https://api.example.gov"));
    if (page === "/") expect(body).toContain("so the live figures are unknown");
  });

  it("names commands by the host it was asked for, and the API's scheme", async () => {
    const { body } = await send(service.url, "/", { headers: { host: "app.example.gov" } });
    expect(body).toContain("https://app.example.gov/dissemination/report/pdf/ota/$ACCESS_UUID");
    expect(body).toContain("https://api.example.gov/general?");
    const { body: odd } = await send(service.url, "/", { headers: { host: "$(reboot)" } });
    expect(odd).not.toContain("reboot");
  });

  it("says how to issue a key on a machine of one's own, without a contact", async () => {
    const { body } = await send(service.url, "/");
    expect(body).toContain("npm run keys -- issue --tier individual");
    expect(body).not.toContain("Ask the operator");
  });

  it("uses the security mailbox of RFC 2142 if no contact is set", async () => {
    const { body } = await send(service.url, "/.well-known/security.txt");
    expect(body).toContain("Contact: mailto:security@api.example.gov\n");
  });
});

describe("the configuration", () => {
  it("has no pages without API_URL", () => {
    expect(readSiteConfig({ ENVIRONMENT: "staging" })).toBeUndefined();
  });

  it("refuses pages of a production service without a contact", () => {
    const site = { API_URL: "https://api.example.gov", ENVIRONMENT: "production" };
    expect(() => readSiteConfig(site)).toThrow(
      "CONTACT is missing: it should be the mailto: or https: address where people ask for keys, because ENVIRONMENT is production",
    );
  });

  it.each([
    ["API_URL", "api.example.gov", "API_URL should be the API's public address"],
    ["ENVIRONMENT", "live", "ENVIRONMENT should be production, staging, development, preview"],
    ["CONTACT", "javascript:alert(1)", "CONTACT should be a mailto: or https: address"],
    ["SECURITY_CONTACT", "security@example.gov", "SECURITY_CONTACT should be a mailto: or https: address"],
  ])("refuses %s=%s", (name, value, line) => {
    expect(() => readSiteConfig({ API_URL: "https://api.example.gov", [name]: value })).toThrow(line);
  });
});
