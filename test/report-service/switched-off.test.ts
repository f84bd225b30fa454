import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunningServer } from "../../report-service/listen.ts";
import { startLocalStorage } from "../../report-service/local-storage.ts";
import { startReportService } from "../../report-service/start-report-service.ts";
import { readSiteConfig } from "../../site/config.ts";
import { createSite } from "../../site/create-site.ts";
import { useDeployedDatabase } from "../support/scratch-database.ts";
import { send } from "./http.ts";
import {
  captureLogs,
  downloads,
  openTokens,
  pdf,
  reportId,
  serviceDatabaseUrl,
  signingSecret,
} from "./parts.ts";
import { type Relay, startRelay } from "./relay.ts";

// An operator who finds a leak switches the service off. From then on it gives out no data.

const database = useDeployedDatabase();
const { logger } = captureLogs();
let tokens: ReturnType<typeof openTokens>;
let wire: Relay;
let storage: RunningServer;
let service: RunningServer;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "reports-"));
  const manifest = { data_set: "1", published_at: "2026-01-01T00:00:00Z", files: [], changes: [] };
  await writeFile(path.join(directory, "manifest.json"), JSON.stringify(manifest));
  await writeFile(path.join(directory, `${reportId}.pdf`), pdf, "latin1");
  await database.client.query(
    "insert into disclosed.general (report_id, auditee_uei, is_public) values ($1, 'ABCDEFGHJK12', true)",
    [reportId],
  );
  await database.client.query("select access.issue_key('individual', 'a@example.gov')");
  tokens = openTokens(database.url);
  wire = await startRelay(Number(new URL(database.url).port));
  const site = readSiteConfig({ API_URL: "https://api.example.gov" });
  const [host, port, secret] = ["127.0.0.1", 0, signingSecret] as const;
  storage = await startLocalStorage({ host, port, directory, secret, logger });
  service = await startReportService({
    host,
    port,
    database: { connectionString: serviceDatabaseUrl(database.url, wire) },
    storage: { kind: "local", url: storage.url, secret },
    publicData: { location: directory },
    addSite: site && (await createSite(site)),
    logger,
  });
});
afterAll(async () => {
  await service.close();
  await Promise.all([storage.close(), tokens.close(), wire.refuse()]);
  await rm(directory, { recursive: true });
});

const manifest = "/public-data/manifest.json";
const turn = (isOpen: boolean) =>
  database.client.query("update publication.settings set is_open = $1", [isOpen]);
const readStatus = async (target: string) => (await send(service.url, target)).status;

test("bulk files, totals, public PDFs and tokens get 503, and work again once it is on", async () => {
  const token = await tokens.issue();
  const targets = [
    [manifest, 200],
    ["/public-data/general.csv.gz", 404],
    ["/dissemination/public-data/gsa/full/general.csv", 404],
    ["/totals", 200],
    [`/dissemination/report/pdf/${reportId}`, 302],
    [`${downloads}/${token}`, 302],
  ] as const;
  expect(await readStatus(manifest)).toBe(200);
  await turn(false);
  for (const [target] of targets) {
    const { status, headers, body } = await send(service.url, target);
    expect({ target, status, retry: headers["retry-after"] }).toEqual({ target, status: 503, retry: "60" });
    expect(JSON.parse(body)).toMatchObject({ code: "service_switched_off" });
    const page = await send(service.url, target, { headers: { accept: "text/html" } });
    expect(page).toMatchObject({ status: 503, headers: { "content-type": "text/html; charset=utf-8" } });
    expect(page.body).toContain("This service is switched off.");
  }
  const redeem =
    "select access.find_report_of_token($1) as found, access.redeem_access_token($1) as redeemed";
  expect((await database.client.query(redeem, [token])).rows).toEqual([{ found: null, redeemed: null }]);
  expect(await tokens.isSpent(token)).toBe(false);
  expect(await readStatus("/")).toBe(200);
  await turn(true);
  for (const [target, status] of targets)
    expect([target, await readStatus(target)]).toEqual([target, status]);
});

test("bulk files follow the last answer while the database is away", async () => {
  await turn(true);
  expect(await readStatus(manifest)).toBe(200);
  await wire.refuse();
  expect(await readStatus(manifest)).toBe(200);
  await wire.pass();
  await turn(false);
  expect(await readStatus(manifest)).toBe(503);
  await wire.refuse();
  expect(await readStatus(manifest)).toBe(503);
  await wire.pass();
  await turn(true);
  expect(await readStatus(manifest)).toBe(200);
});
