import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DuckDBInstance } from "@duckdb/node-api";
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { connect } from "../../shared/connect.ts";
import { openSite, type Site } from "./open-site.ts";
import type { Visit } from "./visit.ts";

// The site in a browser: everything except the main tasks, which are in site.test.ts. The file has its own stack.

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

type Page = Visit["page"];
const explore = (target: string) => site.open(`/explorer#api_v1_1_0${target}`);
const submit = (page: Page) => page.getByRole("button", { name: "Show the rows" }).click();
const waitForRows = (page: Page, from = 1) =>
  page.getByText(new RegExp(`^Rows ${from.toLocaleString("en-US")}–`)).waitFor();
const openRow = (page: Page) => page.getByRole("rowheader").first().getByRole("link").click();
/** Returns the text of each cell of the rows. */
const readCells = (page: Page): Promise<string[][]> =>
  page
    .locator(".rows-table tbody tr")
    .evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent ?? "")));
const readCommand = (page: Page) => page.getByRole("group", { name: /^Request in / }).textContent();
const readFocus = (page: Page) => page.evaluate("document.activeElement.id");

describe("the form", () => {
  it("writes the request as code in four languages, and sends the same request", async () => {
    const { page } = await site.open("/explorer");
    await page.getByLabel("Table", { exact: true }).selectOption("federal_awards");
    await page.getByText("Choose columns").click();
    for (const name of ["amount_expended", "report_id"])
      await page.locator(`label:has(code:text-is("${name}")) input`).check();
    await page.getByLabel("Column 1").selectOption("aln");
    await page.getByLabel("Value 1").fill("93");
    await page.getByRole("button", { name: "Add a filter" }).click();
    await expect.poll(() => readFocus(page)).toBe("column-1");
    await page.getByLabel("Column 2").selectOption("amount_expended");
    await page.getByLabel("Comparison 2").selectOption("gte");
    await page.getByLabel("Value 2").fill("$1,000");
    const target =
      "/federal_awards?select=report_id,amount_expended&federal_agency_prefix=eq.93&amount_expended=gte.1000&limit=100";
    for (const language of ["Python", "R", "TypeScript", "curl"]) {
      await page.getByLabel("Language").selectOption(language);
      expect(await readCommand(page)).toContain(site.facts.base_url + target);
      expect(await readCommand(page)).toContain("DEMO_KEY");
    }
    const sent = page.waitForRequest((request) => request.url().startsWith(site.facts.base_url));
    await submit(page);
    expect((await sent).url()).toBe(site.facts.base_url + target);
    await waitForRows(page);
    const [row] = await (await site.ask(target)).json();
    const dollars = `$${row.amount_expended.toLocaleString("en-US")}`;
    expect((await readCells(page))[0]).toEqual([row.report_id, dollars]);
    await page.getByRole("button", { name: /is 93 Health and Human Services/ }).waitFor();
  });

  it("filters findings by the state, the kind of auditee and the source of the award, in words", async () => {
    const [found] = await site.query(
      `select auditee_state as state, entity_type as kind, count(*) as rows
       from disclosed.findings join disclosed.federal_awards using (report_id, award_reference)
       join disclosed.general using (report_id)
       where is_direct = 'N' and entity_type = 'non-profit' group by 1, 2 order by 3 desc, 1 limit 1`,
    );
    const { page, checkAccessibility } = await site.open("/explorer");
    await page.getByLabel("Table", { exact: true }).selectOption("Federal awards expended");
    await page.getByLabel("Column 1").selectOption("Auditee state");
    await page.getByLabel("Value 1").fill(found?.state ?? "");
    // Both tables have the filter.
    await page.getByLabel("Table", { exact: true }).selectOption("Audit findings by award");
    for (const [number, column, value] of [
      [2, "Entity type", "nonprofit organization"],
      [3, "Direct award", "passed through"],
    ] as const) {
      await page.getByRole("button", { name: "Add a filter" }).click();
      await page.getByLabel(`Column ${number}`).selectOption(column);
      await page.getByLabel(`Value ${number}`).selectOption(value);
    }
    await submit(page);
    await page.getByText(new RegExp(`^Rows 1–\\d+ of ${found?.rows} · `)).waitFor();
    for (const name of ["Entity type is nonprofit organization", "Direct award is passed through"])
      await page.getByRole("button", { name }).waitFor();
    expect(new Set((await readCells(page)).map((cells) => cells.slice(-3).join("|")))).toEqual(
      new Set([`${found?.state}|nonprofit organization|passed through`]),
    );
    const command = (await readCommand(page)) ?? "";
    expect(command).toContain("general.entity_type=eq.non-profit&federal_awards.is_direct=eq.N");
    await page.getByText("Choose columns").click();
    await page.locator("label:has(code:text-is('reference_number')) input").check();
    await submit(page);
    await page.getByText(new RegExp(`^Rows 1–\\d+ of ${found?.rows} · `)).waitFor();
    for (const name of ["CSV", "CSV for spreadsheets"]) {
      const button = page.getByRole("button", { name, exact: true });
      const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
      const saved: Record<string, string>[] = parse(await readFile(await download.path()), {
        columns: true,
        bom: true,
        relax_quotes: true,
      });
      expect(saved).toHaveLength(Number(found?.rows));
      expect(
        new Set(saved.map((row) => [row.auditee_state, row.entity_type, row.is_direct].join("|"))),
      ).toEqual(new Set([`${found?.state}|non-profit|N`]));
    }
    await checkAccessibility();
  });

  it("names the values of a list that matched nothing, and none of them hints at a suppressed report", async () => {
    const hidden = String(site.facts.sample.suppressed_report_id);
    const known = await site.query(
      "select report_id as id from disclosed.federal_awards group by 1 having count(*) > 1 order by count(*), 1 limit 4",
    );
    const unknown = Array.from({ length: 25 }, (_, index) => `2023-06-GSAFAC-99999999${index + 10}`);
    const values = [...known.map(({ id }) => id), hidden, ...unknown];
    const { page, countRequests } = await site.open("/explorer");
    await page.getByLabel("Table", { exact: true }).selectOption("federal_awards");
    await page.getByLabel("Column 1").selectOption("report_id");
    await page.getByLabel("Comparison 1").selectOption("in");
    await page.getByLabel("Values 1").fill(values.join(" \t"));
    await submit(page);
    await waitForRows(page);
    const answer = page.getByText(/values matched nothing/);
    const nothing = [hidden, ...unknown];
    const describe = (unmatched: string[]) =>
      `${unmatched.length} of ${values.length} values matched nothing: ${unmatched.slice(0, 20).join(", ")}, and ${unmatched.length - 20} more.`;
    expect(await answer.textContent()).toBe(describe(nothing));
    // All rows are on the page, so they tell.
    expect(countRequests()).toBe(1);
    await page.evaluate(
      `location.hash = "#api_v1_1_0/federal_awards?report_id=in.(${values.join(",")})&limit=3&offset=3"`,
    );
    await waitForRows(page, 4);
    await expect.poll(() => answer.textContent()).toBe(describe(nothing));
    expect(countRequests()).toBe(3);
    await page.getByLabel("Your own API key").fill(site.facts.keys.tribal);
    await page.getByRole("button", { name: "Send again with this key" }).click();
    await expect.poll(() => answer.textContent()).toBe(describe(unknown));
    await page.evaluate(`location.hash = "#api_v1_1_0/findings?general.auditee_state=in.(CA,ZZ)&limit=1"`);
    await page.getByText("1 of 2 values matched nothing: ZZ.").waitFor();
    await page.evaluate(`location.hash = "#api_v1_1_0/findings?general.auditee_state=in.(CA,TX)&limit=1"`);
    await page.getByText("All 2 values matched.").waitFor();
  });

  it("keeps several values and their comparison when another column or comparison is chosen", async () => {
    const { page } = await explore("/general?audit_year=in.(2022,2023)");
    await page.getByLabel("Column 1").selectOption("report_id");
    expect(await page.getByLabel("Comparison 1").inputValue()).toBe("in");
    await page.getByLabel("Comparison 1").selectOption("eq");
    expect(await page.getByLabel("Value 1").inputValue()).toBe("2022, 2023");
  });
});

describe("the rows", () => {
  it("never appear on two pages, even if the order has ties", async () => {
    const { page } = await explore("/findings?order=is_repeat_finding&limit=9");
    const seen: string[] = [];
    for (let from = 1; seen.length < 45; from += 9) {
      await waitForRows(page, from);
      for (const cells of await readCells(page)) seen.push(cells.slice(0, 5).join(" "));
      await page.getByRole("button", { name: "Next" }).click();
    }
    expect(new Set(seen).size).toBe(seen.length);
  });

  it("can be restarted from the first page if the data changes between two pages", async () => {
    const { page, countRequests } = await explore("/general?limit=3");
    await waitForRows(page);
    const revert = "delete from deployment.api_schemas where sha256 = 'another'";
    onTestFinished(async () => void (await site.query(revert)));
    await site.query(
      `insert into deployment.api_schemas (sha256, is_promise)
       values ('another', false)`,
    );
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByText("A new data set was published").waitFor();
    await page.getByRole("button", { name: "Start again from the first row" }).click();
    await waitForRows(page);
    expect(countRequests()).toBe(3);
  });

  it("show their filters, each of which can be removed, and have a link without the key", async () => {
    const { page } = await explore("/general?audit_year=eq.1899&auditee_state=eq.CA&limit=5&api_key=secret");
    await page.getByText(/^No rows match/).waitFor();
    await page.getByText("Advanced: other query parameters").click();
    await page.getByLabel("Other parameters").fill("is_public=eq.true");
    await page.getByRole("button", { name: /^Remove the filter: .* 1899$/ }).click();
    await waitForRows(page);
    expect(await page.getByLabel("Other parameters").inputValue()).toBe("is_public=eq.true");
    await page.getByRole("button", { name: "Next" }).click();
    await waitForRows(page, 6);
    expect(page.url()).toMatch(/#api_v1_1_0\/general\?auditee_state=eq.CA&limit=5&offset=5$/);
    const question = await page.locator(".question").boundingBox();
    expect(question?.y).toBeGreaterThanOrEqual(0);
    expect(question?.y).toBeLessThan(300);
    await page.goBack();
    await waitForRows(page);
    await page.goBack();
    await page.getByText(/^No rows match/).waitFor();
  });
});

describe("a row", () => {
  it("of a text links to the page of its finding, and opens in place", async () => {
    const [text] = await site.query(
      `select report_id as id, finding_ref_number as reference, min(finding_text) as text from disclosed.findings_text
       group by 1, 2 having count(*) = 1 and min(length(finding_text)) > 500 order by 1, 2 limit 1`,
    );
    const { page, checkAccessibility, checkFit } = await explore(
      `/findings_text?report_id=eq.${text?.id}&finding_ref_number=eq.${text?.reference}`,
    );
    await waitForRows(page);
    const cell = page.locator("tbody details");
    const readHeight = async () => (await cell.boundingBox())?.height ?? 0;
    const closed = await readHeight();
    await cell.locator("summary").click();
    await expect.poll(readHeight).toBeGreaterThan(2 * closed);
    expect(await cell.innerText()).toContain(text?.text?.trim());
    await checkAccessibility();
    await checkFit();
    await page.getByRole("rowheader").getByRole("link").click();
    await page.waitForURL(`${site.facts.app_url}/record/${text?.id}#${text?.reference}`);
    expect(await page.locator(`[id="${text?.reference}"]`).count()).toBe(1);
  });

  it("of a finding shows its award's program, by which findings can be filtered", async () => {
    const [found] = await site.query(
      `select federal_agency_prefix || '.' || federal_award_extension as aln, min(federal_program_name) as name,
         count(*) as rows, min(federal_agency_prefix) as agency
       from disclosed.findings join disclosed.federal_awards using (report_id, award_reference)
       where federal_program_name <> '' group by 1 having count(distinct federal_program_name) = 1 order by 3 desc, 1 limit 1`,
    );
    const { page } = await site.open("/explorer");
    await page.getByLabel("Table", { exact: true }).selectOption("findings");
    await page.getByLabel("Column 1").selectOption("aln");
    await page.getByLabel("Value 1").fill(` ALN ${found?.aln}`);
    await submit(page);
    await page.getByText(new RegExp(`^Rows 1–\\d+ of ${found?.rows} · `)).waitFor();
    await page.getByRole("button", { name: `Program (ALN) is ${found?.aln}` }).waitFor();
    const cells = (await readCells(page)).map((row) => row.slice(5, 7));
    expect(new Set(cells.map((row) => row.join(" ")))).toEqual(new Set([`${found?.aln} ${found?.name}`]));
    const button = page.getByRole("button", { name: "CSV for spreadsheets" });
    const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
    const saved: Record<string, string>[] = parse(await readFile(await download.path()), {
      columns: true,
      bom: true,
      relax_quotes: true,
    });
    expect(saved.map(({ aln }) => aln)).toEqual(cells.map(() => `="${found?.aln}"`));
    await page.goto(
      `${site.facts.app_url}/explorer#api_v1_1_0/federal_awards?federal_agency_prefix=eq.${found?.agency}`,
    );
    await page.reload();
    await page.getByLabel("Value 1").waitFor();
    expect(await page.getByLabel("Value 1").inputValue()).toBe(found?.agency);
    await page.getByText("Choose columns").click();
    expect(await page.locator("label:has(code:text-is('federal_award_extension'))").count()).toBe(0);
    await page.locator("label:has(code:text-is('aln')) input").check();
    expect(await readCommand(page)).toContain("select=federal_agency_prefix,federal_award_extension&");
  });

  it("of a report in full counts its related rows, and links only to those that exist", async () => {
    const [report] = await site.query(
      `select report_id as id, count(*) as awards from disclosed.general join disclosed.federal_awards using (report_id)
       where not exists (
         select from disclosed.secondary_auditors where secondary_auditors.report_id = general.report_id)
       group by 1 order by 2 desc, 1 limit 1`,
    );
    const { page } = await explore(`/row/general?report_id=eq.${report?.id}`);
    await page.getByRole("listitem").filter({ hasText: "Secondary auditors: none" }).waitFor();
    expect(await page.getByRole("link", { name: /Secondary auditors/ }).count()).toBe(0);
    await page.getByRole("link", { name: `Federal awards expended (${report?.awards})` }).click();
    await page.getByText(`of ${report?.awards} · `).waitFor();
  });

  it("of a suppressed report says that it is suppressed, and gives a Tribal key the PDF in one click", async () => {
    const id = site.facts.sample.suppressed_report_id;
    const { page, checkAccessibility } = await explore(
      `/general?select=*,federal_awards(report_id)&report_id=eq.${id}`,
    );
    await waitForRows(page);
    expect(await page.locator("tbody").textContent()).toContain("suppressed");
    await page.getByRole("button", { name: "Show the reports" }).waitFor();
    const keyFields = page.locator("input[type=password]");
    expect(await keyFields.count()).toBe(1);
    expect(await page.getByText("$0", { exact: true }).count()).toBe(0);
    await openRow(page);
    await page.getByText(/^This report is suppressed/).waitFor();
    expect(await page.locator("#result").locator("xpath=..").textContent()).not.toMatch(/\(0\)|: none/);
    const button = page.getByRole("button", { name: "Get the PDF with your key" });
    expect(await button.or(page.getByRole("link", { name: "PDF of the report" })).count()).toBe(0);
    expect(await keyFields.count()).toBe(1);
    // While the report loads, nothing says that it is suppressed.
    await page.route("**/general?*", async (route) => {
      await page.getByText("Loading …").waitFor();
      expect(await page.locator(".result").innerText()).not.toContain("suppressed");
      await route.continue();
    });
    for (const kind of ["individual", "tribal"] as const) {
      await page.getByLabel("A key with Tribal access").fill(site.facts.keys[kind]);
      await page.getByRole("button", { name: "Show the report" }).click();
      if (kind === "individual")
        await page.getByText(/^The key that you entered has no Tribal access/).waitFor();
    }
    await button.waitFor();
    await page.unroute("**/general?*");
    await page.getByLabel("Your own API key").fill("");
    await page.goBack();
    await page.getByLabel("A key with Tribal access").fill(site.facts.keys.tribal);
    expect(await readCommand(page)).toContain("{API_KEY:?Set it first");
    await submit(page);
    await expect.poll(() => page.locator("tbody").textContent()).not.toContain("suppressed");
    await openRow(page);
    const [answer] = await Promise.all([
      page.context().waitForEvent("response", (each) => each.url().includes("/pdf/ota/")),
      button.click(),
    ]);
    expect(answer.status()).toBe(302);
    expect(
      (await (await fetch(new URL(answer.headers().location ?? "", answer.url()))).text()).slice(0, 5),
    ).toBe("%PDF-");
    await checkAccessibility();
    const kept = (await page.evaluate(
      "JSON.stringify([{ ...localStorage }, document.cookie, location.href, history.state, document.body.innerText])",
    )) as string;
    expect(kept).not.toContain(site.facts.keys.tribal);
    // The tab keeps the key until the visitor empties the field.
    await page.reload();
    await button.waitFor();
    await page.getByLabel("Your own API key").fill("");
    await page.getByRole("button", { name: "Send again with this key" }).click();
    await page.getByText(/^This report is suppressed/).waitFor();
  });
});

it("a request has an address that gives a spreadsheet all its rows as CSV", async () => {
  const { page, checkAccessibility } = await explore(
    "/general?select=report_id&audit_year=eq.2023&limit=3&offset=3",
  );
  await waitForRows(page, 4);
  await page.getByText("Address for a spreadsheet", { exact: true }).click();
  const address = page.getByRole("group", { name: "Address for a spreadsheet" });
  const answer = await fetch((await address.textContent()) ?? "");
  expect(answer.headers.get("content-type")).toContain("text/csv");
  const [header, ...ids] = (await answer.text()).trimEnd().split("\n");
  expect([header, ids.slice(3, 6)]).toEqual(["report_id", (await readCells(page)).map(([id]) => id)]);
  await page.getByText(`of ${ids.length} · `).waitFor();
  await page.getByLabel("Your own API key").fill(site.facts.keys.individual);
  expect(await address.textContent()).toMatch(/&format=csv&api_key=YOUR_KEY$/);
  const button = page.getByRole("button", { name: "Copy with your key" });
  expect(await button.getAttribute("data-copy")).toContain(`api_key=${site.facts.keys.individual}`);
  await checkAccessibility();
});

it("on paper, rows have their query, their date and no form", async () => {
  const { page, checkFit } = await explore("/general?audit_year=eq.2023&limit=40");
  await waitForRows(page);
  await page.emulateMedia({ media: "print" });
  const rows = page.locator(".rows-table tbody tr");
  expect(await rows.count()).toBeGreaterThan(20);
  expect(await page.locator(".rows-place").evaluate((it) => it.scrollHeight - it.clientHeight)).toBe(0);
  await checkFit();
  for (const shown of [/is 2023/, /^\d+ rows of \d+, from the data set of 20\d\d-\d\d-\d\d, read /])
    expect(await page.getByText(shown).isVisible()).toBe(true);
  expect(await page.getByRole("columnheader", { name: "Auditee name" }).innerText()).toBe("Auditee name");
  for (const hidden of ["form", "nav", "#commands", "button[type=submit]"])
    expect(await page.locator(hidden).first().isVisible(), hidden).toBe(false);
});

it("a page shows at most 500 rows, and a download says how many requests it takes and has each row once", async () => {
  await site.query(
    `insert into disclosed.passthrough
     select copy.* from (select to_jsonb(p) as row from disclosed.passthrough as p limit 1), generate_series(1, 20500) as n,
       jsonb_populate_record(null::disclosed.passthrough, row || jsonb_build_object('passthrough_id', n, 'row_number', 1000000 + n)) as copy`,
  );
  // The page computes the number of requests from the planner's estimate of the rows.
  await site.query("vacuum analyze disclosed.passthrough");
  const { page } = await explore("/passthrough?order=award_reference.desc&limit=20000");
  const status = page.getByText(/^Rows 1–500 of about [\d,]+ · /);
  const before = await status.textContent();
  const button = page.getByRole("button", { name: "CSV (about 2 requests)" });
  const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
  const lines = (await readFile(await download.path(), "utf8")).trimEnd().split("\n");
  const [counted] = await site.query("select count(*) as rows from disclosed.passthrough");
  expect(lines).toHaveLength(Number(counted?.rows) + 1);
  expect(new Set(lines).size).toBe(lines.length);
  await page.getByText(`${Number(counted?.rows).toLocaleString("en-US")} rows read.`).waitFor();
  const [left, leftBefore] = [await status.textContent(), before].map(
    (text) => /(\d+) requests/.exec(text ?? "")?.[1],
  );
  expect(Number(leftBefore) - Number(left)).toBe(2);
});

/** Fills in the report and the auditee with the most findings. */
async function fillIn(address: string): Promise<string> {
  const [found] = await site.query(
    `select report_id, auditee_uei from disclosed.finding_summaries where auditee_uei <> 'GSA_MIGRATION'
     group by 1, 2 order by count(*) desc, 1 limit 1`,
  );
  return address.replace("REPORT", found?.report_id ?? "").replace("AUDITEE", found?.auditee_uei ?? "");
}

/** Starts a proxy for the test, through which pages arrive a few letters at a time. Returns its origin. */
async function trickle(origin: string): Promise<string> {
  const server = createServer(async ({ url }, response) => {
    const answer = await fetch(origin + url);
    expect(answer.status).toBe(200);
    const type = answer.headers.get("content-type") ?? "";
    response.writeHead(200, { "content-type": type });
    const text = await answer.text();
    const pieces = type.startsWith("text/html") ? text.match(/.{1,20}/gs) : [text];
    for (const piece of pieces ?? []) {
      response.write(piece);
      await sleep(1);
    }
    response.end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe.each([
  "/",
  "/check",
  "/check?u=AUDITEE,ZZZZZZZZ1234&aln=HHS",
  "/check?u=AUDITEE,ZZZZZZZZ1234&year=all",
  "/record/REPORT",
  "/auditee/AUDITEE",
  "/findings",
  "/findings?words=%22internal+control%22",
  "/findings?u=AUDITEE,ZZZZZZZZ1234",
  "/program/93.778",
  "/agency/93",
  "/state/TX",
  "/search?q=county",
  "/search?q=atlantis+iowa",
  "/changes",
  "/totals",
  "/totals/programs",
])("%s", (address) => {
  it("comes with at most 40 KB on the wire", async () => {
    const { page } = await site.open(await fillIn(address));
    const network = await page.context().newCDPSession(page);
    await network.send("Network.enable");
    await network.send("Network.setCacheDisabled", { cacheDisabled: true });
    let bytes = 0;
    network.on("Network.loadingFinished", ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    const answer = await page.reload({ waitUntil: "networkidle" });
    expect(answer?.status()).toBe(200);
    expect(bytes).toBeGreaterThan(2000);
    expect(bytes).toBeLessThan(40_000);
  });

  it("does not move while it arrives, however slowly", async () => {
    const { page } = await site.open((await trickle(site.facts.app_url)) + (await fillIn(address)));
    await page.waitForLoadState("networkidle");
    const moved = await page.evaluate(`{
      const observer = new PerformanceObserver(() => {});
      observer.observe({ type: "layout-shift", buffered: true });
      observer.takeRecords().flatMap(({ sources }) => sources.map(({ node }) => node?.parentElement.innerHTML));
    }`);
    expect(moved).toEqual([]);
  });

  it("fits a phone with text of twice the size: no column is out of sight, and no word is broken", async () => {
    const { page, checkFit, checkLines } = await site.open(await fillIn(address), {
      viewport: { width: 360, height: 740 },
    });
    await page.evaluate("document.documentElement.style.fontSize = '200%'");
    await checkFit();
    await checkLines();
  });

  it("prints as a file note: tables stay tables, and it names its data set", async () => {
    // Letter paper with its margins.
    const { page, checkFit } = await site.open(await fillIn(address), {
      viewport: { width: 700, height: 950 },
    });
    await page.emulateMedia({ media: "print" });
    await checkFit();
    for (const form of await page.locator("main form, nav:not(.printed), button").all())
      expect(await form.isVisible()).toBe(false);
    for (const row of await page.locator("main tbody tr:visible").all())
      expect(await row.evaluate((it) => getComputedStyle(it).display)).toBe("table-row");
    if (address !== "/" && !address.includes("atlantis") && address !== "/check")
      expect(await page.getByText(/^Cite this as: .* Data set .*, published /).isVisible()).toBe(true);
  });
});

describe.each(["light", "dark"] as const)("in %s colors", (colorScheme) => {
  it.each([
    ["home", "/"],
    ["totals", "/totals?year=2023"],
    ["programs", "/totals/programs"],
    ["search", "/search"],
    ["results", "/search?q=93.778"],
    ["choices", "/search?q=washington"],
    ["no results", "/search?q=atlantis+iowa"],
    ["report", "/record/REPORT"],
    ["auditee", "/auditee/AUDITEE"],
    ["unknown auditee", "/auditee/ZZZZZZZZ1234"],
    ["check", "/check?u=AUDITEE,ZZZZZZZZ1234,nonsense&aln=HHS"],
    ["compared years", "/check?u=AUDITEE,ZZZZZZZZ1234&year=all"],
    ["findings of a list", "/findings?u=AUDITEE,ZZZZZZZZ1234&program=93"],
    ["changes", "/changes"],
    ["reference", "/reference"],
    ["files", "/files"],
    ["error", "/no-such-page"],
    ["form", "/explorer"],
    ["rows", "/explorer#api_v1_1_0/federal_awards?order=amount_expended.desc&limit=20"],
    ["report in full", "/explorer#api_v1_1_0/row/general?limit=1"],
  ])("the page %s has no accessibility violations and fits every width", async (name, address) => {
    const target = await fillIn(address);
    const { page, checkAccessibility, checkFit } = await site.open(target, { colorScheme });
    if (target.includes("#")) await page.locator(".rows-table, .values").first().waitFor();
    if (name === "form") await page.getByLabel("Comparison 1").selectOption("in");
    for (const summary of await page.locator("summary").all()) await summary.click();
    // Colors do not depend on the width, so each scheme is checked at only one width.
    if (colorScheme === "light") await checkAccessibility();
    const links = page.getByRole("navigation", { name: "Pages", exact: true });
    for (const width of [1280, 757, 640, 360, 320]) {
      await page.setViewportSize({ width, height: 740 });
      await checkFit();
      // The links to the pages must fit on one line.
      if (width > 320) expect((await links.boundingBox())?.height).toBeLessThan(60);
    }
    const cells = page.locator(".stacked td:visible");
    const widths = await cells.evaluateAll((all) => all.map((cell) => cell.clientWidth));
    expect(Math.min(320, ...widths)).toBeGreaterThan(250);
    if (colorScheme === "dark") await checkAccessibility();
  });
});

it("the DuckDB command on /files keeps leading zeros", async () => {
  const { page } = await site.open("/files");
  const command = await page.getByRole("group", { name: "Command for DuckDB", exact: true }).textContent();
  const [, sql = "", url = ""] = /^duckdb -c "(.*'(http[^']*)'.*)"$/s.exec(command ?? "") ?? [];
  // Reads a local copy, because DuckDB would have to download an extension to read from a URL.
  const file = path.join(site.directory, "general.parquet");
  await writeFile(file, Buffer.from(await (await fetch(url)).arrayBuffer()));
  const duckDb = await DuckDBInstance.create();
  onTestFinished(() => duckDb.closeSync());
  const printed = (await (await duckDb.connect()).runAndReadAll(sql.replace(url, file))).getRowsJson();
  const rows = await site.query(
    "select auditee_ein as ein, auditee_zip as zip from disclosed.general where auditee_state = 'PR'",
  );
  expect(rows.length).toBeGreaterThan(0);
  for (const { ein, zip } of rows) {
    expect(zip).toMatch(/^0/);
    expect(printed).toContainEqual(expect.arrayContaining([ein, zip]));
  }
});

const hasPandas = spawnSync("python3", ["-c", "import pandas, pyarrow"]).status === 0;
it("the Python commands on /files keep leading zeros and the text N/A, and print dollars in full", async () => {
  const { page } = await site.open("/files");
  const rows = await site.query(
    `select auditee_ein as ein, auditee_zip as zip, total_amount_expended as dollars from disclosed.general
     where auditee_state = 'PR'`,
  );
  for (const format of ["Parquet", "CSV"]) {
    const name = `Command for Python, ${format}`;
    const command = (await page.getByRole("group", { name, exact: true }).textContent()) ?? "";
    expect(command).toContain("astype({'total_amount_expended': 'Int64'})");
    if (!hasPandas) continue;
    const printed = execFileSync("/bin/sh", ["-ec", command], { encoding: "utf8" });
    for (const { ein, zip, dollars } of rows)
      expect(printed).toMatch(new RegExp(` ${ein} +${zip} +${dollars ?? "<NA>"}\\n`));
    if (format === "Parquet") continue;
    const ofFindings = command
      .replace("general.csv.gz", "findings.csv.gz")
      .replace(/\n.*astype.*\n/, "\n")
      .replace(/print\(.*\)/, "print((general['prior_finding_ref_numbers'] == 'N/A').sum())");
    const [counted] = await site.query(
      "select count(*) as texts from disclosed.findings where prior_finding_ref_numbers = 'N/A'",
    );
    expect(execFileSync("/bin/sh", ["-ec", ofFindings], { encoding: "utf8" }).trim()).toBe(counted?.texts);
  }
});

describe("on a phone", () => {
  it("results come before the filters of a search for findings", async () => {
    const { page } = await site.open("/findings?words=control", { viewport: { width: 360, height: 740 } });
    const results = await page.locator(".found").first().boundingBox();
    expect(results?.y).toBeLessThan(740);
    expect(await page.getByLabel("Accepted since").isVisible()).toBe(false);
  });

  it.each(["/", "/findings", "/explorer#api_v1_1_0/general?is_public=eq.false"])(
    "%s has room for its content, and text of twice the size fits",
    async (address) => {
      const { page, checkFit } = await site.open(address, { viewport: { width: 360, height: 740 } });
      const readHeader = async () => (await page.locator(".site-header").boundingBox())?.height;
      if (address.includes("#")) await waitForRows(page);
      expect(await readHeader()).toBeLessThan(740 / 8);
      await page.evaluate("document.documentElement.style.fontSize = '200%'");
      expect(await readHeader()).toBeLessThan(740 / 3);
      await checkFit();
      await page.getByRole("link", { name: "Search", exact: true }).click();
      await page.waitForURL(`${site.facts.app_url}/search`);
    },
  );
});

describe("an error", () => {
  it("of the explorer itself stays within the page's margins", async () => {
    const { page } = await site.open("/changes", { viewport: { width: 360, height: 740 } });
    await page.route("**/assets/api-*.json", (route) => route.fulfill({ status: 200, body: "-" }));
    await page.goto(`${site.facts.app_url}/explorer`);
    const box = await page.getByText("The list of tables could not be loaded.").boundingBox();
    expect(box?.x).toBeGreaterThan(8);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThan(352);
  });

  const open = (isOpen: boolean) => `update publication.settings set is_switched_on = ${isOpen}`;
  it.each([
    ["/general?report_id=eq.2023-06-GSAFAC-9999999999", /^404: The table general has no report/],
    ["/generals", /^404: /],
    ["/general?or=(audit_year.is", /^400: /],
    ["/general?", /^503: This service is switched off/, open(false), open(true)],
  ])("for %s says what happened", async (target, text, change = "select", revert = "select") => {
    onTestFinished(async () => void (await site.query(revert)));
    await site.query(change);
    const { page, checkAccessibility } = await explore(target);
    await page.getByText(text).waitFor();
    await checkAccessibility();
  });

  it("for a query that takes too long offers the whole table as a file", async () => {
    const holder = await connect(site.facts.database_url, "test");
    onTestFinished(async () => {
      await holder.query("rollback; update access.tiers set statement_timeout = '10 s' where name = 'demo'");
      await holder.end();
    });
    await holder.query("update access.tiers set statement_timeout = '200 ms' where name = 'demo'");
    // The query waits for this lock until its time is up.
    await holder.query("begin; lock table disclosed.passthrough");
    const { page, checkAccessibility } = await explore("/passthrough?order=passthrough_name");
    await page.getByText(/download the whole table as a file/).waitFor();
    await checkAccessibility();
  });

  it("for an unknown key says what to do, and does not repeat the key", async () => {
    const { page } = await site.open("/explorer");
    await page.getByLabel("Your own API key").fill("not-a-key-of-anybody");
    await submit(page);
    await page.getByText(/^401: The API key is not valid/).waitFor();
    await page.getByText("Correct the key, or empty the field to use DEMO_KEY.").waitFor();
    expect(await page.locator("body").innerText()).not.toContain("not-a-key-of-anybody");
    const field = page.getByLabel("API key for the next request");
    await expect.poll(() => field.evaluate((it) => it.getBoundingClientRect().top)).toBeLessThan(900);
    await field.fill("");
    await page.getByRole("button", { name: "Send again with this key" }).last().click();
    await waitForRows(page);
  });

  it("for a value that its column cannot have says which, in the words of the form", async () => {
    const { page } = await explore("/general?total_amount_expended=gt.many&fac_accepted_date=eq.soon");
    await page.getByRole("heading", { name: "400: “many” is not a whole number." }).waitFor();
    await page.getByText(/^Change the filters/).waitFor();
  });

  // This test comes last, because it uses up the demonstration key's requests.
  it("over the rate limit says how long to wait, when it resets in local time, and where to get a key", async () => {
    const untilNextHour = 3_600_000 - (Date.now() % 3_600_000);
    if (untilNextHour < 30_000) await sleep(untilNextHour + 500);
    const { page } = await site.open("/explorer", { timezoneId: "America/Chicago" });
    await submit(page);
    await waitForRows(page);
    for (let status = 200; status === 200; ) ({ status } = await site.ask("/general?limit=0"));
    await submit(page);
    await page.getByText("429: You have reached the rate limit.", { exact: true }).waitFor();
    await page
      .getByText(/^Wait \d+ (minute|hour)s?, get your own key \(free, with a higher limit\), or download /)
      .waitFor();
    const end = /^0 requests of 1,?000 left until (\w+day( at|,)? )?\d+:\d\d [AP]M C[DS]T$/;
    expect(await page.getByText(end).count()).toBe(1);
    await page.getByRole("link", { name: "get your own key" }).click();
    await page.waitForURL(`${site.facts.app_url}/#keys`);
  });
});
