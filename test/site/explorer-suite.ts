import { readFile } from "node:fs/promises";
import { beforeAll, expect, it } from "vitest";
import type { Site } from "./open-site.ts";

/** The main way through the explorer: a question, its rows, a row, its PDF, a file. */
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
      .getByText(new RegExp(`^Rows 1–\\d+ of ${state?.reports} · [\\d,]+ requests of 100,000 left until `))
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

  it("saves all rows as a spreadsheet with a byte-order mark, named after table and filter", async () => {
    const { page, leave } = await site.open("/explorer#api_v1_1_0/findings?is_material_weakness=eq.Y");
    await page.getByText(/^Rows 1–/).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV for spreadsheets" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("findings-is_material_weakness-Y.csv");
    const target = "/findings?is_material_weakness=eq.Y&order=report_id,award_reference,reference_number";
    const expected = await (await site.ask(target, "DEMO_KEY", { accept: "text/csv" })).text();
    const saved = await readFile(await download.path(), "utf8");
    expect(saved.trimEnd()).toBe(`\ufeff${expected.trimEnd()}`);
    await leave();
  });
}
