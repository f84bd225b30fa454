import { readFile } from "node:fs/promises";
import { beforeAll, expect, it } from "vitest";
import type { Site } from "./open-site.ts";

export function testTasks(getSite: () => Site): void {
  let site: Site;
  beforeAll(() => {
    site = getSite();
  });

  it("all 2023 audits of a city with material weaknesses become a CSV file in four clicks", async () => {
    const [city] = await site.query<{ name: string; reports: string }>(
      `select auditee_city as name, count(*) as reports from disclosed.general
       where audit_year = '2023' and is_internal_control_material_weakness_disclosed = 'Yes'
       group by 1 order by 2 desc, 1 limit 1`,
    );
    const { page, leave, watchEffort } = await site.open("/explorer");
    const effort = await watchEffort();
    const add = page.getByRole("button", { name: "Add a filter" });
    for (const [index, column, value] of [
      [1, "audit_year", "2023"],
      [2, "auditee_city", city?.name.toLowerCase()],
      [3, "is_internal_control_material_weakness_disclosed", "yes"],
    ] as const) {
      if (index > 1) await add.click();
      await page.getByLabel(`Column ${index}`).selectOption(column);
      await page.getByLabel(`Value ${index}`).fill(value ?? "");
    }
    await page.getByRole("button", { name: "Show the rows" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV", exact: true }).click(),
    ]);
    // The rows that are shown, and all of them.
    expect(effort()).toEqual({ clicks: 4, requests: 2 });
    const lines = (await readFile(await download.path(), "utf8")).match(
      /^20\d\d-\d\d-(GSAFAC|CENSUS)-\d+,/gm,
    );
    expect(lines).toHaveLength(Number(city?.reports));
    await leave();
  });

  it("an auditee is found by a part of its name, and its PDF is three clicks away", async () => {
    const [auditee] = await site.query<{ part: string }>(
      "select lower(split_part(auditee_name, ' ', 1)) as part from disclosed.general where auditee_name ~ '^\\w{5}' limit 1",
    );
    const { page, leave, watchEffort } = await site.open("/explorer");
    const effort = await watchEffort();
    await page.getByLabel("Value 1").click();
    await page.keyboard.type(auditee?.part ?? "");
    await page.keyboard.press("Enter");
    await page.getByRole("rowheader").first().getByRole("link").click();
    const link = page.getByRole("link", { name: "PDF of the report" });
    let address = "";
    // The storage, to which this redirects, serves no pages.
    await page.route("**/dissemination/report/pdf/20*", async (route) => {
      const answer = await route.fetch({ maxRedirects: 0 });
      address = answer.headers().location ?? "";
      await route.fulfill({ status: 204 });
    });
    await link.click();
    await expect.poll(() => address).not.toBe("");
    expect(await (await fetch(address)).text()).toMatch(/^%PDF-/);
    expect(effort()).toEqual({ clicks: 3, requests: 2 });
    await leave();
  });

  it("a shared link leads back to the same rows", async () => {
    const first = await site.open("/explorer", { permissions: ["clipboard-read", "clipboard-write"] });
    await first.page.getByLabel("Table", { exact: true }).selectOption("federal_awards");
    await first.page.getByLabel("Column 1").selectOption("federal_agency_prefix");
    await first.page.getByLabel("Value 1").fill("93");
    await first.page.getByRole("button", { name: "Show the rows" }).click();
    await first.page.getByText(/^Rows 1–100/).waitFor();
    await first.page.getByRole("button", { name: "Next" }).click();
    await first.page.getByText(/^Rows 101–/).waitFor();
    await first.page.getByRole("button", { name: "Copy link to these rows" }).click();
    await first.page.getByText("Copied.").waitFor();
    const link = (await first.page.evaluate("navigator.clipboard.readText()")) as string;
    const rows = await first.page.locator(".rows-table tbody").textContent();
    await first.leave();
    const second = await site.open("about:blank");
    const effort = await second.watchEffort();
    await second.page.goto(link);
    await second.page.getByText(/^Rows 101–/).waitFor();
    expect(effort()).toEqual({ clicks: 0, requests: 1 });
    expect(await second.page.locator(".rows-table tbody").textContent()).toBe(rows);
    await second.leave();
  });
}
