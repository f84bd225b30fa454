import { mkdir, writeFile } from "node:fs/promises";
import { pino } from "pino";
import { expect, it, onTestFinished } from "vitest";
import { startReportService } from "../../report-service/start-report-service.ts";
import { readSiteConfig } from "../../site/config.ts";
import { prepareSite } from "../../site/prepare-site.ts";
import { startSite } from "../../site/start-site.ts";
import { send } from "../report-service/http.ts";
import { openPool, openTokens, reportId, serviceDatabaseUrl, useDirectory } from "../report-service/parts.ts";
import { queryValue, target } from "../support/target.ts";

// The site in a process of its own, beside a report service that only hands out PDFs.

const inDirectory = useDirectory();
const logger = pino({ level: "silent" });
const listening = { host: "127.0.0.1", port: 0, logger };
const connectionString = serviceDatabaseUrl(target.databaseUrl, undefined, "site");
const download = `/dissemination/report/pdf/${reportId}`;

async function start() {
  const live = await queryValue<string>("select id from publication.data_sets where state = 'live'");
  const manifest = { data_set: live, published_at: "2026-01-01T00:00:00Z", files: [], changes: [] };
  await writeFile(inDirectory("manifest.json"), JSON.stringify(manifest));
  await mkdir(inDirectory(live), { recursive: true });
  const pages = readSiteConfig({ API_URL: "https://api.example.gov" });
  const addSite = await prepareSite({ pages, publicData: { location: inDirectory() } });
  const site = await startSite({ ...listening, database: { connectionString }, addSite });
  onTestFinished(site.close);
  const reports = await startReportService({
    ...listening,
    database: { connectionString: serviceDatabaseUrl(target.databaseUrl) },
    storage: { kind: "local", directory: inDirectory() },
  });
  onTestFinished(reports.close);
  return { site: site.url, reports: reports.url };
}

it("serves each path in one of the two processes, and health checks in both", async () => {
  const urls = await start();
  const ask = async (path: string) => [
    (await send(urls.site, path)).status,
    (await send(urls.reports, path)).status,
  ];
  for (const path of [
    "/",
    "/totals",
    "/reference",
    "/explorer",
    "/files",
    "/changes",
    "/changes.atom",
    "/openapi.json",
  ])
    expect([path, await ask(path)]).toEqual([path, [200, 404]]);
  expect(await ask("/public-data/manifest.json")).toEqual([200, 404]);
  expect(await ask(`/dissemination/summary/${reportId}`)).toEqual([302, 404]);
  for (const path of ["/healthz", "/readyz"]) expect([path, await ask(path)]).toEqual([path, [200, 200]]);
  const site = JSON.parse((await send(urls.site, download)).body);
  const reports = JSON.parse((await send(urls.reports, download)).body);
  expect([site.code, reports.code]).toEqual(["no_such_page", "report_not_found"]);
});

it("refuses a role that can redeem tokens", async () => {
  for (const [role, url] of [
    ["report_service", serviceDatabaseUrl(target.databaseUrl)],
    ["the owner", target.databaseUrl],
  ])
    await expect(
      startSite({ ...listening, database: { connectionString: url }, addSite: () => {} }),
      role,
    ).rejects.toThrow("can redeem tokens. Set SITE_DATABASE_URL to the login of the role site.");
});

it("connects as a role that can neither find nor redeem a token, and reads no report", async () => {
  const tokens = openTokens();
  onTestFinished(tokens.close);
  const token = await tokens.issue();
  const { site } = await start();
  expect((await send(site, `/dissemination/report/pdf/ota/${token}`)).status).toBe(404);
  const pool = openPool(connectionString);
  onTestFinished(() => pool.end());
  for (const statement of [
    `select access.redeem_access_token('${token}')`,
    `select access.find_report_of_token('${token}')`,
    "select access.record_key_use(array[]::bytea[])",
    "select from disclosed.general",
    "select from suppressed.general",
  ])
    await expect(pool.query(statement), statement).rejects.toMatchObject({ code: "42501" });
  expect(await tokens.isSpent(token)).toBe(false);
});

it("the report service may run every function of the site, because it serves the pages if the site has no process", async () => {
  const only = `select coalesce(string_agg(oid::regprocedure::text, ', '), 'none') from pg_proc
    where has_function_privilege('site', oid, 'execute') and not has_function_privilege('report_service', oid, 'execute')`;
  expect(await queryValue<string>(only)).toBe("none");
});
