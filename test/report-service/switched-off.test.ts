import { writeFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readSiteConfig } from "../../site/config.ts";
import { prepareSite } from "../../site/prepare-site.ts";
import { usePublishedDatabase } from "../support/scratch-database.ts";
import { send } from "./http.ts";
import { describeS3, downloads, type Parts, pdf, reportId, startParts, useDirectory } from "./parts.ts";

// An operator who finds a leak switches the service off. While it is off, it serves no data. The same holds until a data set
// is published.

const database = usePublishedDatabase();
const manifest = "/public-data/manifest.json";
let parts: Parts;
let url: string;
/** The URL of a service that relays files from storage that clients cannot reach. */
let relay: string;
const inDirectory = useDirectory();

beforeAll(async () => {
  const { rows } = await database.client.query("select id from publication.data_sets where state = 'live'");
  const content = { data_set: rows[0].id, published_at: "2026-01-01T00:00:00Z", files: [], changes: [] };
  await writeFile(inDirectory("manifest.json"), JSON.stringify(content));
  await writeFile(inDirectory(`${reportId}.pdf`), pdf, "latin1");
  await database.client.query(
    "insert into disclosed.general (report_id, auditee_uei, is_public) values ($1, 'ABCDEFGHJK12', true)",
    [reportId],
  );
  await database.client.query("select access.issue_key('individual', 'a@example.gov')");
  const pages = readSiteConfig({ API_URL: "https://api.example.gov" });
  const addSite = await prepareSite({ pages, publicData: { location: inDirectory() } });
  const options = { addSite };
  parts = await startParts(
    { ...options, storage: { kind: "local", directory: inDirectory() } },
    database.url,
  );
  ({ url } = parts);
  const reached = describeS3(parts.s3.port, { publicEndpoint: "https://reports.example.gov" });
  relay = (await parts.startAnother({ ...options, storage: { kind: "s3", ...reached } })).url;
});
afterAll(() => parts.close());

const setOpen = (isOpen: boolean) =>
  database.client.query("update publication.settings set is_switched_on = $1", [isOpen]);
const setPublished = (isPublished: boolean) =>
  database.client.query(
    "update publication.data_sets set state = case when $1 then 'live' else 'dropped' end",
    [isPublished],
  );
/** How each refusal is made, its code, and what people read. */
const refusals: [code: string, text: string, refuse: (isRefused: boolean) => Promise<unknown>][] = [
  ["service_switched_off", "This service is switched off.", (isOff) => setOpen(!isOff)],
  ["no_data_set", "No data set has been published yet.", (isMissing) => setPublished(!isMissing)],
];
const readStatus = async (target: string, base = url) => (await send(base, target)).status;
/** Returns the path and query of a signed URL for the public report's PDF. */
async function sign(base: string): Promise<string> {
  const { headers } = await send(base, `/dissemination/report/pdf/${reportId}`);
  const { pathname, search } = new URL(String(headers.location), base);
  return pathname + search;
}

test.each(refusals)(
  "files, reports, totals, tokens and signed URLs get 503 (%s), and then work again",
  async (code, text, refuse) => {
    const token = await parts.tokens.issue();
    const targets: [target: string, status: number, base?: string][] = [
      [manifest, 200],
      ["/public-data/general.csv.gz", 404],
      ["/dissemination/public-data/gsa/full/general.csv", 404],
      ["/totals", 200],
      ["/files", 200],
      [`/record/${reportId}`, 200],
      [`/dissemination/report/pdf/${reportId}`, 302],
      [`${downloads}/${token}`, 302],
      [await sign(url), 200],
      [await sign(relay), 200, relay],
    ];
    expect(await readStatus(manifest)).toBe(200);
    await refuse(true);
    for (const [target, , base = url] of targets) {
      const { status, headers, body } = await send(base, target);
      expect({ target, status, retry: headers["retry-after"] }).toEqual({ target, status: 503, retry: "60" });
      expect(JSON.parse(body)).toMatchObject({ code });
      const page = await send(base, target, { headers: { accept: "text/html" } });
      expect(page).toMatchObject({ status: 503, headers: { "content-type": "text/html; charset=utf-8" } });
      expect(page.body).toContain(text);
    }
    const redeem =
      "select access.find_report_of_token($1) as found, access.redeem_access_token($1) as redeemed";
    expect((await database.client.query(redeem, [token])).rows).toEqual([{ found: null, redeemed: null }]);
    expect(await parts.tokens.isSpent(token)).toBe(false);
    expect(await readStatus("/")).toBe(200);
    await refuse(false);
    for (const [target, status, base] of targets)
      expect([target, await readStatus(target, base)]).toEqual([target, status]);
  },
);

test.each(refusals)(
  "bulk files follow the last known state while the database is unreachable (%s)",
  async (_code, _text, refuse) => {
    for (const [isRefused, status] of [
      [false, 200],
      [true, 503],
      [false, 200],
    ] as const) {
      await refuse(isRefused);
      expect(await readStatus(manifest)).toBe(status);
      await parts.databaseWire.refuse();
      expect(await readStatus(manifest)).toBe(status);
      await parts.databaseWire.pass();
    }
  },
);
