import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { pino } from "pino";
import { expect, it, onTestFinished, vi } from "vitest";
import { readReportServiceConfig } from "../../report-service/config.ts";
import { startReportService } from "../../report-service/start-report-service.ts";
import { deployDatabase } from "../../scripts/deploy/deploy-database.ts";
import type { RunningApp } from "../../shared/web/start-app.ts";
import { readSiteConfig } from "../../site/config.ts";
import { prepareSite } from "../../site/prepare-site.ts";
import { send } from "../report-service/http.ts";
import { serviceDatabaseUrl } from "../report-service/parts.ts";
import { columns } from "../support/columns.ts";
import { startRelay } from "../support/relay.ts";
import { createScratchDatabase } from "../support/scratch-database.ts";
import { query, target } from "../support/target.ts";

// The app's HTTP responses: pages, assets, redirects and error pages.

const pages = ["/", "/search", "/totals", "/reference", "/explorer", "/files", "/changes"];
const csp = (api: string) =>
  `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' ${api}; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`;
const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  send(target.appUrl, path, { method, headers });

async function listAssets(): Promise<string[]> {
  const bodies = await Promise.all(pages.map((page) => get(page)));
  return [...new Set(bodies.flatMap(({ body }) => body.match(/\/assets\/[\w.-]+/g) ?? []))];
}

it.each(pages)(
  "the page %s loads only from this app and the API, and is sent compressed and with an ETag",
  async (page) => {
    const { status, headers, body } = await get(page);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": csp(target.baseUrl),
      "x-content-type-options": "nosniff",
      "cross-origin-opener-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "cache-control": "public, no-cache",
    });
    expect(body).toContain('<form class="search" action="/search" role="search"');
    expect(body).not.toMatch(/<script(?![^>]*src="\/assets\/)|<style|\sstyle=|\son\w+=/);
    const etag = String(headers.etag);
    expect(await get(page, { "if-none-match": etag })).toMatchObject({ status: 304, body: "" });
    expect(await get(page, { "if-none-match": '"another"' })).toMatchObject({ status: 200 });
    const packed = await get(page, { "accept-encoding": "gzip, deflate, br" });
    expect(packed.headers).toMatchObject({ "content-encoding": "gzip", etag });
    expect(gunzipSync(Buffer.from(packed.body, "latin1")).toString("latin1")).toBe(body);
    const head = await get(page, {}, "HEAD");
    expect(head).toMatchObject({ status: 200, body: "", headers: { "content-length": String(body.length) } });
  },
);

it("the changes on the page are also a CSV file, and unknown tables of totals get 404", async () => {
  const { status, headers, body } = await get("/changes.csv");
  expect([status, headers["content-type"]]).toEqual([200, "text/csv; charset=utf-8"]);
  expect(body).toContain(
    "publication,published_at,change,report_id,auditee_name,auditee_uei,audit_year,findings,replaces,changed_parts,",
  );
  expect((await get("/changes")).body).toContain('<a href="/changes.csv">CSV for spreadsheets</a>');
  expect((await get("/totals.csv?by=constructor")).status).toBe(404);
  expect((await get("/totals.csv?by=state&year=1899")).status).toBe(400);
  expect((await get("/totals?year=1899")).body).toContain("No public report has the audit year");
});

it("the feed of changes is Atom that links to the page", async () => {
  const { status, headers, body } = await get("/changes.atom");
  expect([status, headers["content-type"]]).toEqual([200, "application/atom+xml; charset=utf-8"]);
  expect(body).toContain(`<link rel="alternate" type="text/html" href="${target.appUrl}/changes"/>`);
  expect((await get("/changes")).body).toContain('type="application/atom+xml" href="/changes.atom"');
  // A feed without entries has the date of its data set.
  expect((await get("/changes.atom?u=ZZZZZZZZ1234")).body).toMatch(/<updated>20[2-9]\d-/);
});

it("assets have a hash in their name and are cached for a year, and together they are small", async () => {
  const assets = await listAssets();
  const measure = async (path: string) =>
    (await get(path, { "accept-encoding": "gzip, deflate, br" })).body.length;
  let sum = Math.max(...(await Promise.all(pages.map(measure))));
  for (const asset of assets) {
    const { status, headers } = await get(asset);
    expect(asset).toMatch(/-[0-9A-Z]{8}\.(js|css|json)$/);
    expect({ status, ...headers }).toMatchObject({
      status: 200,
      "cache-control": "public, max-age=31536000, immutable",
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    });
    sum += await measure(asset);
  }
  expect(sum).toBeLessThan(60_000);
});

it("the description of the API's tables is current, even under an old name, and its table keys are unique", async () => {
  const [path = ""] = (await listAssets()).filter((asset) => asset.endsWith(".json"));
  const { body } = await get(path);
  const [{ tables }] = JSON.parse(Buffer.from(body, "latin1").toString());
  expect(tables.map(({ name }: { name: string }) => name).sort()).toEqual(Object.keys(columns).sort());
  for (const { name, key } of tables as { name: string; key: string[] }[]) {
    if (key.length === 0) continue;
    const [counted] = await query<{ rows: string; keys: string }>(
      `select count(*) as rows, count(distinct (${key})) as keys from disclosed.${name}`,
    );
    expect({ name, rows: counted?.rows }).toEqual({ name, rows: counted?.keys });
  }
  expect(tables[0]).toMatchObject({ name: "general", key: ["report_id"] });
  // An older page asks for an older name. It gets the current description, and must not cache it under that name.
  const other = await get("/assets/api-00000000.json");
  expect([other.status, other.headers["cache-control"], other.body]).toEqual([200, "no-cache", body]);
});

it("every unknown path gets the same 404: a page for browsers, JSON for programs", async () => {
  const unknown = await get("/nothing");
  for (const path of ["/assets/site.css", "/assets/..%2fsite.css", "/assets/", "/reference/x"]) {
    expect(await get(path)).toEqual(unknown);
  }
  for (const [accept = "", type, policy] of [
    ["text/html,application/xhtml+xml,*/*;q=0.8", "text/html", csp(target.baseUrl)],
    ["*/*", "application/json", "default-src 'none'; frame-ancestors 'none'"],
    ["application/json, text/plain, */*", "application/json", "default-src 'none'; frame-ancestors 'none'"],
  ]) {
    const { status, headers, body } = await get("/nothing", { accept });
    expect([status, headers.vary, headers["cache-control"]]).toEqual([404, "Accept", "no-store"]);
    expect(headers["content-type"]).toBe(`${type}; charset=utf-8`);
    expect(headers["content-security-policy"]).toBe(policy);
    expect(body).toContain("There is no such page.");
  }
  const spent = `/dissemination/report/pdf/ota/${"0".repeat(8)}-0000-0000-0000-${"0".repeat(12)}`;
  const { status, body } = await get(spent, { accept: "text/html" });
  expect([status, body.includes("There is nothing to download here.")]).toEqual([404, true]);
});

it.each(["2023-06-GSAFAC-0000000001", "1999-12-CENSUS-0000000009"])(
  "the federal service's address of report %s leads to its record",
  async (id) => {
    const { status, headers } = await get(`/dissemination/summary/${id}`);
    expect([status, headers.location]).toEqual([302, `/record/${id}`]);
  },
);

it.each([
  "x",
  "2023-06-GSAFAC-00000000010",
  "2023-06-GSAFAC-1",
  "%0a2023-06-GSAFAC-0000000001",
  "2023-06-OTHER-0000000001",
  "a/b",
  "",
])("an address with the malformed report ID %j gets 404", async (id) => {
  expect((await get(`/record/${id}`)).status).toBe(404);
});

it("the report service may read what every page shows", async () => {
  const general =
    "select report_id, auditee_uei from disclosed.general where auditee_uei <> 'GSA_MIGRATION' limit 1";
  const [row] = await query<{ report_id: string; auditee_uei: string }>(general);
  const { report_id: report, auditee_uei: auditee } = row ?? {};
  for (const path of [
    `/record/${report}`,
    `/record/${report}/federal_awards.csv`,
    `/auditee/${auditee}`,
    `/auditee/${auditee}.csv`,
    `/check?u=${auditee}`,
    `/check.csv?u=${auditee}`,
    `/changes?u=${auditee}`,
    `/search?q=${auditee}`,
    "/findings?words=procurement",
    "/findings.csv",
    "/state/TX",
    "/agency/93",
    "/program/93.778",
  ])
    expect([path, (await get(path)).status]).toEqual([path, 200]);
});

it("security.txt names the contact, and expires within a year", async () => {
  const { status, headers, body } = await get("/.well-known/security.txt");
  expect([status, headers["content-type"]]).toEqual([200, "text/plain; charset=utf-8"]);
  expect(body).toMatch(/^Contact: (mailto|https):/m);
  const days = (Date.parse(/^Expires: (.*)$/m.exec(body)?.[1] ?? "") - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(1);
  expect(days).toBeLessThan(365);
});

/** Starts the app on a database, until the test ends. The API that it names does not exist. */
async function startApp(databaseUrl: string): Promise<RunningApp> {
  const pages = readSiteConfig({ API_URL: "https://api.example.gov/" });
  const variables = { APP_PORT: "0", REPORT_SERVICE_DATABASE_URL: databaseUrl, REPORTS_DIRECTORY: "/none" };
  const addSite = await prepareSite({ pages });
  const logger = pino({ level: "silent" });
  const service = await startReportService({ ...readReportServiceConfig(variables), addSite, logger });
  onTestFinished(service.close);
  return service;
}

it("every page says if no data set has been published", async () => {
  const database = await createScratchDatabase();
  onTestFinished(database.drop);
  await deployDatabase(database.url);
  const service = await startApp(database.url);
  for (const page of pages.filter((each) => each !== "/files")) {
    const { status, body } = await send(service.url, page, { headers: { accept: "text/html" } });
    expect([page, status]).toEqual([page, page === "/totals" ? 503 : 200]);
    expect(body).toContain("No data set has been published yet.");
  }
});

it("without a database or contact, the overview is served, with commands that work and the app's addresses", async () => {
  const service = await startApp("postgres://report_service@127.0.0.1:1/none");
  const read = (path: string, host = "app.example.gov") => send(service.url, path, { headers: { host } });
  for (const page of ["/", "/search"]) {
    const { status, headers } = await read(page);
    expect(status).toBe(200);
    expect(headers["content-security-policy"]).toBe(csp("https://api.example.gov"));
  }
  const { body } = await read("/");
  for (const text of [
    "so the live figures are unknown",
    "https://app.example.gov/dissemination/report/pdf/ota/$ACCESS_UUID",
    "https://api.example.gov/general?",
  ])
    expect(body).toContain(text);
  expect(body).not.toContain("Ask the operator");
  const codes = body.matchAll(/<code>([^<]*npm run [^<]*)<\/code>/g);
  const commands = Array.from(codes, ([, code]) => code).join("\n");
  const typed = commands.replaceAll("&quot;", '"').replaceAll("&#39;", "'");
  const env = { ...process.env, DATABASE_URL: target.databaseUrl };
  const printed = execFileSync("/bin/sh", ["-ec", typed], { env, encoding: "utf8" });
  expect(printed).toMatch(/^ +individual_.*^ +tribal_/ms);
  expect((await read("/", "$(reboot)")).body).not.toContain("reboot");
  const unavailable = { "retry-after": "5", "cache-control": "no-store" };
  for (const path of [
    "/explorer",
    "/totals",
    "/reference",
    "/changes",
    "/changes.atom",
    "/openapi.json",
    "/assets/api-00000000.json",
    "/record/2023-06-GSAFAC-0000000001",
  ])
    expect([path, await read(path)]).toMatchObject([path, { status: 503, headers: unavailable }]);
  const { headers } = await read("/openapi.json");
  expect(headers["access-control-allow-origin"]).toBe("*");
  const { body: security } = await read("/.well-known/security.txt");
  expect(security).toContain("Contact: mailto:security@api.example.gov\n");
});

/** Starts the app on the database behind a relay. */
async function startBehindRelay() {
  const url = new URL(target.databaseUrl);
  const relay = await startRelay(Number(url.port));
  onTestFinished(() => relay.refuse());
  url.port = String(relay.port);
  return { relay, service: await startApp(serviceDatabaseUrl(url.href)) };
}

it("a page waits for the first answer of a slow database, and is not empty", async () => {
  const { relay, service } = await startBehindRelay();
  await relay.hold();
  const answer = send(service.url, "/explorer");
  await relay.held();
  await sleep(2500);
  await relay.pass();
  const { status, body } = await answer;
  expect([status, body.includes("data-settings=")]).toEqual([200, true]);
});

it.each(["refuse", "hold"] as const)(
  "while the database is away (%s), documents that are made from it stay as they were",
  async (goAway) => {
    const { relay, service } = await startBehindRelay();
    const home = (await send(service.url, "/explorer")).body;
    const [description = ""] = /\/assets\/api-\w+\.json/.exec(home) ?? [];
    const read = () =>
      Promise.all(
        [
          "/openapi.json",
          "/openapi.json?version=api_v1_1_0",
          "/reference",
          "/totals",
          "/totals?sort=awards&page=2",
          "/changes.atom",
          "/changes",
          "/",
          description,
        ].map(async (path) => {
          const { status, headers, body } = await send(service.url, path);
          return [path, status, headers.etag, body];
        }),
      );
    const before = await read();
    expect(before.map(([, status]) => status)).toEqual(before.map(() => 200));
    await relay[goAway]();
    // Long after the service would ask the database again.
    const now = performance.now.bind(performance);
    vi.spyOn(performance, "now").mockImplementation(() => now() + 3_600_000);
    onTestFinished(() => void vi.restoreAllMocks());
    expect(await read()).toEqual(before);
    // Once more, unless each answer waits for the database.
    if (goAway === "refuse") expect(await read()).toEqual(before);
  },
);

it("there are no pages without API_URL", () => {
  expect(readSiteConfig({ ENVIRONMENT: "staging" })).toBeUndefined();
});

it.each([
  ["API_URL", "api.example.gov", "API_URL should be the API's public address"],
  ["ENVIRONMENT", "live", "ENVIRONMENT should be production, staging, development, preview"],
  ["ENVIRONMENT", "production", "CONTACT is missing: it should be the mailto: or https: address where"],
  ["CONTACT", "javascript:alert(1)", "CONTACT should be a mailto: or https: address"],
  ["SECURITY_CONTACT", "security@example.gov", "SECURITY_CONTACT should be a mailto: or https: address"],
])("the site refuses %s=%s", (name, value, line) => {
  expect(() => readSiteConfig({ API_URL: "https://api.example.gov", [name]: value })).toThrow(line);
});
