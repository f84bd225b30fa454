import { beforeAll, expect, it } from "vitest";
import type { Site } from "./open-site.ts";
import { hasFocus, readCells, waitForRows } from "./read-answer.ts";

export function testAnswers(getSite: () => Site): void {
  let site: Site;
  beforeAll(() => {
    site = getSite();
  });
  const start = "/explorer#api_v1_1_0";

  it("is paged without a row twice, also where the order has ties", async () => {
    const { page, leave } = await site.open(`${start}/findings?order=is_repeat_finding&limit=9`);
    const seen: string[] = [];
    for (let from = 1; seen.length < 63; from += 9) {
      await waitForRows(page, from);
      for (const [report, award, reference] of await readCells(page))
        seen.push([report?.replace(/^Open row \d+: /, ""), award, reference].join(" "));
      expect(await hasFocus(page)).toBe(true);
      await page.getByRole("button", { name: "Next" }).click();
    }
    expect(new Set(seen).size).toBe(seen.length);
    await leave();
  });

  it("says so when the data changes between two pages, and starts again", async () => {
    const { page, leave, watchEffort } = await site.open(`${start}/general?limit=3`);
    await waitForRows(page, 1);
    const effort = await watchEffort();
    try {
      await site.query(
        `insert into deployment.api_schemas (sha256, contracts, is_promise, definitions, fingerprint)
         values ('another', '[]', false, '{}', '{}')`,
      );
      await page.getByRole("button", { name: "Next" }).click();
      await page.getByText("412: The data set or the API has changed since this ETag was sent.").waitFor();
      await page.getByRole("button", { name: "Start again from the first row" }).click();
      await waitForRows(page, 1);
      // Next, and again.
      expect(effort()).toEqual({ clicks: 2, requests: 2 });
    } finally {
      await site.query("delete from deployment.api_schemas where sha256 = 'another'");
    }
    await leave();
  });

  it("has the largest first, and nulls last, as the link says; an order without that stays as it is", async () => {
    const { page, leave } = await site.open("/explorer");
    await page.getByRole("button", { name: "Add an order" }).click();
    await page.getByLabel("Order by 1").selectOption("total_amount_expended");
    await page.getByLabel("Direction 1").selectOption({ label: "largest first (desc.nullslast)" });
    await page.getByRole("button", { name: "Send the request" }).click();
    await waitForRows(page, 1);
    const place = (await page.getByRole("columnheader").allTextContents()).indexOf("total_amount_expended");
    const [largest] = await site.query<{ amount: string }>(
      "select max(total_amount_expended) as amount from disclosed.general",
    );
    expect((await readCells(page))[0]?.[place]).toBe(Number(largest?.amount).toLocaleString("en-US"));
    const link = `${page.url()}`;
    expect(link).toContain("order=total_amount_expended.desc.nullslast");
    await page.goto("about:blank");
    await page.goto(link);
    await waitForRows(page, 1);
    expect(await page.getByLabel("Direction 1").inputValue()).toBe("desc.nullslast");
    await page.evaluate("location.hash = '#api_v1_1_0/general?order=total_amount_expended.desc&limit=5'");
    await page.getByRole("cell", { name: "null" }).first().waitFor();
    expect(await page.getByLabel("Direction 1").inputValue()).toBe("desc");
    await leave();
  });

  it("is paged as it was asked when the form has changed, and says that the form has", async () => {
    const { page, leave } = await site.open(`${start}/general?order=report_id&limit=5`);
    await waitForRows(page, 1);
    await page.getByLabel("Rows a page").fill("11");
    await page.getByRole("button", { name: "Add a filter" }).click();
    await page.getByLabel("Value 1").fill("2022");
    await page.getByText("The form has changed since.").waitFor();
    await page.getByRole("button", { name: "Next" }).click();
    await waitForRows(page, 6);
    const rows = await (await site.ask("/general?select=report_id&order=report_id&limit=5&offset=5")).json();
    expect((await readCells(page)).map(([first]) => first?.replace(/^.*: /, ""))).toEqual(
      rows.map((row: { report_id: string }) => row.report_id),
    );
    expect(await page.getByLabel("Rows a page").inputValue()).toBe("11");
    await page.locator("#table").selectOption("findings");
    expect(await page.getByText("The form has changed since.").isVisible()).toBe(true);
    await page.getByRole("button", { name: "Send the changed request" }).click();
    await page.getByRole("columnheader", { name: "reference_number" }).waitFor();
    expect(await page.getByText("The form has changed since.").count()).toBe(0);
    await leave();
  });

  it("keeps a number of rows that is too large, and explains it", async () => {
    const { page, leave } = await site.open("/explorer");
    const field = page.getByLabel("Rows a page");
    await field.fill("25000");
    await page.getByRole("button", { name: "Send the request" }).click();
    expect(await field.inputValue()).toBe("25000");
    await page.getByText("A request gives at most 20,000 rows.").waitFor();
    expect(await page.evaluate("document.activeElement.id")).toBe("limit");
    expect(await page.getByText("Nothing has been sent yet.").count()).toBe(1);
    await field.fill("20");
    await page.keyboard.press("Enter");
    await waitForRows(page, 1);
    await leave();
  });

  it("is found by values as people write them", async () => {
    const [row] = await site.query<Record<string, string>>(
      `select auditee_uei, auditee_ein, auditee_state, report_id from disclosed.general
       where length(auditee_uei) = 12 and auditee_ein <> '' and auditee_state is not null
         and is_low_risk_auditee = 'Yes' and audit_year = '2023' limit 1`,
    );
    const ein = row?.auditee_ein ?? "";
    const { page, leave } = await site.open("/explorer");
    for (const [column, typed, sent] of [
      ["audit_year", "2023%20", "2023"],
      ["auditee_state", row?.auditee_state?.toLowerCase(), row?.auditee_state],
      ["auditee_uei", ` ${row?.auditee_uei?.toLowerCase()}`, row?.auditee_uei],
      ["auditee_ein", `${ein.slice(0, 2)}-${ein.slice(2)}`, ein],
      ["is_low_risk_auditee", "yes", "Yes"],
      ["report_id", row?.report_id?.toLowerCase(), row?.report_id],
      ["total_amount_expended", "$1,000,000", "1000000"],
    ]) {
      const operator = column === "total_amount_expended" ? "gte" : "eq";
      await page.evaluate((hash) => {
        location.hash = hash;
      }, `#api_v1_1_0/general?${column}=${operator}.${typed}&limit=5`);
      await page.getByText(`GET /general?${column}=${operator}.${sent}&`).first().waitFor();
      await waitForRows(page, 1);
      expect(await page.getByLabel("Value 1").inputValue()).toBe(sent);
    }
    await leave();
  });

  it("offers known values, and looks for a part of a name without asterisks", async () => {
    const { page, leave } = await site.open("/explorer");
    await page.getByRole("button", { name: "Add a filter" }).click();
    await page.getByLabel("Column 1").selectOption("entity_type");
    expect(
      await page.locator("datalist option").evaluateAll((all) => all.map((it) => it.getAttribute("value"))),
    ).toEqual(["state", "local", "tribal", "higher-ed", "non-profit", "unknown"]);
    await page.getByText("Known: state, local, tribal, higher-ed, non-profit, unknown.").waitFor();
    await page.getByLabel("Column 1").selectOption("auditee_name");
    expect(await page.getByLabel("Comparison 1").inputValue()).toBe("contains");
    const [name] = await site.query<{ part: string }>(
      "select upper(split_part(auditee_name, ' ', 1)) as part from disclosed.general where auditee_name is not null limit 1",
    );
    await page.getByLabel("Value 1").fill(name?.part ?? "");
    await page.getByText(`GET /general?auditee_name=ilike.*${name?.part}*&`).first().waitFor();
    await page.getByRole("button", { name: "Send the request" }).click();
    await waitForRows(page, 1);
    await leave();
  });

  it("of no rows is not praised, and says what to leave out", async () => {
    const { page, leave, checkAccessibility } = await site.open(
      `${start}/general?audit_year=eq.1899&auditee_state=eq.CA`,
    );
    await page.getByText("No row matches all of the filters.").waitFor();
    expect(await page.locator(".notice--good").count()).toBe(0);
    await page.getByText(/^audit_year is not known to be “1899”: 20\d\d, /).waitFor();
    await checkAccessibility();
    await page.getByRole("button", { name: "Without “audit_year is 1899”" }).click();
    await waitForRows(page, 1);
    await leave();
  });

  it.each([
    [
      "or",
      "general",
      "or=(audit_year.eq.2022,audit_year.eq.2023)",
      "or=(audit_year.eq.2022,audit_year.eq.2023)",
    ],
    ["fts", "general", "auditee_name=fts.county", "auditee_name=fts.county"],
    [
      "a renamed embedding",
      "federal_awards",
      "select=report_id,of:general(auditee_name)",
      "select=report_id,of%3Ageneral(auditee_name)",
    ],
    [
      "an inner join",
      "findings",
      "select=report_id,general!inner(auditee_state)&general.auditee_state=eq.CA",
      "",
    ],
    ["a list of quoted values", "general", "auditee_state=in.(%22CA%22,%22TX%22)", ""],
    ["an operator with any", "general", "auditee_name=ilike(any).{*city*,*county*}", ""],
  ])("comes at once to a link with %s, of which nothing is lost", async (_what, table, search) => {
    const { page, leave } = await site.open(`${start}/${table}?${search}&limit=5`);
    await waitForRows(page, 1);
    const rows = await (
      await site.ask(
        `/${table}?${search}&order=${table === "general" ? "report_id" : table === "findings" ? "report_id,award_reference,reference_number" : "report_id,award_reference"}&limit=5`,
      )
    ).json();
    await page.getByRole("tab", { name: "JSON" }).click();
    expect(
      JSON.parse((await page.getByRole("group", { name: "Answer as JSON" }).textContent()) ?? ""),
    ).toEqual(rows);
    // Once more, from what the page has made of the link.
    const link = page.url();
    await page.goto("about:blank");
    await page.goto(link);
    await waitForRows(page, 1);
    await page.getByRole("tab", { name: "JSON" }).click();
    expect(
      JSON.parse((await page.getByRole("group", { name: "Answer as JSON" }).textContent()) ?? ""),
    ).toEqual(rows);
    await leave();
  });

  it("shows what the form lacks in a field of its own, and the chosen tables beside each row", async () => {
    const { page, leave } = await site.open(
      `${start}/federal_awards?select=report_id,amount_expended,general(auditee_name)&or=(is_major.eq.Y,is_loan.eq.Y)&limit=4`,
    );
    await waitForRows(page, 1);
    expect(await page.getByLabel("Also send").inputValue()).toBe("or=(is_major.eq.Y,is_loan.eq.Y)");
    expect(await page.getByLabel("Columns of general").inputValue()).toBe("auditee_name");
    await page.getByText("Rows of general").click();
    await page.getByText("Rows of general").click();
    await page.getByLabel("passthrough", { exact: true }).check();
    await page.getByLabel("Also send").fill("or=(is_major.eq.Y,is_direct.eq.N)");
    await page.getByRole("button", { name: "Send the request" }).click();
    await page.getByRole("columnheader", { name: "passthrough" }).waitFor();
    expect(page.url()).toContain("general(auditee_name),passthrough(*)&or=(is_major.eq.Y,is_direct.eq.N)");
    await leave();
  });

  it("has one entry in the browser's history a query, and comes back with it", async () => {
    const { page, leave } = await site.open(`${start}/general?audit_year=eq.2022&limit=2`);
    await waitForRows(page, 1);
    await page.getByRole("button", { name: "Next" }).click();
    await waitForRows(page, 3);
    await page.getByLabel("Value 1").fill("2023");
    await page.getByRole("button", { name: "Send the request" }).click();
    await page.getByRole("cell", { name: "2023", exact: true }).first().waitFor();
    await page.goBack();
    await page.getByRole("cell", { name: "2022", exact: true }).first().waitFor();
    await waitForRows(page, 3);
    expect(await page.getByLabel("Value 1").inputValue()).toBe("2022");
    await page.goForward();
    await page.getByRole("cell", { name: "2023", exact: true }).first().waitFor();
    await leave();
  });
}
