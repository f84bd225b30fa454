import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { parse } from "csv-parse/sync";
import type { Locator } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readDefinition } from "../../scripts/refresh/read-definition.ts";
import type { VersionDescription } from "../../site/api-description.ts";
import { readAddress, writeRequest } from "../../site/browser/outcome.ts";
import { adaptForSpreadsheets } from "../../site/spreadsheet-csv.ts";
import { columns, tables } from "../support/columns.ts";
import { openSite, plenty, type Site } from "./open-site.ts";

// What visitors see and do in a browser. The file has its own stack.

let site: Site;
beforeAll(async () => {
  site = await openSite();
  // Some awards have a malformed number, or none.
  await site.query(
    `update disclosed.federal_awards set
       federal_agency_prefix = (array['93', '', null, '9.3', 'X'])[1 + ascii(right(report_id, 1)) % 5],
       federal_award_extension = (array['N/A', '', null])[1 + ascii(right(award_reference, 1)) % 3]
     where audit_year = '2023' and report_id in (select report_id from disclosed.findings order by 1 desc limit 9)`,
  );
  const totals = (await readDefinition("totals.sql"))
    .replaceAll("disclosed_next.", "disclosed.")
    .replaceAll(/create table (\S+) as/g, "truncate $1; insert into $1")
    .replace(/^select data_set\.complete_table.*$/m, "");
  await site.query(`create schema staging; ${totals} drop schema staging cascade`);
});
afterAll(() => site.close());

const clipboard = { permissions: ["clipboard-read", "clipboard-write"] };
const readClipboard = "navigator.clipboard.readText()";
const runShell = (command: string) =>
  execFileSync("/bin/sh", ["-ec", command], { cwd: site.directory, encoding: "utf8" });

// Chromium crashes about once in a thousand visits. Only the test in which it crashed is retried, with a new browser.
const again = { retry: { count: 1, condition: /browser has been closed|Target crashed/ } };

describe("a list of subrecipients", again, () => {
  it("is pasted and checked without JavaScript, on a phone, and leads to its CSV file, feed and reports", async () => {
    const rows = await site.query(
      `select auditee_uei as uei, max(auditee_name) as name from disclosed.general
       where auditee_uei ~ '^[A-Z0-9]{12}$' group by 1 having count(distinct auditee_name) = 1 order by count(*) desc, 1 limit 5`,
    );
    const { page } = await site.open("/check", {
      javaScriptEnabled: false,
      viewport: { width: 320, height: 700 },
    });
    const typed = `${rows.map(({ uei }) => uei).join("\t")}\nZZZZZZZZ1234\nnonsense`;
    await page.getByLabel("UEIs, EINs or report IDs").fill(typed);
    await page.getByLabel("Program (ALN) or agency").fill("93");
    await page.getByRole("button", { name: "Check" }).click();
    const list = page.getByRole("group", { name: "The list" });
    const names = await list.getByRole("rowheader").allTextContents();
    expect(names).toHaveLength(6);
    for (const [place, { name }] of rows.entries()) expect(names[place]).toContain(name);
    await list.getByText("no public report").waitFor();
    await page.getByText("Words that are not IDs (1): “nonsense”").waitFor();
    const {
      page: opened,
      checkAccessibility,
      checkFit,
    } = await site.open(page.url(), {
      viewport: { width: 320, height: 700 },
    });
    await checkAccessibility();
    await checkFit();
    const [download] = await Promise.all([
      opened.waitForEvent("download"),
      opened.getByRole("link", { name: "CSV for spreadsheets" }).first().click(),
    ]);
    const saved: Record<string, string>[] = parse(await readFile(await download.path()), {
      columns: true,
      bom: true,
    });
    expect(saved.map(({ answer }) => answer)).toEqual([...rows.map(() => "filed"), "no public report"]);
    await opened.getByRole("link", { name: /^What changed for these auditees after / }).click();
    await opened.getByRole("heading", { name: /^Changes to reports in a list of 6 IDs, after / }).waitFor();
    await checkAccessibility();
    await checkFit();
  });

  it.each(["/check", "/changes?state=TX", "/search?q=county&findings=1", "/search?q=atlantis"])(
    "and pages around it fit on a phone, and everybody can use them: %s",
    async (target) => {
      const { checkAccessibility, checkFit } = await site.open(target, {
        viewport: { width: 320, height: 700 },
      });
      await checkAccessibility();
      await checkFit();
    },
  );
});

it.each(["light", "dark"] as const)(
  "examples in empty fields can be read in %s colors",
  again,
  async (colorScheme) => {
    const { page } = await site.open("/check", { colorScheme });
    const luminances = (await page.getByLabel("Program (ALN) or agency").evaluate((field) => {
      const style = getComputedStyle(field, "::placeholder");
      const measure = (color: string) => {
        const [red = 0, green = 0, blue = 0] = (color.match(/[\d.]+/g) ?? []).map((part) => {
          const share = Number(part) / 255;
          return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
      };
      return [measure(style.color), measure(getComputedStyle(field).backgroundColor), Number(style.opacity)];
    })) as [number, number, number];
    const [text, ground, opacity] = luminances;
    const contrast = (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05);
    expect([contrast >= 4.5, opacity]).toEqual([true, 1]);
  },
);

it("a phone has room for the longest words of headings", again, async () => {
  const { page, checkLines } = await site.open("/auditee/ZZZZZZZZ1234", {
    viewport: { width: 320, height: 700 },
  });
  for (const heading of ["h1", "h2"]) {
    await page.evaluate(
      `document.querySelector("main").innerHTML = '<div class="wrap"><${heading}>INTERGOVERNMENTAL</${heading}></div>'`,
    );
    await checkLines();
  }
});

describe("the rows of a page", () => {
  it.each<[page: string, table: string, key: string[]]>([
    ["/findings?state=STATE", "finding_summaries", ["report_id", "reference_number", "alns"]],
    ["/findings?program=93.778&direct=Y", "findings", ["report_id", "reference_number"]],
    ["/findings?repeat=Y&year=2023", "finding_summaries", ["report_id", "reference_number"]],
    ["/findings?requirement=C,L", "finding_summaries", ["report_id", "reference_number"]],
    ["/findings?requirement=C,L&program=93&year=2022,2023", "findings", ["report_id", "reference_number"]],
    [
      "/findings?state=STATE,TX,OK&entity_type=local,state&year=2022,2023",
      "finding_summaries",
      ["report_id"],
    ],
    ["/findings?program=93.778*", "finding_summaries", ["report_id", "reference_number"]],
    ["/findings?program=93.778*&direct=Y", "findings", ["report_id", "reference_number"]],
    ["/totals/programs?agency=93", "totals_by_program", ["aln", "federal_program_name"]],
    ["/auditee/AUDITEE", "general", ["report_id", "auditee_name", "auditee_ein"]],
    ["/check?u=AUDITEE", "general", ["report_id", "fac_accepted_date"]],
    ["/search?q=STATE", "general", ["report_id", "auditee_city"]],
    ["/search?q=STATE&findings=1", "general", ["report_id"]],
    ["/program/93.778", "totals_by_program", ["audit_year", "amount_expended", "findings"]],
    [
      "/program/93.778?state=CA",
      "totals_by_program_and_state",
      ["audit_year", "amount_expended", "findings"],
    ],
    ["/totals?year=2023", "totals_by_state", ["auditee_state", "submissions", "amount_expended"]],
    ["/totals?year=2023", "totals_by_agency", ["federal_agency_prefix", "awards", "findings"]],
    ["/totals?year=2023", "totals_by_program", ["aln", "federal_program_name", "awards"]],
  ])("%s are the same in its CSV file and in its request to the API for %s", async (address, table, key) => {
    const [found] = await site.query(
      `select auditee_uei, auditee_state from disclosed.finding_summaries where auditee_uei <> 'GSA_MIGRATION'
       group by 1, 2 order by count(*) desc, 1 limit 1`,
    );
    const target = address
      .replace("STATE", found?.auditee_state ?? "")
      .replace("AUDITEE", found?.auditee_uei ?? "");
    const written = (await (await fetch(site.facts.app_url + target)).text())
      .replaceAll("&amp;", "&")
      .replaceAll("&#39;", "'");
    const listed = written.slice(written.indexOf('class="extract"')).split("<li>");
    const request = listed.find((each) => each.includes(`${site.facts.base_url}/${table}?`)) ?? "";
    const [, asked = ""] = new RegExp(`${site.facts.base_url}(/${table}\\?[^']*)'`).exec(request) ?? [];
    const csv = [request, ...listed].join("").match(/href="([^"]*\.csv[^"]*)"/)?.[1] ?? "";
    const rows = await (await site.ask(asked.replace(/limit=\d+/, "limit=20000"))).json();
    const saved: Record<string, string>[] = parse(await (await fetch(site.facts.app_url + csv)).text(), {
      columns: true,
      bom: true,
      relax_quotes: true,
    });
    // A row of findings is a finding on one award.
    const listKeys = (all: Record<string, unknown>[]) => [
      ...new Set(all.map((row) => key.map((name) => [row[name] ?? ""].flat().join("; ")).join("\t")).sort()),
    ];
    const readCodes = (row: Record<string, string>) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          value.replace(/^="(.*)"$/, "$1").replace(/^'/, ""),
        ]),
      );
    expect(rows.length).toBeGreaterThan(0);
    expect(listKeys(saved.map(readCodes))).toEqual(listKeys(rows));
  });
});

describe("the home page", again, () => {
  it("finds an auditee by words of its name, and leads to the rows in the explorer", async () => {
    const [auditee] = await site.query(
      `select auditee_name as name, count(*) as reports from disclosed.general
       where auditee_name ~ '^\\w{5,} \\w+$' group by 1 order by 2 desc, 1 limit 1`,
    );
    const { page, checkAccessibility } = await site.open("/");
    await checkAccessibility();
    await page
      .getByRole("searchbox")
      .last()
      .fill((auditee?.name ?? "").toLowerCase().split(" ").reverse().join(" "));
    await page.keyboard.press("Enter");
    const found = page
      .getByRole("group", { name: "Reports", exact: true })
      .getByText(auditee?.name ?? "", { exact: true });
    await found.first().waitFor();
    expect(await found.count()).toBeGreaterThanOrEqual(Number(auditee?.reports));
    const all = page.getByRole("listitem").filter({ hasText: "All of these reports" });
    await all.getByRole("link", { name: "explorer" }).click();
    await page
      .locator(".rows-table")
      .getByText(auditee?.name ?? "", { exact: true })
      .first()
      .waitFor();
    await page.goBack();
    await found.first().click();
    await page
      .getByRole("heading", { name: auditee?.name ?? "" })
      .first()
      .waitFor();
  });

  it.each(["/", "/totals", "/explorer", "/reference", "/search", "/no-such-page"])(
    "and every other page searches without JavaScript: %s",
    async (target) => {
      const { page } = await site.open(target, { javaScriptEnabled: false });
      await page.getByRole("search", { name: "Search reports" }).getByRole("searchbox").fill("anasco");
      await page.keyboard.press("Enter");
      await page
        .getByRole("group", { name: "Reports", exact: true })
        .getByText(/Añasco/)
        .first()
        .waitFor();
      expect(await page.getByRole("searchbox").inputValue()).toBe("anasco");
    },
  );

  it("shows the live data set's dates and row counts, and when the next refresh is due", async () => {
    const { page } = await site.open("/");
    const [dataSet] = await site.query<{ published_at: Date; newest: string }>(
      `select published_at, (select max(fac_accepted_date)::text from disclosed.general) as newest
       from publication.data_sets where state = 'live'`,
    );
    const live = page.getByRole("region", { name: "Current data" });
    const times = await live.locator("time").all();
    const [newest, published, due] = await Promise.all(times.map((time) => time.getAttribute("datetime")));
    expect([newest, published]).toEqual([dataSet?.newest, dataSet?.published_at.toISOString()]);
    expect(new Date(due ?? "").getTime()).toBeGreaterThan(Date.now());
    for (const table of tables) {
      const [counted] = await site.query(`select count(*) as rows from disclosed.${table}`);
      const row = live.getByRole("row").filter({ has: page.locator(`code:text-is("${table}")`) });
      expect(await row.getByRole("cell").last().textContent()).toBe(
        Number(counted?.rows).toLocaleString("en-US"),
      );
    }
  });

  it("has commands that work if they are copied and run in order", async () => {
    const { page } = await site.open("/", clipboard);
    await page.getByRole("button", { name: "Copy: Command that gets the three newest reports" }).click();
    await page.getByText("Copied.").waitFor();
    const rows = JSON.parse(runShell((await page.evaluate(readClipboard)) as string));
    expect(rows).toHaveLength(3);
    expect(Object.keys(rows[0])).toEqual(["report_id", "auditee_name", "audit_year"]);
    const { keys, sample } = site.facts;
    const steps = (await page.locator(".steps pre").allTextContents())
      .join("\n")
      .replace("YOUR_KEY", keys.tribal)
      .replace("YOUR_REPORT_ID", sample.suppressed_report_id ?? "");
    expect(runShell(steps)).toContain(sample.suppressed_report_id);
    expect(await readFile(path.join(site.directory, "report.pdf"), "latin1")).toMatch(/^%PDF-/);
  });

  it("says where to request a key, and shows the gateway's rate limits", async () => {
    const { page } = await site.open("/");
    const keys = page.getByRole("region", { name: "Keys and limits" });
    const limit = `${plenty.toLocaleString("en-US")} requests an hour`;
    expect(await keys.getByRole("row", { name: /^Demonstration/ }).textContent()).toContain(limit);
    const { components } = await (await fetch(`${site.facts.app_url}/openapi.json`)).json();
    expect(components.securitySchemes.key.description).toContain(limit);
    expect(await keys.getByRole("link").first().getAttribute("href")).toBe("mailto:keys@example.gov");
  });
});

describe("the totals", again, () => {
  it.each([
    ["/totals", undefined],
    ["/totals?year=2022", "2022"],
  ])("of %s match the rows", async (target, year) => {
    const { page } = await site.open(target, { javaScriptEnabled: false });
    const parts = { year: "audit_year", state: "auditee_state", agency: "federal_agency_prefix" };
    for (const [id, column] of Object.entries(parts)) {
      const rows = await site.query(
        `select coalesce(nullif(${column}, ''), 'not') as name, to_char(count(distinct report_id), 'FM999,999'),
           to_char(count(*), 'FM999,999') as awards, to_char(sum(amount_expended), 'FM$999,999,999,999') as amount
         from disclosed.general join disclosed.federal_awards using (report_id, audit_year)
         where $1 or audit_year = $2 group by 1`,
        [year === undefined || id === "year", year],
      );
      expect(rows.length).toBeGreaterThan(3);
      const read = page.locator(`#${id} tbody tr`);
      const shown = await read.evaluateAll((trs) =>
        trs.map((tr) =>
          [...tr.children].slice(0, 4).map(({ textContent: text }) => {
            // The code of a state comes after its name.
            return /\((\w\w)\)$/.exec(text.trim())?.[1] ?? text.split(" ")[0];
          }),
        ),
      );
      expect(shown.sort()).toEqual(rows.map(Object.values).sort());
    }
    expect(await page.locator("#year .marked th").allTextContents()).toEqual(year ? [year] : []);
  });

  const readLinks = (rows: Locator) =>
    rows.evaluateAll((trs) =>
      trs
        .flatMap((row) => [...row.querySelectorAll("td:has(a)")])
        .map((cell) => ({
          text: cell.textContent.trim(),
          column: cell.getAttribute("data-label") ?? "",
          href: cell.querySelector("a")?.getAttribute("href") ?? "",
        })),
    );

  /** Requests the rows that each number links to, and counts them. */
  async function expectToCount(links: Awaited<ReturnType<typeof readLinks>>) {
    const explorer = await (await fetch(`${site.facts.app_url}/explorer`)).text();
    const [description = ""] = /\/assets\/api-\w+\.json/.exec(explorer) ?? [];
    const versions = (await (await fetch(site.facts.app_url + description)).json()) as VersionDescription[];
    for (const { text, href, column } of links) {
      const asked = readAddress(href.replace("/explorer", ""));
      const { target } = writeRequest(versions, asked ?? expect.fail(href));
      const rows = await (await site.ask(target.replace(/limit=\d+/, "limit=20000"))).json();
      const distinct = (...names: string[]) =>
        new Set(rows.map((row: Record<string, string>) => names.map((name) => row[name]).join(" "))).size;
      const counted: Record<string, () => number> = {
        Reports: () => distinct("report_id"),
        Awards: () => rows.length,
        "Amount expended": () =>
          rows.reduce((sum: number, row: { amount_expended: number }) => sum + row.amount_expended, 0),
        Findings: () => distinct("report_id", "reference_number"),
        "Material weaknesses": () => distinct("report_id", "reference_number"),
      };
      expect([target, counted[column]?.()]).toEqual([target, Number(text.replaceAll(/[$,]/g, ""))]);
    }
  }

  it("link each number to the page of its reports or findings, or to rows for programs without a number", async () => {
    const { page } = await site.open("/totals?year=2023", { javaScriptEnabled: false });
    // The first rows of each table, and those of malformed numbers.
    const rows = page.locator("tbody tr");
    const links = await readLinks(
      page.locator("tbody tr:nth-child(-n+2)").or(rows.filter({ hasText: /^(not stated|X|9[.]3)/ })),
    );
    expect(links.length).toBeGreaterThan(30);
    const isPage = ({ href }: (typeof links)[number]) => !href.startsWith("/explorer");
    await expectToCount(links.filter((link) => !isPage(link)));
    // A client may open 60 searches a minute.
    const counts = links
      .filter((link) => isPage(link) && !/Awards|Amount/.test(link.column))
      .filter((_, index) => index % 2 === 0);
    expect(new Set(counts.map(({ href }) => href.split("?")[0]))).toEqual(new Set(["/search", "/findings"]));
    for (const { text, href } of counts) {
      const shown = await (await fetch(site.facts.app_url + href)).text();
      const [, total] = /role="status">([\d,]+)/.exec(shown) ?? [];
      expect([href, total]).toEqual([href, text]);
    }
  });

  it("are linked in the same way in the explorer, whose programs lead to their pages", async () => {
    const target = "totals_by_program?audit_year=eq.2023&aln=like.93.*&order=findings.desc&limit=3";
    const { page } = await site.open(`/explorer#api_v1_1_0/${target}`);
    const rows = page.locator(".rows-table tbody tr");
    await expect.poll(() => rows.count()).toBe(3);
    const links = await readLinks(rows);
    const isProgram = ({ column }: (typeof links)[number]) => column === "Program (ALN)";
    const [pages, numbers] = [links.filter(isProgram), links.filter((each) => !isProgram(each))];
    expect(numbers.length).toBeGreaterThan(8);
    await expectToCount(numbers);
    expect(pages.map(({ href }) => href)).toEqual(pages.map(({ text }) => `/program/${text}`));
    const [aln = ""] = pages.map(({ text }) => text);
    await rows.first().getByRole("link", { name: aln }).click();
    await page.waitForURL(`${site.facts.app_url}/program/${aln}`);
    await page.goto(`${site.facts.app_url}/totals?year=2023`);
    await page
      .locator("#program")
      .getByRole("link", { name: new RegExp(`^${aln} `) })
      .click();
    await page.waitForURL(`${site.facts.app_url}/program/${aln}`);
  });

  it("of programs are on several pages, the largest first", async () => {
    const { page } = await site.open("/totals?sort=findings", { javaScriptEnabled: false });
    const [counted] = await site.query(
      "select count(distinct aln) as programs from disclosed.totals_by_program",
    );
    const seen: string[] = [];
    const numbers: number[] = [];
    for (let isLast = false; !isLast; ) {
      const rows = page.locator("#program tbody tr");
      seen.push(...(await rows.locator("th").allTextContents()));
      numbers.push(...(await rows.locator("td:nth-child(4)").allTextContents()).map(Number));
      const next = page
        .getByRole("navigation", { name: "More programs" })
        .getByRole("link", { name: "Next" });
      isLast = (await next.count()) === 0;
      if (!isLast) await next.click();
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((name) => name !== "not stated")).toHaveLength(Number(counted?.programs));
    expect(seen.length).toBeGreaterThan(50);
    expect(numbers).toEqual(numbers.toSorted((one, other) => other - one));
  });

  it("of a year can be sorted by a column, and link to the rows of a state", async () => {
    const [state] = await site.query(
      `select auditee_state as name, submissions from disclosed.totals_by_state
       where audit_year = '2023' and submissions between 2 and 20 order by submissions desc, 1 limit 1`,
    );
    const { page } = await site.open("/totals?year=2023");
    const states = page.getByRole("region", { name: "By state of the auditee, audit year 2023" });
    await states.getByRole("link", { name: "Findings" }).click();
    await page.waitForURL(/#state$/);
    await states.locator("[aria-sort=descending]").getByText("Findings").waitFor();
    const found = await states.locator("tbody td:nth-child(5)").allTextContents();
    const numbers = found.map((text) => Number(text.replaceAll(",", "")));
    expect(numbers).toEqual([...numbers].sort((one, other) => other - one));
    const row = states.getByRole("row", { name: new RegExp(`\\(${state?.name}\\) `) });
    await row
      .getByRole("link", { name: String(state?.submissions), exact: true })
      .first()
      .click();
    await page.waitForURL(/\/search\?year=2023&state=\w\w$/);
    await page.getByRole("status").getByText(`${state?.submissions} reports`).waitFor();
  });
});

describe("the reference", again, () => {
  it("has an anchor, label, type and description for every column, without JavaScript", async () => {
    const { page } = await site.open("/reference#findings.is_repeat_finding", { javaScriptEnabled: false });
    const target = page.locator("[id='findings.is_repeat_finding']");
    expect((await target.boundingBox())?.y).toBeLessThan(900);
    for (const [table, known] of Object.entries(columns)) {
      const rows = page.locator(`[id="${table}"] tbody tr`);
      const shown = await rows.evaluateAll((trs) =>
        trs.map((tr) => [tr.id, ...Array.from(tr.children, (cell) => cell.textContent ?? "")]),
      );
      expect(shown.map(([id]) => id)).toEqual(known.map(({ name }) => `${table}.${name}`));
      for (const [, label, type, description] of shown) {
        expect(label).toMatch(/^[A-Z].* [a-z0-9_]+$/s);
        expect(type).toMatch(/^(text|date|number|boolean)$/);
        expect(description).toMatch(/\w{3}/);
      }
    }
    expect(await page.locator("main").textContent()).not.toContain("`");
    const row = page.getByRole("row", { name: /^api_v1_1_0/ });
    const [deprecated, sunset] = await row.getByRole("cell").allTextContents();
    expect([deprecated, sunset]).toEqual([expect.stringContaining("2027-01-01"), "2027-06-30"]);
    await page.getByRole("heading", { name: /request_file_access/ }).waitFor();
  });

  it.each([
    ["auditor ein", "general.auditor_ein"],
    ["repeated", "findings.is_repeat_finding"],
    ["CFDA", "federal_awards.federal_agency_prefix"],
    ["ALN", "federal_awards.federal_award_extension"],
    ["suppressed", "general.is_public"],
  ])("searched for %s shows the column %s and hides others", async (words, column) => {
    const { page } = await site.open("/reference");
    await page.getByRole("searchbox", { name: "Search tables and columns" }).fill(words);
    await page.getByText(/^\d+ columns? in \d+ tables?$/).waitFor();
    expect(await page.locator(`[id="${column}"]`).isVisible()).toBe(true);
    expect(await page.locator("[id='general.auditee_zip']").isVisible()).toBe(false);
  });
});

it("every table can be downloaded as a file, with a SHA-256 to copy", again, async () => {
  const { page } = await site.open("/files", clipboard);
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
});

describe("the explorer", again, () => {
  it("filters and sorts rows, and leads from a row to its PDF", async () => {
    const [state] = await site.query(
      `select auditee_state as name, count(*) as reports,
         (array_agg(total_amount_expended order by total_amount_expended desc nulls last))[1] as largest,
         (array_agg(auditee_name order by total_amount_expended desc nulls last))[1] as auditee
       from disclosed.general where auditee_state <> '' group by 1 order by 2 desc, 1 limit 1`,
    );
    const { page, checkAccessibility, countRequests } = await site.open("/explorer");
    await page.getByLabel("Column 1").selectOption("auditee_state");
    await page.getByLabel("Value 1").fill(` ${state?.name?.toLowerCase()}`);
    await page.keyboard.press("Enter");
    await page
      .getByText(new RegExp(`^Rows 1–\\d+ of ${state?.reports} · [\\d,]+ requests of 1,000 left until `))
      .waitFor();
    expect(await page.evaluate("document.activeElement.id")).toBe("result");
    const heading = page.getByRole("columnheader", { name: "total_amount_expended" });
    await heading.getByRole("button").click();
    await heading.and(page.locator("[aria-sort=descending]")).waitFor();
    const dollars = `$${Number(state?.largest).toLocaleString("en-US")}`;
    const largest = page.getByRole("cell", { name: dollars, exact: true }).first();
    await largest.waitFor();
    await checkAccessibility();
    await page.getByRole("rowheader").first().getByRole("link").click();
    await page.getByRole("heading", { name: state?.auditee ?? "", exact: true }).waitFor();
    // One for the rows, and one for the sorted rows.
    expect(countRequests()).toBe(2);
    const pdf = await page.getByRole("link", { name: "PDF of the report" }).getAttribute("href");
    expect((await (await fetch(site.facts.app_url + pdf)).text()).slice(0, 5)).toBe("%PDF-");
    await checkAccessibility();
    await page.goBack();
    await largest.waitFor();
  });

  it("shows the auditee of each finding, and saves the selected and filtered columns as CSV", async () => {
    const [counted] = await site.query(
      `select count(*) as rows, count(distinct (report_id, reference_number)) as findings
       from disclosed.findings where is_material_weakness = 'Y'`,
    );
    const { page } = await site.open("/reference");
    await page.getByRole("link", { name: "Open findings in the explorer" }).click();
    await page.getByText(/^Rows 1–/).waitFor();
    const filter = "is_material_weakness=eq.Y";
    await page.evaluate(`location.hash = "#api_v1_1_0/findings?select=award_reference&${filter}"`);
    await page.getByText(`of ${counted?.rows} ·`).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV for spreadsheets" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("findings-is_material_weakness-Y.csv");
    const target = `/findings?select=award_reference,is_material_weakness,...general(auditee_name)&${filter}`;
    const response = await site.ask(target, "DEMO_KEY", { accept: "text/csv" });
    const expected = await response.text();
    const saved = await readFile(await download.path(), "utf8");
    const [data_set = "", data_set_published_at = ""] =
      response.headers.get("data-set")?.match(/(?<=")[^";]+(?=")/g) ?? [];
    const source = `${site.facts.base_url}${target}&limit=20000`;
    const origin = { data_set, data_set_published_at, source };
    expect(saved.trimEnd()).toBe(`\ufeff${adaptForSpreadsheets(expected, origin).trimEnd()}`);
    expect(saved).toContain(`,"${data_set}","${data_set_published_at}","http`);
    await page.evaluate(`location.hash = "#api_v1_1_0/findings?${filter}&limit=500"`);
    await page.getByText(`On this page: ${counted?.rows} rows, ${counted?.findings} findings.`).waitFor();
    const [report, name] = await page.locator("tbody tr").first().locator("th, td").allTextContents();
    const [general] = await (await site.ask(`/general?report_id=eq.${report}`)).json();
    expect(name).toBe(general.auditee_name);
  });

  it("returns each plan in full, in the order of the file, in rows and in files", async () => {
    const [split] = await site.query(
      `select audit_year as year from disclosed.corrective_action_plans
       group by report_id, 1, finding_ref_number having count(*) > 2 order by report_id desc limit 1`,
    );
    const rows = await site.query(
      "select * from disclosed.corrective_action_plans where audit_year = $1 order by ctid",
      [split?.year],
    );
    const plans = rows.map(({ planned_action }) => planned_action);
    const target = `corrective_action_plans?audit_year=eq.${split?.year}`;
    const { page, checkAccessibility } = await site.open(`/explorer#api_v1_1_0/${target}&limit=500`);
    await page.getByText(`Rows 1–${rows.length} of ${rows.length} ·`).waitFor();
    await page.getByText(/^A long text takes several rows/).waitFor();
    const cells = page.locator(".rows-table tbody tr td:last-child");
    expect(await cells.allTextContents()).toEqual(
      plans.map((plan = "") => (plan.length > 120 ? `${plan.slice(0, 120)}…${plan}` : plan)),
    );
    await checkAccessibility();
    for (const name of ["CSV", "CSV for spreadsheets"]) {
      const button = page.getByRole("button", { name, exact: true });
      const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
      const saved: Record<string, string>[] = parse(await readFile(await download.path()), {
        columns: true,
        bom: true,
      });
      expect(saved.map(({ planned_action }) => planned_action)).toEqual(plans);
      expect(saved[0]?.auditee_name).toMatch(/\w/);
    }
  });

  it("adds up the rows of all pages", async () => {
    const [auditee] = await site.query(
      `select auditee_ein as ein, count(*) as awards, sum(amount_expended) as sum
       from disclosed.general join disclosed.federal_awards using (report_id) group by 1 order by 2 desc, 1 limit 1`,
    );
    const reports = await site.query("select report_id as id from disclosed.general where auditee_ein = $1", [
      auditee?.ein,
    ]);
    const ids = reports.map(({ id }) => id).join(",");
    const { page } = await site.open(`/explorer#api_v1_1_0/federal_awards?report_id=in.(${ids})&limit=1`);
    await page.getByText(`Rows 1–1 of ${auditee?.awards} ·`).waitFor();
    await page.getByText("sum of this page’s 1 row:").waitFor();
    await page.getByRole("button", { name: "Add up all rows" }).click();
    const sum = `sum of all ${auditee?.awards} rows: $${Number(auditee?.sum).toLocaleString("en-US")}`;
    await page.getByText(sum).waitFor();
  });

  it("opens the same rows from a shared link", async () => {
    const first = await site.open("/explorer", clipboard);
    await first.page.getByLabel("Table", { exact: true }).selectOption("federal_awards");
    await first.page.getByLabel("Column 1").selectOption("aln");
    await first.page.getByLabel("Value 1").fill("93");
    await first.page.getByRole("button", { name: "Show the rows" }).click();
    await first.page.getByText(/^Rows 1–100/).waitFor();
    await first.page.getByRole("button", { name: "Next" }).click();
    await first.page.getByText(/^Rows 101–/).waitFor();
    await first.page.getByRole("button", { name: "Copy link to these rows" }).click();
    await first.page.getByText("Copied.").waitFor();
    const rows = await first.page.locator(".rows-table tbody").textContent();
    const second = await site.open((await first.page.evaluate(readClipboard)) as string);
    await second.page.getByText(/^Rows 101–/).waitFor();
    expect(await second.page.locator(".rows-table tbody").textContent()).toBe(rows);
  });
});
