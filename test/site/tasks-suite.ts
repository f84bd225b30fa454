import { readFile } from "node:fs/promises";
import { beforeAll, expect, it } from "vitest";
import type { Site } from "./open-site.ts";

export function testTasks(getSite: () => Site): void {
  let site: Site;
  beforeAll(() => {
    site = getSite();
  });

  it("all 2023 audits of a city with material weaknesses become a CSV file in five clicks", async () => {
    const [city] = await site.query<{ name: string; reports: string }>(
      `select auditee_city as name, count(*) as reports from disclosed.general
       where audit_year = '2023' and is_internal_control_material_weakness_disclosed = 'Yes'
       group by 1 order by 2 desc, 1 limit 1`,
    );
    const { page, leave, watchEffort } = await site.open("/explorer");
    const effort = await watchEffort();
    const add = page.getByRole("button", { name: "Add a filter" });
    await add.click();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.type("2023");
    await add.click();
    await page.getByLabel("Column 2").selectOption("auditee_city");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.type(city?.name.toLowerCase() ?? "");
    await add.click();
    await page.getByLabel("Column 3").selectOption("is_internal_control_material_weakness_disclosed");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.type("yes");
    await page.getByRole("button", { name: "Send the request" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download all rows" }).click(),
    ]);
    // The rows that are shown, how many there are, and all of them.
    expect(effort()).toEqual({ clicks: 5, requests: 3 });
    const lines = (await readFile(await download.path(), "utf8")).match(
      /^20\d\d-\d\d-(GSAFAC|CENSUS)-\d+,/gm,
    );
    expect(lines).toHaveLength(Number(city?.reports));
    await leave();
  });

  it("an auditee is found by a part of its name, and its PDF is four clicks away", async () => {
    const [auditee] = await site.query<{ part: string }>(
      "select lower(split_part(auditee_name, ' ', 1)) as part from disclosed.general where auditee_name ~ '^\\w{5}' limit 1",
    );
    const { page, leave, watchEffort } = await site.open("/");
    const effort = await watchEffort();
    await page.getByRole("link", { name: "Explorer" }).click();
    await page.getByRole("button", { name: "Add a filter" }).click();
    await page.getByLabel("Column 1").selectOption("auditee_name");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.type(auditee?.part ?? "");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: /^Open row 1: / }).click();
    const card = page.getByRole("dialog");
    await card.getByText(/^Federal awards expended \(\d/).waitFor();
    const link = card.getByRole("link", { name: "PDF of the report" });
    let address = "";
    // What it redirects to is the storage's, and no page's.
    await page.route("**/dissemination/report/pdf/20*", async (route) => {
      const answer = await route.fetch({ maxRedirects: 0 });
      address = answer.headers().location ?? "";
      await route.fulfill({ status: 204 });
    });
    await link.click();
    await expect.poll(() => address).not.toBe("");
    expect(await (await fetch(address)).text()).toMatch(/^%PDF-/);
    // The rows, and what belongs to the one that was opened.
    expect(effort()).toEqual({ clicks: 4, requests: 2 });
    await leave();
  });

  it("a shared link leads back to the same rows", async () => {
    const first = await site.open("/explorer", { permissions: ["clipboard-read", "clipboard-write"] });
    await first.page.getByRole("button", { name: "Add a filter" }).click();
    await first.page.getByLabel("Value 1").fill("2022");
    await first.page.getByRole("button", { name: "Send the request" }).click();
    await first.page.getByText(/^Status 200/).waitFor();
    await first.page.getByRole("button", { name: "Next" }).click();
    await first.page.getByText(/rows 21–/).waitFor();
    await first.page.getByRole("button", { name: "Copy link to this query" }).click();
    const link = (await first.page.evaluate("navigator.clipboard.readText()")) as string;
    const rows = await first.page.locator(".rows-table tbody").textContent();
    await first.leave();
    const second = await site.open("about:blank");
    const effort = await second.watchEffort();
    await second.page.goto(link);
    await second.page.getByText(/rows 21–/).waitFor();
    expect(effort()).toEqual({ clicks: 0, requests: 1 });
    expect(await second.page.locator(".rows-table tbody").textContent()).toBe(rows);
    await second.leave();
  });
}
