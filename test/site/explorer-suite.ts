import { readFile } from "node:fs/promises";
import { beforeAll, expect, it } from "vitest";
import type { Site } from "./open-site.ts";

export function testExplorer(getSite: () => Site): void {
  let site: Site;
  beforeAll(() => {
    site = getSite();
  });

  it("builds a request, sends it, and shows the rows as a table, as JSON and as CSV", async () => {
    const { page, leave, takePicture } = await site.open("/explorer");
    await page.getByLabel("Table", { exact: true }).selectOption("federal_awards");
    await page.getByText("All columns", { exact: true }).first().click();
    for (const name of ["report_id", "award_reference", "amount_expended"]) {
      await page.getByRole("checkbox", { name, exact: true }).check();
    }
    await page.getByRole("button", { name: "Add a filter" }).click();
    await page.getByLabel("Column 1").selectOption("amount_expended");
    await page.getByLabel("Comparison 1").selectOption("gte");
    await page.getByLabel("Value 1").fill("1000");
    await page.getByRole("button", { name: "Add an order" }).click();
    await page.getByLabel("Order by 1").selectOption("amount_expended");
    await page.getByLabel("Direction 1").selectOption("desc.nullslast");
    await page.getByRole("button", { name: "Add an order" }).click();
    await page.getByLabel("Order by 2").selectOption("report_id");
    await page.getByLabel("Rows a page").fill("7");
    await page.getByLabel(/^Count all rows/).check();
    const asked =
      "/federal_awards?select=report_id,award_reference,amount_expended&amount_expended=gte.1000&order=amount_expended.desc.nullslast,report_id";
    const target = `${asked},award_reference&limit=7`;
    expect((await page.locator("#request-line").textContent())?.split("\n")).toEqual([
      `GET ${target}`,
      `host: ${new URL(site.facts.base_url).host}`,
      "accept-profile: api_v1_1_0",
      "prefer: count=exact",
      "x-api-key: DEMO_KEY",
    ]);

    await page.getByRole("button", { name: "Send the request" }).click();
    await page.getByText(/^Status 206 · rows 1–7 of [\d,]+ · \d+ ms · /).waitFor();
    expect(page.url()).toBe(`${site.facts.app_url}/explorer#api_v1_1_0${asked}&limit=7`);
    const rows = await (await site.ask(target)).json();
    const cells = await page
      .locator(".rows-table tbody tr")
      .evaluateAll((trs) => trs.map((tr) => [...tr.children].map((cell) => cell.textContent)));
    expect(cells).toEqual(
      rows.map((row: Record<string, unknown>, index: number) => [
        `Open row ${index + 1}: ${row.report_id}`,
        row.award_reference,
        Number(row.amount_expended).toLocaleString("en-US"),
      ]),
    );
    const amount = page.getByRole("cell").nth(1);
    expect(await amount.evaluate((it) => getComputedStyle(it).textAlign)).toBe("right");
    await takePicture("explorer-result");
    await page.getByRole("tab", { name: "JSON" }).click();
    expect(
      JSON.parse((await page.getByRole("group", { name: "Answer as JSON" }).textContent()) ?? ""),
    ).toEqual(rows);
    await page.getByRole("tab", { name: "Headers" }).click();
    for (const name of ["x-ratelimit-remaining-hour", "etag", "data-set", "content-range"]) {
      expect(await page.getByRole("row", { name: new RegExp(`^${name} `) }).count(), name).toBe(1);
    }
    await leave();
  });

  it("downloads all rows of a query, not the ones that are shown", async () => {
    const { page, leave } = await site.open("/explorer#api_v1_1_0/general?audit_year=gte.2020&limit=5");
    await page.getByText(/^Status 200 · rows 1–5/).waitFor();
    const [dataSet] = await site.query<{ id: string }>(
      "select id from publication.data_sets where state = 'live'",
    );
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download all rows" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`general-${dataSet?.id}.csv`);
    const csv = await (
      await site.ask("/general?audit_year=gte.2020&order=report_id", "DEMO_KEY", { accept: "text/csv" })
    ).text();
    expect((await readFile(await download.path(), "utf8")).trimEnd()).toBe(csv.trimEnd());
    const rows = await (await site.ask("/general?audit_year=gte.2020&select=report_id")).json();
    expect(rows.length).toBeGreaterThan(20);
    await page.getByText(`${rows.length} rows, 1 request. Saved as`).waitFor();
    await leave();
  });

  it("shows the chief columns at first, and all when asked", async () => {
    const { page, leave } = await site.open("/explorer#api_v1_1_0/general?limit=5");
    await page.getByText("9 of 64 columns are shown.").waitFor();
    expect(await page.getByRole("columnheader").count()).toBe(9);
    await page.getByRole("button", { name: "Show all 64 columns" }).click();
    expect(await page.getByRole("columnheader").count()).toBe(64);
    const place = page.getByRole("group", { name: "Rows" });
    const first = page.getByRole("rowheader").first();
    const { x: before } = (await first.boundingBox()) ?? { x: -1 };
    await place.evaluate((it) => it.scrollTo(4000, 0));
    expect((await first.boundingBox())?.x).toBeCloseTo(before, 0);
    await leave();
  });

  it("drops a key that someone put into a link", async () => {
    const { page, leave } = await site.open(
      "/explorer#api_v1_1_0/general?auditee_state=in.(%22CA%22,%22TX%22)&auditee_name=ilike.*city*&api_key=secret&order=report_id.desc&limit=3",
    );
    await page.getByText(/^Status 200/).waitFor();
    expect(await page.getByLabel("Value 1").inputValue()).toBe("CA\nTX");
    expect(await page.getByLabel("Value 2").inputValue()).toBe("city");
    expect(page.url()).not.toContain("secret");
    expect(await page.locator("body").textContent()).not.toContain("secret");
    await leave();
  });

  it("leaves the focus where something was taken away", async () => {
    const { page, leave } = await site.open("/explorer#api_v1_1_0/general?audit_year=eq.2023&limit=5");
    await page.getByText(/^Status 200/).waitFor();
    const readFocus = () => page.evaluate("document.activeElement.textContent") as Promise<string>;
    await page.getByRole("button", { name: "Remove filter 1" }).click();
    expect(await readFocus()).toBe("Add a filter");
    await page.getByText("All columns", { exact: true }).first().click();
    await page.getByRole("checkbox", { name: "report_id", exact: true }).check();
    await page.getByRole("button", { name: "All columns" }).click();
    expect(await readFocus()).toBe("All columns");
    await leave();
  });
}
