import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSite, type Site } from "./open-site.ts";
import type { Visit } from "./visit.ts";

// The explorer in a browser, on a stack of its own: everything beside the main way, which explorer-suite.ts takes.

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

type Page = Visit["page"];
const start = "/explorer#api_v1_1_0";
const submit = (page: Page) => page.getByRole("button", { name: "Show the rows" }).click();
const waitForRows = (page: Page, from: number) =>
  page.getByText(new RegExp(`^Rows ${from.toLocaleString("en-US")}–`)).waitFor();
const openMore = (page: Page) => page.getByText("More: other parameters").click();
/** What a person reads in the rows. */
const readCells = (page: Page): Promise<string[][]> =>
  page
    .locator(".rows-table tbody tr")
    .evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent ?? "")));
const readCommand = (page: Page) => page.getByRole("group", { name: /^Request in / }).textContent();
/** The request that the page sent last. */
const waitForRequest = (page: Page) =>
  page.waitForRequest((request) => request.url().startsWith(site.facts.base_url));

describe("the form", () => {
  it("writes the request as a command in four languages, and sends the same", async () => {
    const { page, leave } = await site.open("/explorer");
    await page.getByLabel("Table", { exact: true }).selectOption("federal_awards");
    await page.getByText("Columns: all").click();
    for (const name of ["amount_expended", "report_id", "general(auditee_name)"])
      await page.locator(`label:has(code:text-is("${name}")) input`).check();
    await page.getByLabel("Column 1").selectOption("federal_agency_prefix");
    await page.getByLabel("Value 1").fill("93");
    await page.getByRole("button", { name: "Add a filter" }).click();
    expect(await page.evaluate("document.activeElement.id")).toBe("column-1");
    await page.getByLabel("Column 2").selectOption("amount_expended");
    await page.getByLabel("Comparison 2").selectOption("gte");
    await page.getByLabel("Value 2").fill("$1,000");
    const target =
      "/federal_awards?select=report_id,amount_expended,general(auditee_name)&federal_agency_prefix=eq.93&amount_expended=gte.1000&order=report_id,award_reference&limit=100";
    for (const language of ["Python", "R", "TypeScript", "curl"]) {
      await page.getByLabel(language, { exact: true }).check();
      expect(await readCommand(page)).toContain(site.facts.base_url + target);
      expect(await readCommand(page)).toContain("DEMO_KEY");
    }
    const [sent] = await Promise.all([waitForRequest(page), submit(page)]);
    expect(sent.url()).toBe(site.facts.base_url + target);
    await waitForRows(page, 1);
    const rows = await (await site.ask(target)).json();
    expect((await readCells(page))[0]).toEqual([
      expect.stringContaining(rows[0].report_id),
      `$${rows[0].amount_expended.toLocaleString("en-US")}`,
      rows[0].general.auditee_name,
    ]);
    await page.getByRole("button", { name: /is 93 Health and Human Services/ }).waitFor();
    await leave();
  });

  it("is used by keyboard alone, from the first field to a row and back", async () => {
    const { page, leave } = await site.open("/explorer");
    await page.getByLabel("Column 1").waitFor();
    const readFocus = () =>
      page.evaluate(
        "(() => { const it = document.activeElement; return (it.labels?.[0]?.textContent ?? it.getAttribute('aria-label') ?? it.textContent).trim(); })()",
      ) as Promise<string>;
    const goTo = async (name: string | RegExp) => {
      for (let step = 0; step < 60; step += 1) {
        const focus = await readFocus();
        if (typeof name === "string" ? focus === name : name.test(focus)) return;
        await page.keyboard.press("Tab");
      }
      throw new Error(`The Tab key never reaches ${name}.`);
    };
    await goTo("Value 1");
    expect(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");
    await page.keyboard.type("a");
    await page.keyboard.press("Enter");
    await waitForRows(page, 1);
    await goTo("Rows");
    await goTo(/\d{4}-\d{2}-(GSAFAC|CENSUS)-/);
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "PDF of the report" }).waitFor();
    expect(await page.evaluate("document.activeElement.id")).toBe("result");
    await page.goBack();
    await waitForRows(page, 1);
    await page.getByRole("button", { name: "Remove filter 1" }).focus();
    await page.keyboard.press("Enter");
    expect(await readFocus()).toBe("Add a filter");
    await leave();
  });
});

describe("the rows", () => {
  it("are paged without a row twice, also where the order has ties", async () => {
    const { page, leave } = await site.open(`${start}/findings?order=is_repeat_finding&limit=9`);
    const seen: string[] = [];
    for (let from = 1; seen.length < 45; from += 9) {
      await waitForRows(page, from);
      for (const cells of await readCells(page)) seen.push(cells.slice(0, 3).join(" "));
      await page.getByRole("button", { name: "Next" }).click();
    }
    expect(new Set(seen).size).toBe(seen.length);
    await leave();
  });

  it("start again when the data changes between two pages", async () => {
    const { page, leave, watchEffort } = await site.open(`${start}/general?limit=3`);
    await waitForRows(page, 1);
    const effort = await watchEffort();
    try {
      await site.query(
        `insert into deployment.api_schemas (sha256, contracts, is_promise, definitions, fingerprint)
         values ('another', '[]', false, '{}', '{}')`,
      );
      await page.getByRole("button", { name: "Next" }).click();
      await page.getByText("A new data set was published").waitFor();
      await page.getByRole("button", { name: "Start again from the first row" }).click();
      await waitForRows(page, 1);
      expect(effort()).toEqual({ clicks: 2, requests: 2 });
    } finally {
      await site.query("delete from deployment.api_schemas where sha256 = 'another'");
    }
    await leave();
  });

  it("keep the question in sight, of which each part can be removed, and drop a key from the link", async () => {
    const { page, leave } = await site.open(
      `${start}/general?audit_year=eq.1899&auditee_state=eq.CA&limit=5&api_key=secret`,
    );
    await page.getByText(/^No rows match/).waitFor();
    await page.getByText("More: other parameters").click();
    await page.getByLabel("Other parameters").fill("is_public=eq.true");
    await page.getByRole("button", { name: /^Remove the filter: .* 1899$/ }).click();
    await waitForRows(page, 1);
    expect(await page.getByLabel("Other parameters").inputValue()).toBe("is_public=eq.true");
    await page.getByRole("button", { name: "Next" }).click();
    await waitForRows(page, 6);
    expect(page.url()).toBe(`${site.facts.app_url}${start}/general?auditee_state=eq.CA&limit=5&offset=5`);
    const question = await page.locator(".question").boundingBox();
    expect(question?.y).toBeGreaterThanOrEqual(0);
    expect(question?.y).toBeLessThan(300);
    await page.goBack();
    await waitForRows(page, 1);
    await page.goBack();
    await page.getByText(/^No rows match/).waitFor();
    await leave();
  });

  it("add up dollars, and say which columns are not shown", async () => {
    const [auditee] = await site.query<{ uei: string; awards: string; sum: string }>(
      `select auditee_uei as uei, count(*) as awards, sum(amount_expended) as sum from disclosed.federal_awards
       where length(auditee_uei) = 12 group by 1 having count(*) between 5 and 90 order by 2 desc, 1 limit 1`,
    );
    const { page, leave } = await site.open(
      `${start}/federal_awards?auditee_uei=eq.${auditee?.uei}&limit=100`,
    );
    await page.getByText(`Rows 1–${auditee?.awards} of ${auditee?.awards}`).waitFor();
    const foot = page.locator("tfoot");
    expect(await foot.textContent()).toContain(`Sum of these ${auditee?.awards} rows`);
    expect(await foot.textContent()).toContain(`$${Number(auditee?.sum).toLocaleString("en-US")}`);
    const before = await page.getByRole("columnheader").count();
    await page.getByRole("button", { name: /^Show all \d+ columns$/ }).click();
    expect(await page.getByRole("columnheader").count()).toBeGreaterThan(before);
    await leave();
  });
});

describe("a row", () => {
  it("of a finding has its own narrative and corrective action plan, whole, and no other", async () => {
    const [finding] = await site.query<{ id: string; reference: string; text: string; plan: string }>(
      `select report_id as id, finding_ref_number as reference, finding_text as text, planned_action as plan
       from disclosed.findings_text join disclosed.corrective_action_plans using (report_id, finding_ref_number)
       join (select report_id from disclosed.findings_text group by 1 having count(distinct finding_ref_number) > 1) as many
         using (report_id)
       order by length(finding_text) desc limit 1`,
    );
    const { page, leave, watchEffort } = await site.open(
      `${start}/findings?report_id=eq.${finding?.id}&reference_number=eq.${finding?.reference}`,
    );
    await waitForRows(page, 1);
    const effort = await watchEffort();
    await page.getByRole("rowheader").first().getByRole("link").click();
    const narratives = page.getByRole("region", { name: "Audit finding narratives" });
    await narratives.waitFor();
    expect(await narratives.locator("dd").allTextContents()).toContain(finding?.text);
    const references = narratives.locator("div:has(code:text-is('finding_ref_number')) dd");
    expect(new Set(await references.allTextContents())).toEqual(new Set([finding?.reference]));
    expect(
      await page.getByRole("region", { name: "Corrective action plans" }).locator("dd").allTextContents(),
    ).toContain(finding?.plan);
    expect(effort()).toEqual({ clicks: 1, requests: 1 });
    await leave();
  });

  it("counts what belongs to a report, links to it, and does not link to what is not there", async () => {
    const [report] = await site.query<{ id: string; uei: string; awards: string }>(
      `select general.report_id as id, general.auditee_uei as uei, count(*) as awards
       from disclosed.general join disclosed.federal_awards using (report_id)
       where length(general.auditee_uei) = 12 and not exists (
         select from disclosed.secondary_auditors where secondary_auditors.report_id = general.report_id)
       group by 1, 2 order by 3 desc, 1 limit 1`,
    );
    const { page, leave } = await site.open(`${start}/row/general?report_id=eq.${report?.id}`);
    await page.getByRole("listitem").filter({ hasText: "Secondary auditors: none" }).waitFor();
    expect(await page.getByRole("link", { name: /Secondary auditors/ }).count()).toBe(0);
    await page.getByRole("link", { name: `Federal awards expended (${report?.awards})` }).click();
    await page.getByText(`of ${report?.awards} · `).waitFor();
    await page.goBack();
    await page.getByRole("link", { name: "All reports of this auditee" }).click();
    await waitForRows(page, 1);
    expect(page.url()).toContain(`/general?auditee_uei=eq.${report?.uei}&order=audit_year.desc.nullslast`);
    await leave();
  });

  it("of a suppressed report is said to be not shown, and gives a Tribal key the PDF in one click", async () => {
    const id = site.facts.sample.suppressed_report_id;
    const { page, leave, checkAccessibility } = await site.open(
      `${start}/general?select=*,federal_awards(report_id)&report_id=eq.${id}`,
    );
    await waitForRows(page, 1);
    expect(await page.locator("tbody").textContent()).toContain("not shown");
    await page.getByRole("rowheader").getByRole("link").click();
    await page.getByText(/^Everything else about this report is not shown/).waitFor();
    expect(await page.locator("#result").locator("xpath=..").textContent()).not.toMatch(/\(0\)|: none/);
    const button = page.getByRole("button", { name: "Get the PDF with your key" });
    expect(await button.or(page.getByRole("link", { name: "PDF of the report" })).count()).toBe(0);
    await page.goBack();
    await openMore(page);
    await page.getByLabel("Your own API key").fill(site.facts.keys.tribal);
    expect(await readCommand(page)).toContain("$API_KEY");
    await submit(page);
    await expect.poll(() => page.locator("tbody").textContent()).not.toContain("not shown");
    await page.getByRole("rowheader").getByRole("link").click();
    const [answer] = await Promise.all([
      page.context().waitForEvent("response", (each) => each.url().includes("/pdf/ota/")),
      button.click(),
    ]);
    expect(answer.status()).toBe(302);
    expect((await (await fetch(answer.headers().location ?? "")).text()).slice(0, 5)).toBe("%PDF-");
    await checkAccessibility();
    const kept = (await page.evaluate(
      "JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie, location.href, history.state, document.body.innerText])",
    )) as string;
    expect(kept).not.toContain(site.facts.keys.tribal);
    // As a browser says that it shows again a page that somebody had left.
    await Promise.all([
      page.waitForEvent("load"),
      page.evaluate("void dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))"),
    ]);
    await page.getByText(/^Everything else about this report is not shown/).waitFor();
    await leave();
  });
});

describe("a download of many rows", () => {
  const many = 20_500;
  beforeAll(async () => {
    await site.query(
      `insert into disclosed.passthrough
       select p.* from (select * from disclosed.passthrough limit 1) as p, generate_series(1, $1)`,
      [many],
    );
    await site.query(
      `update disclosed.passthrough as p set passthrough_id = 'copy ' || n.row
       from (select ctid, row_number() over () as row from disclosed.passthrough) as n where n.ctid = p.ctid`,
    );
    // The number of requests follows from the planner's estimate.
    await site.query("vacuum analyze disclosed.passthrough");
  }, 60_000);

  it("says how many requests it takes, fetches every row once, and can be canceled", async () => {
    const { page, leave } = await site.open(`${start}/passthrough?order=award_reference.desc&limit=5`);
    await waitForRows(page, 1);
    const button = page.getByRole("button", { name: "CSV (about 2 requests)" });
    await button.click();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("Canceled.").waitFor();
    const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
    const lines = (await readFile(await download.path(), "utf8")).trimEnd().split("\n");
    const [counted] = await site.query<{ rows: string }>(
      "select count(*) as rows from disclosed.passthrough",
    );
    expect(lines).toHaveLength(Number(counted?.rows) + 1);
    expect(new Set(lines).size).toBe(lines.length);
    await page.getByText(`${Number(counted?.rows).toLocaleString("en-US")} rows saved.`).waitFor();
    await leave();
  });

  it("scrolls under headings that stay, at most 500 at a time", async () => {
    const { page, leave } = await site.open(`${start}/passthrough?limit=20000`);
    await page.getByText(/^Rows 1–500 of about [\d,]+ · /).waitFor();
    const heading = page.getByRole("columnheader").first();
    const before = (await heading.boundingBox())?.y ?? -1;
    await page.getByRole("group", { name: "Rows" }).evaluate((it) => it.scrollTo(0, 5000));
    expect((await heading.boundingBox())?.y).toBeCloseTo(before, 0);
    await leave();
  });
});

describe.each(["light", "dark"] as const)("in %s colors", (colorScheme) => {
  it.each([1280, 640, 360])("fits a screen of %d pixels, and is accessible", async (width) => {
    const { page, leave, checkAccessibility, checkFit, takePicture } = await site.open("/explorer", {
      colorScheme,
      viewport: { width, height: 800 },
    });
    await page.getByLabel("Comparison 1").selectOption("in");
    await page.getByLabel("Value 1").fill("a\nb");
    for (const summary of await page.locator("summary").all()) await summary.click();
    await checkFit();
    await checkAccessibility();
    await takePicture(`explorer-form-${colorScheme}-${width}`);
    await page.evaluate(
      "location.hash = '#api_v1_1_0/federal_awards?order=amount_expended.desc.nullslast&limit=20'",
    );
    await waitForRows(page, 1);
    await checkFit();
    await checkAccessibility();
    await takePicture(`explorer-rows-${colorScheme}-${width}`, false);
    await page.getByRole("rowheader").first().getByRole("link").click();
    await page.getByRole("link", { name: "The report", exact: true }).waitFor();
    await checkFit();
    await checkAccessibility();
    await takePicture(`explorer-row-${colorScheme}-${width}`);
    await leave();
  });
});

describe("an error", () => {
  it.each([
    ["an unknown report", "/general?report_id=eq.2023-06-GSAFAC-9999999999", /^404: There is no report/],
    ["an unknown table", "/generals", /^404: /],
    ["a malformed parameter", "/general?or=(audit_year.is", /^400: /],
  ])("for %s says what happened", async (_what, target, text) => {
    const { page, leave, checkAccessibility } = await site.open(`${start}${target}`);
    await page.getByText(text).waitFor();
    await checkAccessibility();
    await leave();
  });

  it("for an unknown key says what to do, and does not repeat the key", async () => {
    const { page, leave } = await site.open("/explorer");
    await openMore(page);
    await page.getByLabel("Your own API key").fill("not-a-key-of-anybody");
    await submit(page);
    await page.getByText(/^401: The API key is not valid/).waitFor();
    await page.getByText("Use DEMO_KEY to try the API.").waitFor();
    expect(await page.locator("body").innerText()).not.toContain("not-a-key-of-anybody");
    await leave();
  });

  it.each([
    [
      "while the service is switched off says so",
      "update publication.settings set is_open = false",
      /^503: This service is switched off/,
      "update publication.settings set is_open = true",
    ],
    [
      "for a query that runs too long names the whole table as a file",
      "update access.tiers set statement_timeout = '1 ms' where name = 'demo'",
      "download the whole table as a file",
      "update access.tiers set statement_timeout = '10 s' where name = 'demo'",
    ],
  ])("%s", async (_name, change, text, revert) => {
    const { page, leave } = await site.open("/explorer");
    await site.query(change);
    try {
      await page.evaluate("location.hash = '#api_v1_1_0/passthrough?order=passthrough_name'");
      await page.getByText(text).waitFor();
    } finally {
      await site.query(revert);
    }
    await leave();
  });

  // The last, because it leaves no requests.
  it("over the limit says why, when it ends in the visitor's time zone, and where keys are", async () => {
    const untilNextHour = 3_600_000 - (Date.now() % 3_600_000);
    if (untilNextHour < 30_000) await sleep(untilNextHour + 500);
    const { page, leave } = await site.open("/explorer", { timezoneId: "America/Chicago" });
    await submit(page);
    await waitForRows(page, 1);
    await site.spendDemonstration();
    await submit(page);
    await page.getByText(/^429: /).waitFor();
    await page
      .getByText(/^0 requests of 1,?000 left until (\w+day( at|,)? )?\d+:\d\d [AP]M C[DS]T\. Wait until then/)
      .waitFor();
    await page.getByRole("link", { name: "get a key of your own" }).click();
    await page.waitForURL(`${site.facts.app_url}/#keys`);
    await leave();
  });
});
