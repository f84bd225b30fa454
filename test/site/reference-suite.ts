import { beforeAll, describe, expect, it } from "vitest";
import { languages } from "../../site/request-snippets.ts";
import { columns } from "../support/columns.ts";
import type { Site } from "./open-site.ts";
import { runnable, runSnippets } from "./run-snippet.ts";

const tables = Object.keys(columns);

export function testReference(getSite: () => Site): void {
  let site: Site;
  beforeAll(() => {
    site = getSite();
  });

  describe("the reference", () => {
    it("has every table and column of the contract, with type and description", async () => {
      const { page, leave } = await site.open("/reference");
      await page.getByText(`180 columns in ${tables.length} tables`).waitFor();
      for (const table of tables) {
        const shown = await page
          .locator(`#${table} tbody tr`)
          .evaluateAll((trs) => trs.map((tr) => [...tr.children].map((cell) => cell.textContent ?? "")));
        expect(shown.map(([name]) => name)).toEqual(columns[table]?.map(({ name }) => name));
        for (const [, type, description] of shown) {
          expect(type).toMatch(/^(text|date|bigint|integer|boolean|character varying\(\d+\))$/);
          expect(description).toMatch(/\w{3}/);
        }
      }
      await leave();
    });

    it("finds columns by words, counts them, and shows nothing else", async () => {
      const { page, leave } = await site.open("/reference");
      const search = page.getByRole("searchbox", { name: "Search tables and columns" });
      await search.fill("auditor ein");
      await page.getByText(/^\d+ columns? in \d+ tables?$/).waitFor();
      expect(await page.locator("[id='general.auditor_ein']").isVisible()).toBe(true);
      expect(await page.locator("[id='general.auditee_name']").isVisible()).toBe(false);
      await search.fill("no such thing anywhere");
      await page.getByText("0 columns in 0 tables").waitFor();
      await leave();
    });

    it("tells what is announced of each version's end", async () => {
      const { page, leave } = await site.open("/reference");
      const row = page.getByRole("row", { name: /^api_v1_1_0/ });
      expect(await row.getByRole("cell").allTextContents()).toEqual([
        expect.stringContaining("2027-01-01"),
        "2027-06-30",
      ]);
      expect(await row.getByRole("link").getAttribute("href")).toBe("https://example.gov/moving");
      await leave();
    });

    it("describes the admin version too, to everybody", async () => {
      const { page, leave } = await site.open("/reference");
      await page.getByRole("heading", { name: /request_file_access/ }).waitFor();
      expect(await page.getByText("Needs an API key with Tribal access").count()).toBeGreaterThan(0);
      await leave();
    });

    it("says it all without JavaScript, and asks the API for nothing", async () => {
      const asked: string[] = [];
      for (const [target, javaScriptEnabled] of [
        ["/reference", false],
        ["/reference", true],
        ["/explorer", true],
      ] as const) {
        const { page, leave } = await site.open("about:blank", { javaScriptEnabled });
        page.on("request", (request) => asked.push(request.url()));
        await page.goto(site.facts.app_url + target);
        if (target === "/explorer") await page.getByLabel("Table", { exact: true }).waitFor();
        else expect(await page.locator("tbody tr[id]").count()).toBe(180);
        await leave();
      }
      expect(asked.filter((url) => url.startsWith(site.facts.base_url))).toEqual([]);
    });

    it("has an address for each column, which a link from elsewhere leads to", async () => {
      const { page, leave } = await site.open("/reference#findings.is_repeat_finding");
      const row = page.locator("[id='findings.is_repeat_finding']");
      expect(await row.evaluate((it) => it.getBoundingClientRect().top)).toBeLessThan(900);
      expect(await row.getByRole("link").getAttribute("href")).toBe("#findings.is_repeat_finding");
      await leave();
    });

    it.each(runnable)("has an example of each table that works in %s", async (language) => {
      const { page, leave } = await site.open("/reference");
      await page.getByLabel(languages[language], { exact: true }).check();
      for (const summary of await page.locator("summary").all()) await summary.click();
      const snippets = await page.locator("details pre:visible").allTextContents();
      expect(snippets).toHaveLength(tables.length);
      const printed = await runSnippets(language, snippets);
      for (const [index, text] of snippets.entries()) {
        const url = /https?:[^"' ]+/.exec(text)?.[0] ?? "";
        const rows = await (await site.ask(url.slice(site.facts.base_url.length))).json();
        expect(rows.length).toBeGreaterThan(0);
        if (language === "r") expect(printed[index]).toContain(rows[0].report_id ?? rows[0].audit_year);
        else expect(JSON.parse(printed[index] ?? "")).toEqual(rows);
      }
      await leave();
    });

    it("leads to the explorer with the example filled in", async () => {
      const { page, leave } = await site.open("/reference#findings");
      await page.getByRole("link", { name: "Open findings in the explorer" }).click();
      await page.getByText("GET /findings?select=").waitFor();
      expect(await page.locator("#table").inputValue()).toBe("findings");
      expect(await page.getByLabel("Rows a page").inputValue()).toBe("5");
      await leave();
    });
  });
}
