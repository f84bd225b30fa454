import { existsSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readSiteConfig } from "../../../site/config.ts";
import { prepareSite } from "../../../site/prepare-site.ts";
import { requireLive } from "../../../site/public-data/public-files.ts";
import { send } from "../../report-service/http.ts";
import { type Parts, startParts } from "../../report-service/parts.ts";
import { refreshHere, useRefresh } from "./support/refresh.ts";
import { id, submission } from "./support/source-files.ts";

// The bulk files of a data set that is not live may have a report that was suppressed since.

const here = useRefresh();
let parts: Parts;

beforeAll(async () => {
  const pages = readSiteConfig({ API_URL: "https://api.example.gov" });
  const addSite = await prepareSite({ pages, publicData: { location: here.publicData } });
  const options = { addSite };
  parts = await startParts(options, here.database.url);
});
afterAll(() => parts.close());

const write = async (is_public: "t" | "f") => {
  await here.write("general", [submission(1, { is_public, auditee_name: "Pueblo" }), submission(2)]);
  await here.write("findings", [{ report_id: id(1) }, { report_id: id(2) }]);
};
const ask = (target: string, headers = {}, method = "GET") => send(parts.url, target, { headers, method });
const manifest = "/public-data/manifest.json";
const readStatus = async () => (await ask(manifest)).status;
const hasFiles = (dataSet: string) => existsSync(path.join(here.publicData, dataSet, "general.csv.gz"));

// Each test continues from the previous one.

it("are served while their data set is live, also after a rollback to it", async () => {
  await write("t");
  expect(await here.publish()).toMatchObject({ code: 0 });
  const statuses = [await readStatus()];
  for (const replace of [here.load, here.rollBack, here.rollBack, here.rollBack]) {
    await replace();
    statuses.push(await readStatus());
  }
  expect(statuses).toEqual([200, 503, 200, 503, 200]);
});

it("get 503 from a refresh without PUBLIC_DATA on, whatever is asked", async () => {
  const etag = (await ask("/public-data/general.csv.gz")).headers.etag;
  await write("f");
  const args = ["--from", here.directory, "--force", "--accept-shrink"];
  const { output } = await refreshHere(args, { DATABASE_URL: here.database.url });
  expect(output).toContain("get 503 until a refresh with PUBLIC_DATA has run");
  for (const [target, asked, method] of [
    [manifest],
    ["/public-data/general.csv.gz"],
    ["/public-data/general.csv.gz", {}, "HEAD"],
    ["/public-data/general.csv.gz", { range: "bytes=5-" }],
    ["/public-data/general.csv.gz", { range: "bytes=5-", "if-range": etag }],
    ["/public-data/general.csv.gz", { "if-none-match": etag }],
    ["/public-data/nothing.csv.gz"],
    ["/dissemination/public-data/gsa/full/general.csv"],
    ["/files"],
  ] as const) {
    const { status, headers, body } = await ask(target, asked, method);
    expect({ target, status, headers }).toMatchObject({
      target,
      status: 503,
      headers: { "retry-after": "10" },
    });
    expect(headers).not.toHaveProperty("etag");
    if (method !== "HEAD") expect(JSON.parse(body).code).toBe("files_not_current");
  }
  const page = await ask("/files", { accept: "text/html" });
  expect([page.status, page.body]).toEqual([503, expect.stringContaining("do not belong to the live data")]);
});

it("are replaced by the next refresh with PUBLIC_DATA, and removed if they name a report suppressed since", async () => {
  const [previous] = await here.list("select id from publication.data_sets where state = 'previous'");
  expect(hasFiles(String(previous))).toBe(true);
  expect((await here.publish()).output).toContain("nothing to do");
  const text = await ask("/dissemination/public-data/gsa/full/general.csv");
  expect([text.status, text.body]).toEqual([200, expect.not.stringContaining("Pueblo")]);
  expect([hasFiles(String(previous)), hasFiles(await here.liveId())]).toEqual([false, true]);
});

it("are not given out if another data set goes live while the manifest is read", async () => {
  let live = "old";
  const manifest = { data_set: "old", published_at: "", files: [], changes: [] };
  const files = {
    readManifest: async () => {
      live = "new";
      return { manifest, text: "" };
    },
    open: () => Promise.reject(new Error("No file is read.")),
  };
  await expect(requireLive(files, async () => live).readManifest()).rejects.toThrow("but new is live");
});
