import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, it } from "vitest";
import { plenty, type Site } from "./open-site.ts";

export function testRefusals(getSite: () => Site): void {
  let site: Site;
  beforeAll(() => {
    site = getSite();
  });
  const start = "/explorer#api_v1_1_0";

  it("of a key says what to do, and keeps the key out of address, storage and commands", async () => {
    const { page, leave, checkAccessibility, takePicture } = await site.open("/explorer");
    await page.getByText("Your own").click();
    await page.getByLabel("Your key").fill("not-a-key-of-anybody");
    await page.getByRole("button", { name: "Send the request" }).click();
    const result = page.getByRole("region", { name: "Answer" });
    await result.getByText(/^Status 401/).waitFor();
    expect(await result.textContent()).toContain(
      JSON.parse(await (await site.ask("/general", "nobody")).text()).message,
    );
    expect(await result.getByRole("link", { name: "How to get a key" }).getAttribute("href")).toBe("/#keys");
    for (const language of ["curl", "Python", "R", "TypeScript"]) {
      await page.getByRole("tab", { name: language, exact: true }).click();
      expect(await page.getByRole("group", { name: `Request in ${language}` }).textContent()).toContain(
        "API_KEY",
      );
    }
    const kept = (await page.evaluate(
      "JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie, location.href, history.state, document.body.innerText])",
    )) as string;
    expect(kept).not.toContain("not-a-key-of-anybody");
    await checkAccessibility();
    await takePicture("explorer-401");
    await leave();
  });

  it("of an unknown report is 404, with the hint what an ID looks like", async () => {
    const { page, leave } = await site.open(`${start}/general?report_id=eq.2023-06-GSAFAC-9999999999`);
    await page.getByText("404: There is no report with this report_id.").waitFor();
    await page
      .getByText(/case-sensitive \(example/)
      .first()
      .waitFor();
    await leave();
  });

  it("of a path is a page for people, and JSON for programs", async () => {
    const { page, leave, watchEffort } = await site.open("/refrence");
    const effort = await watchEffort();
    await page.getByRole("heading", { name: "There is no such page." }).waitFor();
    await page.getByRole("link", { name: "Reference" }).last().click();
    await page.getByRole("heading", { name: "Reference", level: 1 }).waitFor();
    expect(effort()).toEqual({ clicks: 1, requests: 0 });
    await page.goto(
      `${site.facts.app_url}/dissemination/report/pdf/ota/00000000-0000-0000-0000-000000000000`,
    );
    await page.getByRole("heading", { name: "There is nothing to download here." }).waitFor();
    await page.getByText("A download link works once, and for one minute.").waitFor();
    const answer = await fetch(`${site.facts.app_url}/refrence`);
    expect([answer.status, answer.headers.get("content-type"), (await answer.json()).code]).toEqual([
      404,
      "application/json; charset=utf-8",
      "download_not_found",
    ]);
    await leave();
  });

  it("of a query that runs too long says what helps", async () => {
    const { page, leave } = await site.open("/explorer");
    await site.query("update access.tiers set statement_timeout = '1 ms' where name = 'demo'");
    try {
      await page.getByLabel("Table", { exact: true }).selectOption("passthrough");
      await page.getByLabel("Rows a page").fill("20000");
      await page.getByRole("button", { name: "Send the request" }).click();
      await page.getByText("500: canceling statement due to statement timeout").waitFor();
      await page.getByText(/^Ask for less at a time: /).waitFor();
      const file = page.getByRole("link", { name: "all public rows of passthrough as a file" });
      expect(await file.getAttribute("href")).toBe("/public-data/passthrough.csv.gz");
    } finally {
      await site.query("update access.tiers set statement_timeout = '10 s' where name = 'demo'");
    }
    await leave();
  });

  it("while the service is away says that nothing is wrong with the request", async () => {
    const { page, leave } = await site.open("/explorer");
    await site.query("update publication.settings set is_open = false");
    try {
      await page.getByRole("button", { name: "Send the request" }).click();
      await page.getByText("503: This service is switched off.").waitFor();
      await page
        .getByText(/Send the request again in (half a minute|\d+ seconds): nothing is wrong/)
        .waitFor();
    } finally {
      await site.query("update publication.settings set is_open = true");
    }
    await leave();
  });

  it("of a download that takes more requests than are left offers the file", async () => {
    const { page, leave } = await site.open("/explorer");
    await page.getByRole("button", { name: "Send the request" }).click();
    await page.getByText(/^Status 200/).waitFor();
    await awaitHour();
    try {
      await site.limitDemonstration(60);
      for (let left = await readLeft(site); left > 1; left -= 1) await site.ask("/general?limit=0");
      await page.getByRole("button", { name: "Download all rows" }).click();
      await page.getByText(/^[\d,]+ rows, 1 request, and 0 are left\./).waitFor();
      const file = page.getByRole("link", { name: "Take all public rows of general as a file" });
      expect(await file.getAttribute("href")).toBe("/public-data/general.csv.gz");
      expect((await fetch(site.facts.app_url + (await file.getAttribute("href")))).status).toBe(200);
    } finally {
      await site.limitDemonstration(plenty);
    }
    await leave();
  });

  it("over the limit says which limit, when it ends and in which time zone, and where keys are", async () => {
    await awaitHour();
    const { page, leave, takePicture, watchEffort } = await site.open("/explorer", {
      timezoneId: "America/Chicago",
    });
    await page.getByLabel("Table", { exact: true }).waitFor();
    try {
      // The one request has shown that the gateway is back.
      await site.limitDemonstration(1);
      await page.getByRole("button", { name: "Send the request" }).click();
      const result = page.getByRole("region", { name: "Answer" });
      await result.getByText(/^Status 429/).waitFor();
      expect(await result.textContent()).toMatch(
        /This (day|hour)’s requests are used up\. There are new ones at .*\d+:\d\d [AP]M C[DS]T, in \d+ (hours|minutes|seconds)\./,
      );
      await takePicture("explorer-429");
      const effort = await watchEffort();
      await result.getByRole("link", { name: "A key of your own" }).click();
      await page.getByRole("region", { name: "Keys and limits" }).getByRole("link").first().waitFor();
      expect(effort()).toEqual({ clicks: 1, requests: 0 });
    } finally {
      await site.limitDemonstration(plenty);
    }
    await leave();
  });
}

/** What is left to the demonstration key of the hour and of the day. */
async function readLeft(site: Site): Promise<number> {
  const { headers } = await site.ask("/general?limit=0");
  const [hour, day] = ["hour", "day"].map((span) => Number(headers.get(`x-ratelimit-remaining-${span}`)));
  return Math.min(hour ?? 0, day ?? 0);
}

/** Not so near the end of an hour that its counters begin anew in the middle. */
async function awaitHour(): Promise<void> {
  const left = 3_600_000 - (Date.now() % 3_600_000);
  if (left < 15_000) await sleep(left + 500);
}
