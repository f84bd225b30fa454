import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Language } from "../../../report-service/site/request-snippets.ts";
import { connect } from "../../../service/connect.ts";
import { columns, tables } from "../../support/columns.ts";
import { type RunningStack, runStack } from "../../support/run-stack.ts";
import { makeSmallSample } from "../../support/small-sample.ts";
import { startBrowser } from "./browser.ts";
import { runnable, runSnippets } from "./run-snippet.ts";
import { type Visit, visit } from "./visit.ts";

// The pages, as people meet them: in a browser, on a stack of their own, whose limits these tests move.

let stack: RunningStack;
let browser: Browser;
const ends: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const sample = await makeSmallSample();
  ends.push(sample.remove);
  const started = startBrowser();
  stack = await runStack({
    args: ["--data", sample.directory],
    env: { ENVIRONMENT: "production", CONTACT: "mailto:keys@example.gov" },
  });
  ends.push(stack.dispose);
  const chrome = await started;
  ends.push(chrome.stop);
  browser = chrome.browser;
  await query(
    `insert into deployment.retired_versions (version, deprecated_at, sunset_at, link)
     values ('v1_1_0', '2027-01-01T00:00Z', '2027-06-30T00:00Z', 'https://example.gov/moving')`,
  );
  await limitDemonstration(100_000);
}, 120_000);
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

async function query<Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> {
  const client = await connect(stack.facts.database_url, "test");
  try {
    return (await client.query<Row>(sql, values)).rows;
  } finally {
    await client.end();
  }
}

/** Sets the demonstration key's limit, and waits until the gateway has heard of it. */
async function limitDemonstration(requests: number): Promise<void> {
  await query("update access.tiers set requests_per_hour = $1, requests_per_day = $1 where name = 'demo'", [
    requests,
  ]);
  for (const giveUpAt = Date.now() + 10_000; ; await sleep(100)) {
    const limit = (await ask("/general?limit=0")).headers.get("x-ratelimit-limit-hour");
    if (limit === String(requests)) return;
    if (Date.now() > giveUpAt) throw new Error(`The gateway still allows ${limit} requests an hour.`);
  }
}

const ask = (target: string, key = "DEMO_KEY", headers: Record<string, string> = {}) =>
  fetch(stack.facts.base_url + target, { headers: { "x-api-key": key, ...headers } });

const open = (target: string, options: BrowserContextOptions = {}): Promise<Visit> =>
  visit(browser, stack.facts.app_url + target, [stack.facts.app_url, stack.facts.base_url], options);

const number = (text: string | null) => Number(text?.replaceAll(",", ""));

describe("the landing page", () => {
  it("tells what is live, from when, how large it is and when the next is due", async () => {
    const { page, leave } = await open("/");
    const [dataSet] = await query<{ id: string; published_at: Date }>(
      "select id, published_at from publication.data_sets where state = 'live'",
    );
    const live = page.getByRole("region", { name: "The data that is live" });
    expect(await live.textContent()).toContain(dataSet?.id);
    const [published, due] = await live
      .locator("time")
      .evaluateAll((times) => times.map((time) => time.getAttribute("datetime")));
    expect(published).toBe(dataSet?.published_at.toISOString());
    const next = new Date(due ?? "");
    expect(next.getTime()).toBeGreaterThan(Date.now());
    expect(
      next.toLocaleString("en-US", { timeZone: "America/New_York", weekday: "long", hour: "numeric" }),
    ).toMatch(/Wednesday.*5 AM/);
    for (const table of tables) {
      const [counted] = await query<{ rows: string }>(`select count(*) as rows from disclosed.${table}`);
      const row = live.getByRole("row", { name: new RegExp(`^${table} `) });
      expect(number(await row.getByRole("cell").textContent())).toBe(Number(counted?.rows));
    }
    await leave();
  });

  it("draws submissions by year and by state, with the numbers of the data as tables", async () => {
    const { page, leave } = await open("/");
    for (const [plot, column, mark] of [
      ["years", "audit_year", ".bar"],
      ["states", "auditee_state", ".tile:not(.tile--none)"],
    ] as const) {
      const rows = await query<{ name: string; submissions: string }>(
        `select coalesce(nullif(${column}, ''), 'not stated') as name, count(*) as submissions
         from disclosed.general group by 1 order by 1`,
      );
      expect(rows.length).toBeGreaterThan(3);
      const shown = await page
        .locator(`#${plot}-table tbody tr`)
        .evaluateAll((trs) => trs.map((tr) => [...tr.children].map((cell) => cell.textContent)));
      expect(shown.sort()).toEqual(rows.map(({ name, submissions }) => [name, submissions]).sort());
      const svg = page.locator(`svg[aria-labelledby=${plot}-title]`);
      expect(await svg.locator(mark).count()).toBe(rows.filter(({ name }) => name !== "not stated").length);
      expect((await svg.boundingBox())?.height).toBeGreaterThan(100);
    }
    await leave();
  });

  it("says the same without JavaScript", async () => {
    const { page, leave } = await open("/", { javaScriptEnabled: false });
    expect(await page.locator(".bar").count()).toBeGreaterThan(3);
    expect(await page.getByRole("button").count()).toBe(0);
    expect(await page.locator("pre").first().textContent()).toContain("DEMO_KEY");
    await leave();
  });

  it("has a first command that works as it is copied", async () => {
    const { page, leave } = await open("/", { permissions: ["clipboard-read", "clipboard-write"] });
    await page
      .getByRole("button", { name: "Copy: Command that asks for the three newest submissions" })
      .click();
    await page.getByText("Copied.").waitFor();
    const command = (await page.evaluate("navigator.clipboard.readText()")) as string;
    const rows = JSON.parse(execFileSync("/bin/sh", ["-c", command], { encoding: "utf8" }));
    expect(rows).toHaveLength(3);
    expect(Object.keys(rows[0])).toEqual(["report_id", "auditee_name", "audit_year"]);
    await leave();
  });

  it("has commands for a suppressed report that work one after the other", async () => {
    const { page, leave } = await open("/");
    const steps = await page.locator(".steps pre").allTextContents();
    const { keys, sample } = stack.facts;
    const commands = steps
      .join("\n")
      .replace("YOUR_KEY", keys.tribal)
      .replace("2023-06-GSAFAC-0000000001", sample.suppressed_report_id ?? "");
    const output = execFileSync("/bin/sh", ["-ec", commands], { cwd: stack.directory, encoding: "utf8" });
    expect(output).toContain(sample.suppressed_report_id);
    expect(await readFile(path.join(stack.directory, "report.pdf"), "latin1")).toMatch(/^%PDF-/);
    await leave();
  });

  it("tells who gives keys, and the limits as the database has them", async () => {
    const { page, leave } = await open("/");
    const keys = page.getByRole("region", { name: "Keys and limits" });
    expect(await keys.getByRole("row", { name: /^Individual/ }).textContent()).toContain(
      "1,000 requests an hour",
    );
    expect(await keys.getByRole("link").first().getAttribute("href")).toBe("mailto:keys@example.gov");
    await leave();
  });
});

describe("the reference", () => {
  it("has every table and column of the contract, with type and description", async () => {
    const { page, leave } = await open("/reference");
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
    const { page, leave } = await open("/reference");
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
    const { page, leave } = await open("/reference");
    const row = page.getByRole("row", { name: /^api_v1_1_0/ });
    expect(await row.getByRole("cell").allTextContents()).toEqual([
      expect.stringContaining("2027-01-01"),
      "2027-06-30",
    ]);
    expect(await row.getByRole("link").getAttribute("href")).toBe("https://example.gov/moving");
    await leave();
  });

  it("describes the admin version to a Tribal key, and keeps the key nowhere", async () => {
    const { page, leave } = await open("/reference");
    await page.getByLabel("Version", { exact: true }).selectOption("admin_api_v1_1_0");
    await page.getByText("This needs an API key with Tribal access.").waitFor();
    await page.getByText("Your own").click();
    await page.getByLabel("Your key").fill(stack.facts.keys.tribal);
    await page.getByRole("button", { name: "Ask again" }).click();
    await page.getByRole("heading", { name: /request_file_access/ }).waitFor();
    const kept = (await page.evaluate(
      "JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie, location.href])",
    )) as string;
    expect(kept).toContain("description");
    expect(kept).not.toContain(stack.facts.keys.tribal);
    await leave();
  });

  it("asks the API once for what two pages need", async () => {
    const { page, leave } = await open("/reference");
    await page.getByText(`in ${tables.length} tables`).waitFor();
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.getByRole("link", { name: "Explorer", exact: true }).click();
    await page.getByLabel("Table", { exact: true }).waitFor();
    expect(asked.filter((url) => url.startsWith(stack.facts.base_url))).toEqual([]);
    await leave();
  });

  it.each(runnable)(
    "has an example of each table that works in %s",
    { timeout: 60_000 },
    async (language) => {
      const { page, leave } = await open("/reference");
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
        const rows = await (await ask(url.slice(stack.facts.base_url.length))).json();
        expect(rows.length).toBeGreaterThan(0);
        if (language === "r") expect(printed[index]).toContain(rows[0].report_id);
        else expect(JSON.parse(printed[index] ?? "")).toEqual(rows);
      }
      await leave();
    },
  );

  it("leads to the explorer with the example filled in", async () => {
    const { page, leave } = await open("/reference#findings");
    await page.getByRole("link", { name: "Open findings in the explorer" }).click();
    await page.getByText("GET /findings?select=").waitFor();
    expect(await page.getByLabel("Table", { exact: true }).inputValue()).toBe("findings");
    expect(await page.getByLabel("Rows a page").inputValue()).toBe("5");
    await leave();
  });
});

describe("the explorer", () => {
  it("builds a request, sends it, and shows the rows as a table, as JSON and as CSV", async () => {
    const { page, leave, takePicture } = await open("/explorer");
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
    await page.getByLabel("Direction 1").selectOption("desc");
    await page.getByRole("button", { name: "Add an order" }).click();
    await page.getByLabel("Order by 2").selectOption("report_id");
    await page.getByLabel("Rows a page").fill("7");
    await page.getByLabel(/^Count all rows/).check();
    const target =
      "/federal_awards?select=report_id,award_reference,amount_expended&amount_expended=gte.1000&order=amount_expended.desc,report_id&limit=7";
    expect((await page.locator("#request-line").textContent())?.split("\n")).toEqual([
      `GET ${target}`,
      `host: ${new URL(stack.facts.base_url).host}`,
      "accept-profile: api_v1_1_0",
      "prefer: count=exact",
      "x-api-key: DEMO_KEY",
    ]);
    expect(page.url()).toBe(`${stack.facts.app_url}/explorer#api_v1_1_0${target}`);

    await page.getByRole("button", { name: "Send the request" }).click();
    await page
      .getByText(/^Status 206 · 7 rows · [\d,]+ in all · \d+ ms · [\d]+ of 100000 requests left this hour$/)
      .waitFor();
    const rows = await (await ask(target)).json();
    const cells = await page
      .locator(".rows-table tbody tr")
      .evaluateAll((trs) => trs.map((tr) => [...tr.children].map((cell) => cell.textContent)));
    expect(cells).toEqual(rows.map((row: Record<string, unknown>) => Object.values(row).map(String)));
    await takePicture("explorer-result");
    await page.getByRole("tab", { name: "JSON" }).click();
    expect(
      JSON.parse((await page.getByRole("group", { name: "Answer as JSON" }).textContent()) ?? ""),
    ).toEqual(rows);
    await page.getByRole("tab", { name: "Headers" }).click();
    for (const name of ["x-ratelimit-remaining-hour", "etag", "data-set", "content-range"]) {
      expect(await page.getByRole("row", { name: new RegExp(`^${name} `) }).count(), name).toBe(1);
    }
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download CSV" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("federal_awards.csv");
    const csv = await readFile(await download.path(), "utf8");
    expect(csv).toBe(await (await ask(target, "DEMO_KEY", { accept: "text/csv" })).text());

    await page.getByRole("tab", { name: "Table" }).click();
    await page.getByRole("button", { name: "Next page" }).click();
    const [next] = await (await ask(`${target}&offset=7`)).json();
    await page.getByRole("cell", { name: next.report_id, exact: true }).first().waitFor();
    await leave();
  });

  it("opens a link with the same query, and drops a key that someone put into it", async () => {
    const { page, leave } = await open(
      "/explorer#api_v1_1_0/general?auditee_state=in.(%22CA%22,%22TX%22)&auditee_name=ilike.*city*&or=(a.eq.1)&api_key=secret&order=report_id.desc&limit=3",
    );
    await page.getByLabel("Value 1").waitFor();
    expect(await page.getByLabel("Value 1").inputValue()).toBe("CA\nTX");
    expect(await page.getByLabel("Value 2").inputValue()).toBe("*city*");
    expect(await page.getByText("or=(a.eq.1)").count()).toBe(1);
    expect(page.url()).not.toContain("secret");
    expect(await page.locator("body").textContent()).not.toContain("secret");
    await page.getByRole("button", { name: "Send the request" }).click();
    await page.getByText(/^Status 200/).waitFor();
    await leave();
  });

  it("shows a refused key with the API's hint, and keeps the key out of address, storage and commands", async () => {
    const { page, leave, checkAccessibility, takePicture } = await open("/explorer");
    await page.getByLabel("Table", { exact: true }).waitFor();
    await page.getByText("Your own").click();
    await page.getByLabel("Your key").fill("not-a-key-of-anybody");
    await page.getByRole("button", { name: "Send the request" }).click();
    const status = page.locator("#status");
    await status.getByText(/^Status 401/).waitFor();
    expect(await status.textContent()).toContain(
      JSON.parse(await (await ask("/general", "nobody")).text()).message,
    );
    for (const language of ["curl", "Python", "R", "TypeScript"]) {
      await page.getByRole("tab", { name: language, exact: true }).click();
      expect(await page.getByRole("group", { name: `Request in ${language}` }).textContent()).toContain(
        "API_KEY",
      );
    }
    const kept = (await page.evaluate(
      "JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie, location.href, document.body.innerText])",
    )) as string;
    expect(kept).not.toContain("not-a-key-of-anybody");
    await checkAccessibility();
    await takePicture("explorer-401");
    await leave();
  });

  it("shows an unknown report as 404, with the hint what an ID looks like", async () => {
    const { page, leave } = await open(
      "/explorer#api_v1_1_0/general?report_id=eq.2023-06-GSAFAC-9999999999&limit=1",
    );
    await page.getByLabel("Value 1").waitFor();
    await page.getByRole("button", { name: "Send the request" }).click();
    const status = page.locator("#status");
    await status.getByText(/^Status 404/).waitFor();
    expect(await status.textContent()).toContain("There is no report with this report_id.");
    expect(await status.textContent()).toContain("Hint: A report_id looks like 2023-06-GSAFAC-0000000001.");
    await leave();
  });

  it("says when to come back when the limit is reached", { timeout: 40_000 }, async () => {
    const left = 3_600_000 - (Date.now() % 3_600_000);
    if (left < 15_000) await sleep(left + 500);
    const { page, leave, takePicture } = await open("/explorer");
    await page.getByLabel("Table", { exact: true }).waitFor();
    try {
      await limitDemonstration(1);
      await page.getByRole("button", { name: "Send the request" }).click();
      const status = page.locator("#status");
      await status.getByText(/^Status 429/).waitFor();
      expect(await status.textContent()).toMatch(
        /Come back in (\d+ (hours|minutes), at \d+:\d\d|\d+ seconds)/,
      );
      await takePicture("explorer-429");
    } finally {
      await limitDemonstration(100_000);
    }
    await leave();
  });
});

describe("with the keyboard alone", () => {
  it("the skip link leads past the navigation", async () => {
    const { page, leave } = await open("/");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to main content");
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement.id")).toBe("main");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Try it in the browser");
    await leave();
  });

  it("a query is built, sent and read", async () => {
    const { page, leave } = await open("/explorer");
    await page.getByLabel("Table", { exact: true }).waitFor();
    const describeFocus = () =>
      page.evaluate(
        "(() => { const it = document.activeElement; return (it.labels?.[0]?.textContent ?? it.getAttribute('aria-label') ?? it.textContent).trim(); })()",
      ) as Promise<string>;
    const goTo = async (name: string) => {
      for (let step = 0; step < 60; step += 1) {
        if ((await describeFocus()) === name) return;
        await page.keyboard.press("Tab");
      }
      throw new Error(`The Tab key never comes to ${name}.`);
    };
    await goTo("Add a filter");
    // Every stop shows where the focus is.
    expect(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Shift+Tab");
    expect(await describeFocus()).toBe("Value 1");
    await page.keyboard.type("2023");
    await page.keyboard.press("Enter");
    await page.getByText(/^Status 200/).waitFor();
    await goTo("Table");
    while ((await page.evaluate("document.activeElement.getAttribute('role')")) !== "tab")
      await page.keyboard.press("Tab");
    await goTo("Table");
    await page.keyboard.press("ArrowRight");
    expect(await page.getByRole("tab", { name: "JSON" }).getAttribute("aria-selected")).toBe("true");
    await page.keyboard.press("Tab");
    expect(await describeFocus()).toBe("Answer as JSON");
    await leave();
  });
});

describe.each(["light", "dark"] as const)("in %s colours", (colorScheme) => {
  it.each(["/", "/reference", "/explorer"])(
    "%s has no accessibility violation, and fits into 320 px",
    async (target) => {
      const { page, leave, checkAccessibility, checkWidth, takePicture } = await open(target, {
        colorScheme,
      });
      const name = target.slice(1) || "home";
      if (target === "/reference") await page.getByText("columns in").waitFor();
      if (target === "/explorer") {
        await page.getByRole("button", { name: "Add a filter" }).click();
        await page.getByRole("button", { name: "Add an order" }).click();
        await page.getByLabel("Comparison 1").selectOption("in");
        await page.getByLabel("Value 1").fill("2022\n2023");
        await page.getByLabel("Rows a page").fill("3");
        await page.getByRole("button", { name: "Send the request" }).click();
        await page.getByText(/^Status 200/).waitFor();
      }
      for (const summary of await page.locator("summary").all()) await summary.click();
      await checkAccessibility();
      if (target !== "/reference") await takePicture(`${name}-${colorScheme}`);
      await page.setViewportSize({ width: 320, height: 640 });
      await checkWidth();
      await checkAccessibility();
      if (target !== "/reference") await takePicture(`${name}-${colorScheme}-320`);
      await leave();
    },
  );
});
