import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Language } from "../../../report-service/site/request-snippets.ts";
import { columns, tables } from "../../support/columns.ts";
import { openSite, type Site } from "./open-site.ts";
import { runnable, runSnippets } from "./run-snippet.ts";

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

describe("the reference", () => {
  it("has every table and column of the contract, with type and description", async () => {
    const { page, leave } = await site.open("/reference");
    await page.getByText(`166 columns in ${tables.length} tables`).waitFor();
    for (const table of tables) {
      const shown = await page
        .locator(`#${table} tbody tr`)
        .evaluateAll((trs) => trs.map((tr) => [...tr.children].map((cell) => cell.textContent ?? "")));
      expect(shown.map(([name]) => name)).toEqual(columns[table]?.map(({ name }) => name));
      for (const [, type, description] of shown) {
        expect(type).toMatch(/^(text|date|bigint|integer|boolean|character varying)$/);
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
    expect(await page.locator("[id='general.auditor_ein']").count()).toBe(1);
    expect(await page.locator("[id='general.auditee_name']").count()).toBe(0);
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

  it("describes the admin version to a Tribal key, and keeps the key nowhere", async () => {
    const { page, leave } = await site.open("/reference");
    await page.getByLabel("Version", { exact: true }).selectOption("admin_api_v1_1_0");
    await page.getByText("This needs an API key with Tribal access.").waitFor();
    await page.getByText("Your own").click();
    await page.getByLabel("Your key").fill(site.facts.keys.tribal);
    await page.getByRole("button", { name: "Ask again" }).click();
    await page.getByRole("heading", { name: /request_file_access/ }).waitFor();
    const kept = (await page.evaluate(
      "JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie, location.href])",
    )) as string;
    expect(kept).toContain("description");
    expect(kept).not.toContain(site.facts.keys.tribal);
    await leave();
  });

  it("asks the API once for what two pages need", async () => {
    const { page, leave } = await site.open("/reference");
    await page.getByText(`in ${tables.length} tables`).waitFor();
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.getByRole("link", { name: "Explorer", exact: true }).click();
    await page.getByLabel("Table", { exact: true }).waitFor();
    expect(asked.filter((url) => url.startsWith(site.facts.base_url))).toEqual([]);
    await leave();
  });

  it.each(runnable)("has an example of each table that works in %s", async (language) => {
    const { page, leave } = await site.open("/reference");
    await page.getByText(`in ${tables.length} tables`).waitFor();
    const names: Record<Language, string> = {
      curl: "curl",
      python: "Python",
      r: "R",
      typescript: "TypeScript",
    };
    await page.locator("#general summary").click();
    await page.locator("#general").getByRole("tab", { name: names[language], exact: true }).click();
    const snippets = await page.locator(".reference-table details pre").allTextContents();
    expect(snippets).toHaveLength(tables.length);
    const printed = await runSnippets(language, snippets);
    for (const [index, text] of snippets.entries()) {
      const url = /https?:[^"' ]+/.exec(text)?.[0] ?? "";
      const rows = await (await site.ask(url.slice(site.facts.base_url.length))).json();
      expect(rows.length).toBeGreaterThan(0);
      if (language === "r") expect(printed[index]).toContain(rows[0].report_id);
      else expect(JSON.parse(printed[index] ?? "")).toEqual(rows);
    }
    await leave();
  });

  it("leads to the explorer with the example filled in", async () => {
    const { page, leave } = await site.open("/reference#findings");
    await page.getByRole("link", { name: "Open findings in the explorer" }).click();
    await page.getByText("GET /findings?select=").waitFor();
    expect(await page.getByLabel("Table", { exact: true }).inputValue()).toBe("findings");
    expect(await page.getByLabel("Rows a page").inputValue()).toBe("5");
    await leave();
  });
});
