import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { columns, tables } from "../support/columns.ts";
import { plenty, type Site } from "./open-site.ts";

const clipboard = { permissions: ["clipboard-read", "clipboard-write"] };
const readClipboard = "navigator.clipboard.readText()";

/** The pages that the server writes, as people read and use them. */
export function testPages(getSite: () => Site): void {
  let site: Site;
  beforeAll(() => {
    site = getSite();
  });

  describe("the first page", () => {
    it("leads from a name to its rows", async () => {
      const [auditee] = await site.query<{ name: string; part: string }>(
        "select auditee_name as name, lower(split_part(auditee_name, ' ', 1)) as part from disclosed.general where auditee_name ~ '^\\w{5}' limit 1",
      );
      const { page, leave, watchEffort, checkAccessibility } = await site.open("/");
      await checkAccessibility();
      const effort = await watchEffort();
      await page.getByLabel("Auditee name, UEI, EIN, or report ID").fill(auditee?.part ?? "");
      await page.keyboard.press("Enter");
      await page
        .locator(".rows-table")
        .getByText(auditee?.name ?? "", { exact: true })
        .first()
        .waitFor();
      expect(effort()).toMatchObject({ clicks: 0, requests: 1 });
      await leave();
    });

    it("shows what is live, from when, how large it is, and when the next refresh is due", async () => {
      const { page, leave } = await site.open("/");
      const [dataSet] = await site.query<{ id: string; published_at: Date; newest: string }>(
        `select id, published_at, (select max(fac_accepted_date)::text from disclosed.general) as newest
         from publication.data_sets where state = 'live'`,
      );
      const live = page.getByRole("region", { name: "Current data" });
      expect(await live.textContent()).toContain(dataSet?.id);
      const [newest, published, due] = await live
        .locator("time")
        .evaluateAll((times) => times.map((time) => time.getAttribute("datetime")));
      expect([newest, published]).toEqual([dataSet?.newest, dataSet?.published_at.toISOString()]);
      expect(new Date(due ?? "").getTime()).toBeGreaterThan(Date.now());
      for (const table of tables) {
        const [counted] = await site.query<{ rows: string }>(
          `select to_char(count(*), 'FM999,999') as rows from disclosed.${table}`,
        );
        const row = live.getByRole("row").filter({ has: page.locator(`code:text-is("${table}")`) });
        expect(await row.getByRole("cell").last().textContent()).toBe(counted?.rows);
      }
      await leave();
    });

    it("has a first command that works as it is copied", async () => {
      const { page, leave } = await site.open("/", clipboard);
      await page.getByRole("button", { name: "Copy: Command that gets the three newest audits" }).click();
      await page.getByText("Copied.").waitFor();
      const command = (await page.evaluate(readClipboard)) as string;
      const rows = JSON.parse(execFileSync("/bin/sh", ["-c", command], { encoding: "utf8" }));
      expect(rows).toHaveLength(3);
      expect(Object.keys(rows[0])).toEqual(["report_id", "auditee_name", "audit_year"]);
      await leave();
    });

    it("has commands for a suppressed report that work one after the other", async () => {
      const { page, leave } = await site.open("/");
      const { keys, sample } = site.facts;
      const commands = (await page.locator(".steps pre").allTextContents())
        .join("\n")
        .replace("YOUR_KEY", keys.tribal)
        .replace("2023-06-GSAFAC-0000000001", sample.suppressed_report_id ?? "");
      const output = execFileSync("/bin/sh", ["-ec", commands], { cwd: site.directory, encoding: "utf8" });
      expect(output).toContain(sample.suppressed_report_id);
      expect(await readFile(path.join(site.directory, "report.pdf"), "latin1")).toMatch(/^%PDF-/);
      await leave();
    });

    it("says where to ask for keys, and shows the gateway's limits", async () => {
      const { page, leave } = await site.open("/");
      const keys = page.getByRole("region", { name: "Keys and limits" });
      const limit = `${plenty.toLocaleString("en-US")} requests an hour`;
      expect(await keys.getByRole("row", { name: /^Demonstration/ }).textContent()).toContain(limit);
      const { components } = await (await fetch(`${site.facts.app_url}/openapi.json`)).json();
      expect(components.securitySchemes.key.description).toContain(limit);
      expect(await keys.getByRole("link").first().getAttribute("href")).toBe("mailto:keys@example.gov");
      await leave();
    });
  });

  describe("the totals", () => {
    it.each([
      ["/totals", undefined],
      ["/totals?year=2022", "2022"],
    ])("of %s are those of the rows", async (target, year) => {
      const { page, leave } = await site.open(target, { javaScriptEnabled: false });
      for (const [id, column] of [
        ["year", "audit_year"],
        ["state", "auditee_state"],
        ["agency", "federal_agency_prefix"],
      ] as const) {
        const rows = await site.query<Record<string, string>>(
          `select coalesce(nullif(${column}, ''), 'not') as name, to_char(count(distinct report_id), 'FM999,999'),
             to_char(count(*), 'FM999,999') as awards, to_char(sum(amount_expended), 'FM$999,999,999,999') as amount
           from disclosed.general join disclosed.federal_awards using (report_id, audit_year)
           where $1 or audit_year = $2 group by 1`,
          [year === undefined || id === "year", year],
        );
        expect(rows.length).toBeGreaterThan(3);
        const shown = await page
          .locator(`#${id} tbody tr`)
          .evaluateAll((trs) =>
            trs.map((tr) => [...tr.children].slice(0, 4).map((cell) => cell.textContent?.split(" ")[0])),
          );
        expect(shown.sort()).toEqual(rows.map(Object.values).sort());
      }
      expect(await page.locator("#year .marked th").allTextContents()).toEqual(year ? [year] : []);
      await leave();
    });

    it("of a state for a year are two clicks away, sorted by the heading that is chosen, and lead to the rows", async () => {
      const [state] = await site.query<{ name: string; submissions: string }>(
        `select auditee_state as name, submissions from disclosed.totals_by_state
         where audit_year = '2023' and submissions between 2 and 20 order by submissions desc, 1 limit 1`,
      );
      const { page, leave, watchEffort } = await site.open("/");
      const effort = await watchEffort();
      await page.getByRole("link", { name: "Totals", exact: true }).click();
      await page.getByRole("navigation", { name: "Audit year" }).getByRole("link", { name: "2023" }).click();
      const states = page.getByRole("region", { name: "By state of the auditee, audit year 2023" });
      await states.waitFor();
      expect(effort()).toEqual({ clicks: 2, requests: 0 });
      await states.getByRole("link", { name: "Findings" }).click();
      await states.locator("[aria-sort=descending]").getByText("Findings").waitFor();
      const found = await states.locator("tbody td:nth-child(5)").allTextContents();
      const numbers = found.map((text) => Number(text.replaceAll(",", "")));
      expect(numbers).toEqual([...numbers].sort((one, other) => other - one));
      await states.getByRole("link", { name: state?.name ?? "", exact: true }).click();
      await expect.poll(() => page.locator(".rows-table tbody tr").count()).toBe(Number(state?.submissions));
      await leave();
    });
  });

  describe("the reference", () => {
    it("has every table and column of the contract, with label, type and description, without JavaScript", async () => {
      const { page, leave } = await site.open("/reference", { javaScriptEnabled: false });
      for (const [table, known] of Object.entries(columns)) {
        const shown = await page
          .locator(`[id="${table}"] tbody tr`)
          .evaluateAll((trs) =>
            trs.map((tr) => [tr.id, ...[...tr.children].map((cell) => cell.textContent ?? "")]),
          );
        expect(shown.map(([id]) => id)).toEqual(known.map(({ name }) => `${table}.${name}`));
        for (const [, label, type, description] of shown) {
          expect(label).toMatch(/^[A-Z].* [a-z0-9_]+$/s);
          expect(type).toMatch(/^(text|date|bigint|integer|boolean|character varying\(\d+\))$/);
          expect(description).toMatch(/\w{3}/);
        }
      }
      const row = page.getByRole("row", { name: /^api_v1_1_0/ });
      expect(await row.getByRole("cell").allTextContents()).toEqual([
        expect.stringContaining("2027-01-01"),
        "2027-06-30",
      ]);
      await page.getByRole("heading", { name: /request_file_access/ }).waitFor();
      await leave();
    });

    it.each([
      ["auditor ein", "general.auditor_ein"],
      ["repeated", "findings.is_repeat_finding"],
      ["CFDA", "federal_awards.federal_agency_prefix"],
      ["ALN", "federal_awards.federal_award_extension"],
      ["suppressed", "general.is_public"],
    ])("finds by %s the column %s, and hides others", async (words, column) => {
      const { page, leave } = await site.open("/reference");
      await page.getByRole("searchbox", { name: "Search tables and columns" }).fill(words);
      await page.getByText(/^\d+ columns? in \d+ tables?$/).waitFor();
      expect(await page.locator(`[id="${column}"]`).isVisible()).toBe(true);
      expect(await page.locator("[id='general.auditee_zip']").isVisible()).toBe(false);
      await leave();
    });

    it("has an address for each column, and an example of each table that works", async () => {
      const { page, leave } = await site.open("/reference#findings.is_repeat_finding");
      const row = page.locator("[id='findings.is_repeat_finding']");
      expect(await row.evaluate((it) => it.getBoundingClientRect().top)).toBeLessThan(900);
      const snippets = await page.locator("details pre").allTextContents();
      expect(snippets).toHaveLength(Object.keys(columns).length);
      for (const snippet of snippets) {
        const rows = JSON.parse(execFileSync("/bin/sh", ["-c", snippet], { encoding: "utf8" }));
        expect(rows.length).toBeGreaterThan(0);
      }
      await leave();
    });
  });

  it("every table is a file that is one click away, with a digest to copy", async () => {
    const { page, leave } = await site.open("/", clipboard);
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Files" }).click();
    const whole = page.getByRole("table", { name: "Files of whole tables" });
    const { files } = await (await fetch(`${site.facts.app_url}/public-data/manifest.json`)).json();
    for (const table of tables) {
      const link = whole.getByRole("link", { name: `${table}.csv.gz` });
      const address = site.facts.app_url + (await link.getAttribute("href"));
      expect((await fetch(address, { method: "HEAD" })).status).toBe(200);
    }
    await whole.getByRole("button", { name: "Copy SHA-256 of general.parquet" }).click();
    await page.getByText("Copied.").waitFor();
    const [general] = files.filter(({ name }: { name: string }) => name === "general.parquet");
    expect(await page.evaluate(readClipboard)).toBe(general.sha256);
    await leave();
  });
}
