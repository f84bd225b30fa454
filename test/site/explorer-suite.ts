import { readFile } from "node:fs/promises";
import { beforeAll, expect, it } from "vitest";
import { adaptForSpreadsheets } from "../../site/browser/spreadsheet-csv.ts";
import type { Site } from "./open-site.ts";

/** The main way through the explorer: a question, its rows, a row, its PDF, a file, a link. */
export function testExplorer(getSite: () => Site): void {
  let site: Site;
  beforeAll(() => {
    site = getSite();
  });

  it("answers a question, sorts the rows, and leads from a row to its PDF", async () => {
    const [state] = await site.query<{ name: string; reports: string; largest: string; auditee: string }>(
      `select auditee_state as name, count(*) as reports,
         (array_agg(total_amount_expended order by total_amount_expended desc nulls last))[1] as largest,
         (array_agg(auditee_name order by total_amount_expended desc nulls last))[1] as auditee
       from disclosed.general where auditee_state <> '' group by 1 order by 2 desc, 1 limit 1`,
    );
    const { page, leave, checkAccessibility, takePicture, watchEffort } = await site.open("/explorer");
    const effort = await watchEffort();
    await page.getByLabel("Column 1").selectOption("auditee_state");
    await page.getByLabel("Value 1").fill(` ${state?.name.toLowerCase()}`);
    await page.keyboard.press("Enter");
    await page
      .getByText(new RegExp(`^Rows 1–\\d+ of ${state?.reports} · [\\d,]+ requests of 1,000 left until `))
      .waitFor();
    expect(await page.evaluate("document.activeElement.id")).toBe("result");
    await page.getByRole("columnheader", { name: "total_amount_expended" }).getByRole("button").click();
    await page
      .getByRole("columnheader", { name: "total_amount_expended" })
      .and(page.locator("[aria-sort=descending]"))
      .waitFor();
    const dollars = `$${Number(state?.largest).toLocaleString("en-US")}`;
    await page.getByRole("cell", { name: dollars, exact: true }).first().waitFor();
    await checkAccessibility();
    await takePicture("explorer-rows", false);
    await page.getByRole("rowheader").first().getByRole("link").click();
    await page.getByRole("heading", { name: state?.auditee ?? "", exact: true }).waitFor();
    expect(await page.title()).toBe(`${state?.auditee} – Single Audit API`);
    // The rows, the sorted rows, and the row with the counts of what belongs to it.
    expect(effort()).toEqual({ clicks: 2, requests: 3 });
    const pdf = await page.getByRole("link", { name: "PDF of the report" }).getAttribute("href");
    expect((await (await fetch(site.facts.app_url + pdf)).text()).slice(0, 5)).toBe("%PDF-");
    await checkAccessibility();
    await takePicture("explorer-row");
    await page.goBack();
    await page.getByRole("cell", { name: dollars, exact: true }).first().waitFor();
    // The rows that were shown before cost no request.
    expect(effort().requests).toBe(3);
    await leave();
  });

  it("saves all rows that match three filters as a spreadsheet, in three clicks", async () => {
    const [city] = await site.query<{ name: string }>(
      `select auditee_city as name from disclosed.general
       where audit_year = '2023' and is_internal_control_material_weakness_disclosed = 'Yes'
       group by 1 order by count(*) desc, 1 limit 1`,
    );
    const { page, leave, watchEffort } = await site.open("/explorer");
    const effort = await watchEffort();
    for (const [index, column, value] of [
      [1, "audit_year", "2023"],
      [2, "auditee_city", city?.name.toLowerCase()],
      [3, "is_internal_control_material_weakness_disclosed", "yes"],
    ] as const) {
      if (index > 1) await page.getByRole("button", { name: "Add a filter" }).click();
      await page.getByLabel(`Column ${index}`).selectOption(column);
      await page.getByLabel(`Value ${index}`).fill(value ?? "");
    }
    await page.keyboard.press("Enter");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV for spreadsheets" }).click(),
    ]);
    // The rows that are shown, and all of them.
    expect(effort()).toEqual({ clicks: 3, requests: 2 });
    expect(download.suggestedFilename()).toMatch(
      /^general-audit_year-2023-auditee_city-.+-is_internal_control_material_weakness_disclosed-Yes\.csv$/,
    );
    const target = `/general?audit_year=eq.2023&auditee_city=ilike.*${city?.name}*&is_internal_control_material_weakness_disclosed=eq.Yes&order=report_id`;
    const expected = await (await site.ask(target, "DEMO_KEY", { accept: "text/csv" })).text();
    const saved = await readFile(await download.path(), "utf8");
    expect(saved.trimEnd()).toBe(`\ufeff${adaptForSpreadsheets(expected).trimEnd()}`);
    await leave();
  });

  it("leads a shared link back to the same rows", async () => {
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
