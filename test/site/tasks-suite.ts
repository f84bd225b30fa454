import { readFile } from "node:fs/promises";
import { beforeAll, expect, it } from "vitest";
import { tables } from "../support/columns.ts";
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

  it("total federal expenditures by state for 2023 are two clicks away", async () => {
    const { page, leave, watchEffort } = await site.open("/");
    const effort = await watchEffort();
    await page.getByRole("navigation", { name: "Audit year" }).getByRole("link", { name: "2023" }).click();
    const caption = "Federal dollars expended by the auditee’s state, audit year 2023";
    await page.getByRole("figure", { name: caption }).locator("summary").click();
    const rows = page.getByRole("table", { name: caption }).getByRole("row");
    const [counted] = await site.query<{ states: string }>(
      "select count(distinct nullif(auditee_state, '')) as states from disclosed.general where audit_year = '2023'",
    );
    expect(await rows.count()).toBeGreaterThanOrEqual(Number(counted?.states) + 1);
    expect(await rows.nth(1).isVisible()).toBe(true);
    expect(effort()).toEqual({ clicks: 2, requests: 0 });
    await leave();
  });

  it("an auditee is found by a part of its name, and its PDF is four clicks away", async () => {
    const [auditee] = await site.query<{ part: string }>(
      "select lower(split_part(auditee_name, ' ', 1)) as part from disclosed.general where auditee_name ~ '^\\w{5}' limit 1",
    );
    const { page, leave, watchEffort } = await site.open("/");
    const effort = await watchEffort();
    await page.getByRole("link", { name: "Try it in the browser" }).click();
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

  it("the newest data stands on the first page, and a key is one click away", async () => {
    const { page, leave, watchEffort } = await site.open("/");
    const effort = await watchEffort();
    await page.getByText("The three newest submissions. This command works as it is:").waitFor();
    await page
      .getByRole("navigation", { name: "On this page" })
      .getByRole("link", { name: "Keys and limits" })
      .click();
    const contact = page.getByRole("region", { name: "Keys and limits" }).getByRole("link").first();
    expect(await contact.getAttribute("href")).toBe("mailto:keys@example.gov");
    expect((await contact.boundingBox())?.y).toBeLessThan(900);
    expect(effort()).toEqual({ clicks: 1, requests: 0 });
    await leave();
  });

  it("everything is one click away", async () => {
    const { page, leave, watchEffort } = await site.open("/");
    const effort = await watchEffort();
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Files" }).click();
    const whole = page.getByRole("table", { name: "Files of whole tables" });
    await whole.waitFor();
    expect(effort()).toEqual({ clicks: 1, requests: 0 });
    for (const table of tables) {
      const link = whole.getByRole("link", { name: `${table}.csv.gz` });
      const { status } = await fetch(site.facts.app_url + (await link.getAttribute("href")), {
        method: "HEAD",
      });
      expect(status).toBe(200);
    }
    await leave();
  });

  it("the column that says a finding is repeated is found by that word, with how to ask in Python, in two clicks", async () => {
    const { page, leave, watchEffort } = await site.open("/reference");
    const effort = await watchEffort();
    await page.getByLabel("Search tables and columns").fill("repeated");
    await page.locator("[id='findings.is_repeat_finding']").waitFor();
    expect(await page.locator("[id='general.auditee_name']").isVisible()).toBe(false);
    await page.getByText("Python", { exact: true }).first().click();
    await page.locator("#findings summary").click();
    expect(await page.locator("#findings pre:visible").textContent()).toContain("import urllib.request");
    expect(effort()).toEqual({ clicks: 2, requests: 0 });
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
