import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, it } from "vitest";
import type { Site } from "./open-site.ts";
import { hasFocus, waitForRows } from "./read-answer.ts";

export function testView(getSite: () => Site): void {
  let site: Site;
  beforeAll(() => {
    site = getSite();
  });

  describe.each([
    [1440, 900],
    [360, 640],
  ])("on a screen of %d × %d", (width, height) => {
    it("comes into view and takes the focus, with a bar that stays", async () => {
      const { page, leave, takePicture } = await site.open("/explorer", { viewport: { width, height } });
      await page.getByRole("button", { name: "Send the request" }).click();
      await waitForRows(page, 1);
      const top = () => page.locator("#result").evaluate((it) => it.getBoundingClientRect().top);
      expect(await top()).toBeLessThan(height / 2);
      expect(await page.evaluate("document.activeElement.id")).toBe("result");
      await takePicture(`answer-${width}`, false);
      await page.evaluate("scrollBy(0, 100)");
      await expect.poll(top).toBeLessThan(0);
      const bar = page.locator(".bar-of-answer");
      expect(await bar.boundingBox()).toMatchObject({ y: expect.closeTo(0, 0) });
      expect(await bar.textContent()).toMatch(
        /rows 1–20 · \d+ ms · [\d,]+ of 100,000 requests left this hour, [\d,]+ of 100,000 today/,
      );
      expect(await bar.getByRole("button", { name: "Download all rows" }).isVisible()).toBe(true);
      await leave();
    });
  });

  describe("of many rows", () => {
    const many = 20_500;
    beforeAll(async () => {
      await site.query(
        `insert into disclosed.passthrough
         select p.* from (select * from disclosed.passthrough limit 1) as p, generate_series(1, $1)`,
        [many],
      );
      await site.query(
        "update disclosed.passthrough as p set passthrough_id = 'copy ' || n.row from (select ctid, row_number() over () as row from disclosed.passthrough) as n where n.ctid = p.ctid",
      );
    }, 60_000);

    it("draws 200 at a time, under a head and beside a first column that stay", async () => {
      const { page, leave } = await site.open("/explorer");
      await page.getByLabel("Table", { exact: true }).selectOption("passthrough");
      await page.getByLabel("Rows a page").fill("20000");
      await page.getByRole("button", { name: "Send the request" }).click();
      await page.getByText(/rows 1–20,000 · /).waitFor({ timeout: 30_000 });
      const begun = Date.now();
      expect(await page.locator(".rows-table tbody tr").count()).toBe(200);
      await page.getByRole("button", { name: "Draw 200 more" }).click();
      await page.locator(".rows-table tbody tr").nth(399).waitFor();
      expect(Date.now() - begun).toBeLessThan(5000);
      const place = page.getByRole("group", { name: "Rows" });
      const { y: before } = (await page.getByRole("columnheader").first().boundingBox()) ?? { y: -1 };
      await place.evaluate((it) => it.scrollTo(0, 5000));
      expect((await page.getByRole("columnheader").first().boundingBox())?.y).toBeCloseTo(before, 0);
      await leave();
    });

    it("is downloaded to the last, by as many requests as it says, or cancelled", async () => {
      const { page, leave } = await site.open(
        "/explorer#api_v1_1_0/passthrough?order=award_reference.desc&limit=5",
      );
      await waitForRows(page, 1);
      const [counted] = await site.query<{ rows: string }>(
        "select count(*) as rows from disclosed.passthrough",
      );
      const total = Number(counted?.rows).toLocaleString("en-US");
      await page.getByRole("button", { name: "Download all rows" }).click();
      await page.getByText(new RegExp(`^${total} rows, 2 requests of the [\\d,]+ that are left`)).waitFor();
      const accept = page.getByRole("button", { name: "Download them" });
      await accept.click();
      await page.getByRole("button", { name: "Cancel" }).click();
      await expect.poll(() => page.getByRole("button", { name: "Cancel" }).count()).toBe(0);
      await expect.poll(() => hasFocus(page)).toBe(true);
      await page.getByRole("button", { name: "Download all rows" }).click();
      const [download] = await Promise.all([page.waitForEvent("download"), accept.click()]);
      const [dataSet] = await site.query<{ id: string }>(
        "select id from publication.data_sets where state = 'live'",
      );
      expect(download.suggestedFilename()).toBe(`passthrough-${dataSet?.id}.csv`);
      const lines = (await readFile(await download.path(), "utf8")).trimEnd().split("\n");
      expect(lines[0]).toContain("report_id,");
      expect(lines).toHaveLength(Number(counted?.rows) + 1);
      expect(new Set(lines).size).toBe(lines.length);
      await page.getByText(`Saved as passthrough-${dataSet?.id}.csv`).waitFor();
      await leave();
    });
  });
}
