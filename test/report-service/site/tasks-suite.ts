import { readFile } from "node:fs/promises";
import { beforeAll, expect, it } from "vitest";
import type { Site } from "./open-site.ts";
import type { Visit } from "./visit.ts";

type Page = Visit["page"];

/**
 * Counts what a person presses with a mouse, from now on and in whatever document the tab shows: columns are chosen by
 * keyboard, from where the focus is.
 */
async function countClicks(page: Page): Promise<() => number> {
  let clicks = 0;
  await page.exposeFunction("noteClick", () => {
    clicks += 1;
  });
  const listen = "addEventListener('pointerdown', () => noteClick(), true);";
  await page.addInitScript(listen);
  await page.evaluate(listen);
  return () => clicks;
}

export function testTasks(getSite: () => Site): void {
  let site: Site;
  beforeAll(() => {
    site = getSite();
  });

  it("all 2023 audits of a city with material weaknesses become a CSV file in six clicks", async () => {
    const [city] = await site.query<{ name: string; reports: string }>(
      `select auditee_city as name, count(*) as reports from disclosed.general
       where audit_year = '2023' and is_internal_control_material_weakness_disclosed = 'Yes'
       group by 1 order by 2 desc, 1 limit 1`,
    );
    const { page, leave } = await site.open("/explorer");
    const clicks = await countClicks(page);
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
    expect(clicks()).toBeLessThanOrEqual(6);
    const lines = (await readFile(await download.path(), "utf8")).match(
      /^20\d\d-\d\d-(GSAFAC|CENSUS)-\d+,/gm,
    );
    expect(lines).toHaveLength(Number(city?.reports));
    await leave();
  });

  it("total federal expenditures by state for 2023 are two clicks away", async () => {
    const { page, leave } = await site.open("/");
    const clicks = await countClicks(page);
    await page.getByRole("navigation", { name: "Audit year" }).getByRole("link", { name: "2023" }).click();
    const caption = "Federal dollars expended by the auditee’s state, audit year 2023";
    await page.getByRole("figure", { name: caption }).locator("summary").click();
    const rows = page.getByRole("table", { name: caption }).getByRole("row");
    const [counted] = await site.query<{ states: string }>(
      "select count(distinct nullif(auditee_state, '')) as states from disclosed.general where audit_year = '2023'",
    );
    expect(await rows.count()).toBeGreaterThanOrEqual(Number(counted?.states) + 1);
    expect(await rows.nth(1).isVisible()).toBe(true);
    expect(clicks()).toBe(2);
    await leave();
  });

  it("an auditee is found by a part of its name, and its PDF is three clicks away", async () => {
    const [auditee] = await site.query<{ part: string }>(
      "select lower(split_part(auditee_name, ' ', 1)) as part from disclosed.general where auditee_name ~ '^\\w{5}' limit 1",
    );
    const { page, leave } = await site.open("/explorer");
    const clicks = await countClicks(page);
    await page.getByRole("button", { name: "Add a filter" }).click();
    await page.getByLabel("Column 1").selectOption("auditee_name");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.type(auditee?.part ?? "");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: /^Open row 1: / }).click();
    const link = page.getByRole("dialog").getByRole("link", { name: "PDF of the report" });
    expect(await link.getAttribute("href")).toMatch(/^\/dissemination\/report\/pdf\/20\d\d-/);
    expect(clicks()).toBeLessThanOrEqual(3);
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
    const second = await site.open(link.slice(site.facts.app_url.length));
    await second.page.getByText(/rows 21–/).waitFor();
    expect(await second.page.locator(".rows-table tbody").textContent()).toBe(rows);
    await second.leave();
  });
}
