import { beforeAll, expect, it } from "vitest";
import type { Site } from "./open-site.ts";

export function testAccess(getSite: () => Site): void {
  let site: Site;
  beforeAll(() => {
    site = getSite();
  });

  it("opens as a card with its whole texts, and gives the focus back", async () => {
    const [longest] = await site.query<{ report_id: string; finding_text: string }>(
      "select report_id, finding_text from disclosed.findings_text order by length(finding_text) desc limit 1",
    );
    for (const width of [1280, 360]) {
      const { page, leave, checkAccessibility, checkFit, takePicture } = await site.open(
        `/explorer#api_v1_1_0/findings_text?report_id=eq.${longest?.report_id}`,
        { viewport: { width, height: 800 } },
      );
      const opener = page.getByRole("button", { name: /^Open row 1: / });
      const rows = await (await site.ask(`/findings_text?report_id=eq.${longest?.report_id}`)).json();
      await opener.click();
      const card = page.getByRole("dialog", { name: "Row 1 of findings_text" });
      const text = card.locator("dd").filter({ hasText: rows[0].finding_text.slice(0, 40) });
      expect(await text.textContent()).toBe(rows[0].finding_text);
      await card.getByText(/^Federal awards expended/).waitFor();
      await checkFit();
      await checkAccessibility();
      await takePicture(`card-${width}`, false);
      await page.keyboard.press("Escape");
      expect(await card.count()).toBe(0);
      expect(await opener.evaluate((it) => it === document.activeElement)).toBe(true);
      await leave();
    }
  });

  it("leads to what belongs to its report, with counts, and to the auditee's other reports", async () => {
    const [report] = await site.query<{ report_id: string; auditee_uei: string; awards: string }>(
      `select general.report_id, general.auditee_uei, count(*) as awards
       from disclosed.general join disclosed.federal_awards using (report_id)
       where length(general.auditee_uei) = 12 group by 1, 2 order by 3 desc, 1 limit 1`,
    );
    const { page, leave } = await site.open(`/explorer#api_v1_1_0/general?report_id=eq.${report?.report_id}`);
    await page.getByRole("button", { name: /^Open row 1: / }).click();
    const card = page.getByRole("dialog");
    const awards = card.getByRole("listitem").filter({ hasText: "Federal awards expended" });
    await expect.poll(() => awards.textContent()).toBe(`Federal awards expended (${report?.awards})`);
    expect(await card.getByRole("link", { name: "PDF of the report" }).getAttribute("href")).toBe(
      `/dissemination/report/pdf/${report?.report_id}`,
    );
    await awards.getByRole("link").click();
    await page.getByText(new RegExp(`rows 1–${Math.min(100, Number(report?.awards))} `)).waitFor();
    expect(await card.count()).toBe(0);
    expect(await page.evaluate("document.activeElement.id")).toBe("result");
    await page.getByRole("button", { name: /^Open row 1: / }).click();
    await card.getByRole("link", { name: "All reports of this auditee" }).click();
    await page.getByText(`GET /general?auditee_uei=eq.${report?.auditee_uei}&`).first().waitFor();
    await page.getByText(/^Status 200 · rows? 1/).waitFor();
    await leave();
  });

  it("of a suppressed report says what it is, and leads a Tribal key to the PDF in one click", async () => {
    const suppressed = site.facts.sample.suppressed_report_id;
    const { page, leave, checkAccessibility, takePicture, watchEffort } = await site.open(
      `/explorer#api_v1_1_0/general?report_id=eq.${suppressed}`,
    );
    const opener = page.getByRole("button", { name: /^Open row 1: / });
    await opener.click();
    const card = page.getByRole("dialog");
    await card
      .getByText(/keeps this report from public display .* its identifier and nothing else/)
      .waitFor();
    expect(await card.getByRole("button", { name: "Get the PDF with your key" }).count()).toBe(0);
    await card.getByRole("button", { name: "Close" }).click();

    await page.getByText("Your own").click();
    await page.getByLabel("Your key").fill(site.facts.keys.tribal);
    const effort = await watchEffort();
    await page.getByRole("button", { name: "Send the request" }).click();
    await expect.poll(() => page.locator(".rows-table tbody").textContent()).not.toContain("null");
    await opener.click();
    await card.getByText(/^Federal awards expended \(\d/).waitFor();
    const [answer] = await Promise.all([
      page.context().waitForEvent("response", (each) => each.url().includes("/pdf/ota/")),
      card.getByRole("button", { name: "Get the PDF with your key" }).click(),
    ]);
    expect(answer.status()).toBe(302);
    // The rows, what belongs to the one that was opened, and the token.
    expect(effort()).toEqual({ clicks: 3, requests: 3 });
    const pdf = await fetch(answer.headers().location ?? "");
    expect(await pdf.text()).toMatch(/^%PDF-/);
    await card.getByText(/The link works once, for another \d\d seconds\./).waitFor();
    await checkAccessibility();
    await takePicture("card-tribal", false);
    const kept = (await page.evaluate(
      "JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie, location.href, history.state])",
    )) as string;
    expect(kept).not.toContain(site.facts.keys.tribal);
    await leave();
  });

  it("is read with a key that the pages of a tab share, and no other tab, address or storage has", async () => {
    const { page, leave } = await site.open("/explorer");
    await page.getByText("Your own").click();
    await page.getByLabel("Your key").fill(site.facts.keys.tribal);
    const go = (name: string) =>
      page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name }).click();
    await go("Reference");
    await page.getByRole("heading", { name: "Reference", level: 1 }).waitFor();
    expect([page.url(), await page.title()]).toEqual([
      `${site.facts.app_url}/reference`,
      "Reference – Single Audit API",
    ]);
    // It comes after the page's scripts.
    await expect.poll(() => page.evaluate("document.activeElement.id")).toBe("main");
    await page.getByLabel("Search tables and columns").fill("repeated");
    await expect.poll(() => page.locator("[id='general.auditee_name']").isVisible()).toBe(false);
    await go("Overview");
    await page.getByRole("button", { name: "Copy: Command of step 1" }).waitFor();
    await go("Files");
    await page.getByRole("heading", { name: "Files", level: 1 }).waitFor();
    expect(await page.getByRole("link", { name: "Files", exact: true }).getAttribute("aria-current")).toBe(
      "page",
    );
    await page.goBack();
    await go("Totals");
    const state = page.locator("#states tbody a").first();
    await state.click();
    await page.getByText(/^Status 200/).waitFor();
    expect(await page.getByLabel("Your key").inputValue()).toBe(site.facts.keys.tribal);
    await page.goBack();
    await page.locator("#states").waitFor();
    await page.goForward();
    await page.getByText(/^Status 200/).waitFor();
    const kept = (await page.evaluate(
      "JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie, location.href, history.state])",
    )) as string;
    expect(kept).not.toContain(site.facts.keys.tribal);
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByText("Your own").click();
    expect(await other.getByLabel("Your key").inputValue()).toBe("");
    await other.close();
    // As a browser says that it shows again what it had put aside when somebody left for another site.
    await Promise.all([
      page.waitForEvent("load", { timeout: 5_000 }),
      page.evaluate("void dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))"),
    ]);
    await page.getByText("Your own").click();
    expect(await page.getByLabel("Your key").inputValue()).toBe("");
    await page.getByLabel("Your key").fill(site.facts.keys.tribal);
    await page.reload();
    await page.getByText("Your own").click();
    expect(await page.getByLabel("Your key").inputValue()).toBe("");
    await leave();
  });

  it("is not needed for a PDF: the admin version's call is in the explorer", async () => {
    const { page, leave } = await site.open("/explorer");
    await page.getByLabel("Version", { exact: true }).selectOption("admin_api_v1_1_0");
    await page.getByLabel("Report ID").fill(site.facts.sample.suppressed_report_id ?? "");
    await page.getByRole("button", { name: "Get the PDF with your key" }).click();
    await page.getByText("401: This needs an API key with Tribal access.").waitFor();
    await page.getByText("Your own").click();
    await page.getByLabel("Your key").fill(site.facts.keys.tribal);
    const [answer] = await Promise.all([
      page.context().waitForEvent("response", (each) => each.url().includes("/pdf/ota/")),
      page.getByRole("button", { name: "Get the PDF with your key" }).click(),
    ]);
    expect(answer.status()).toBe(302);
    await page.getByLabel("Version", { exact: true }).selectOption("api_v1_1_0");
    await page.getByRole("button", { name: "Send the request" }).waitFor();
    await leave();
  });
}
