import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSite, type Site } from "./open-site.ts";

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

describe("the explorer", () => {
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
    await page.getByLabel("Direction 1").selectOption("desc");
    await page.getByRole("button", { name: "Add an order" }).click();
    await page.getByLabel("Order by 2").selectOption("report_id");
    await page.getByLabel("Rows a page").fill("7");
    await page.getByLabel(/^Count all rows/).check();
    const target =
      "/federal_awards?select=report_id,award_reference,amount_expended&amount_expended=gte.1000&order=amount_expended.desc,report_id&limit=7";
    expect((await page.locator("#request-line").textContent())?.split("\n")).toEqual([
      `GET ${target}`,
      `host: ${new URL(site.facts.base_url).host}`,
      "accept-profile: api_v1_1_0",
      "prefer: count=exact",
      "x-api-key: DEMO_KEY",
    ]);
    expect(page.url()).toBe(`${site.facts.app_url}/explorer#api_v1_1_0${target}`);

    await page.getByRole("button", { name: "Send the request" }).click();
    await page
      .getByText(/^Status 206 · 7 rows · [\d,]+ in all · \d+ ms · [\d]+ of 100000 requests left this hour$/)
      .waitFor();
    const rows = await (await site.ask(target)).json();
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
    expect(csv).toBe(await (await site.ask(target, "DEMO_KEY", { accept: "text/csv" })).text());

    await page.getByRole("tab", { name: "Table" }).click();
    await page.getByRole("button", { name: "Next page" }).click();
    const [next] = await (await site.ask(`${target}&offset=7`)).json();
    await page.getByRole("cell", { name: next.report_id, exact: true }).first().waitFor();
    await leave();
  });

  it("opens a link with the same query, and drops a key that someone put into it", async () => {
    const { page, leave } = await site.open(
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
    const { page, leave, checkAccessibility, takePicture } = await site.open("/explorer");
    await page.getByLabel("Table", { exact: true }).waitFor();
    await page.getByText("Your own").click();
    await page.getByLabel("Your key").fill("not-a-key-of-anybody");
    await page.getByRole("button", { name: "Send the request" }).click();
    const status = page.locator("#status");
    await status.getByText(/^Status 401/).waitFor();
    expect(await status.textContent()).toContain(
      JSON.parse(await (await site.ask("/general", "nobody")).text()).message,
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
    const { page, leave } = await site.open(
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

  it("says when to come back when the limit is reached", async () => {
    const left = 3_600_000 - (Date.now() % 3_600_000);
    if (left < 15_000) await sleep(left + 500);
    const { page, leave, takePicture } = await site.open("/explorer");
    await page.getByLabel("Table", { exact: true }).waitFor();
    try {
      await site.limitDemonstration(1);
      await page.getByRole("button", { name: "Send the request" }).click();
      const status = page.locator("#status");
      await status.getByText(/^Status 429/).waitFor();
      expect(await status.textContent()).toMatch(
        /Come back in (\d+ (hours|minutes), at \d+:\d\d|\d+ seconds)/,
      );
      await takePicture("explorer-429");
    } finally {
      await site.limitDemonstration(100_000);
    }
    await leave();
  });
});
