import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSite, type Site } from "./open-site.ts";
import type { Visit } from "./visit.ts";

// What people do without a mouse: Tab, Enter, arrows and letters. The file has its own stack.

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

type Page = Visit["page"];

interface Focus {
  name: string;
  isVisible: boolean;
}

/** The name of the element that has the focus, and whether it is in the window and has an outline. */
const readFocus = (page: Page) =>
  page.evaluate(`(() => {
    const it = document.activeElement;
    const { top, bottom } = it.getBoundingClientRect();
    return {
      name: (it.labels?.[0]?.textContent ?? it.getAttribute('aria-label') ?? it.textContent).trim(),
      isVisible: getComputedStyle(it).outlineStyle !== 'none' && top < innerHeight && bottom > 0,
    };
  })()`) as Promise<Focus>;

/** Presses Tab until an element with this name has the focus. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  const seen: string[] = [];
  for (let step = 0; step < 150; step += 1) {
    await page.keyboard.press("Tab");
    const focus = await readFocus(page);
    seen.push(focus.name.slice(0, 40));
    if (!name.test(focus.name)) continue;
    expect(focus).toMatchObject({ isVisible: true });
    return;
  }
  expect.fail(`${name} is not among ${seen.join(" | ")}`);
}

const press = (page: Page, key: string) => page.keyboard.press(key);
async function type(page: Page, field: RegExp, text: string): Promise<void> {
  await tabTo(page, field);
  await press(page, "ControlOrMeta+a");
  await page.keyboard.type(text);
}
const waitForRows = (page: Page) => page.getByText(/^Rows 1–/).waitFor();

describe.each([1280, 360])("by keyboard alone, at %i pixels,", (width) => {
  const open = async (target: string, javaScriptEnabled = true) => {
    const opened = await site.open(target, { viewport: { width, height: 740 }, javaScriptEnabled });
    return opened;
  };

  it.each([true, false])("a person finds an audit and its PDF (scripts: %s)", async (isScripted) => {
    const { page, checkAccessibility, checkFit } = await open("/", isScripted);
    await tabTo(page, /^Skip to main content$/);
    await press(page, "Enter");
    expect(await page.evaluate("document.activeElement.id")).toBe("main");
    await type(page, /^Name of an auditee/, "anasco");
    await press(page, "Enter");
    await page.waitForURL(/\/search/);
    // The auditee's page comes first, then its reports.
    await tabTo(page, /Añasco/i);
    await tabTo(page, /Añasco/i);
    await press(page, "Enter");
    await page.waitForURL(/\/record\//);
    await checkFit();
    if (isScripted) await checkAccessibility();
    await tabTo(page, /^PDF of the report$/);
    expect((await page.evaluate("document.activeElement.href")) as string).toMatch(/\/pdf\/\d{4}-/);
  });

  it("a person finds the programs with most material weaknesses, and their findings", async () => {
    const { page } = await open("/totals");
    await tabTo(page, /^2022$/);
    await press(page, "Enter");
    await page.waitForURL(/year=2022/);
    await tabTo(page, /^By program, audit year 2022$/);
    await tabTo(page, /^Material weaknesses$/);
    await press(page, "Enter");
    await page.waitForURL(/sort=material_weaknesses/);
    await tabTo(page, /^\d\d\.\w+ /);
    await tabTo(page, /^\$/);
    await tabTo(page, /^\d+$/);
    await press(page, "Enter");
    await page.waitForURL(/\/findings\?.*program=/);
  });

  it("a person fills in the form, sorts, turns pages, removes a filter and copies the address", async () => {
    const { page } = await open("/explorer");
    await tabTo(page, /^Table$/);
    await page.keyboard.type("Federal a");
    await tabTo(page, /^Column 1$/);
    await page.keyboard.type("Amount expended");
    await tabTo(page, /^Comparison 1$/);
    await page.keyboard.type("is at least");
    await type(page, /^Value 1$/, "$1 million");
    await tabTo(page, /^Add a filter$/);
    await press(page, "Enter");
    await expect.poll(async () => (await readFocus(page)).name).toBe("Column 2");
    await page.keyboard.type("Audit year");
    await type(page, /^Value 2$/, "2022, 2023");
    await press(page, "Enter");
    await waitForRows(page);
    await page.getByRole("button", { name: "Audit year is one of 2022, 2023" }).waitFor();
    await page.getByRole("button", { name: "Amount expended is at least 1000000" }).waitFor();
    await tabTo(page, /^Next$/);
    await press(page, "Enter");
    await page.getByText(/^Rows 101–/).waitFor();
    if (width > 640) {
      await tabTo(page, /^Amount expended$/);
      await press(page, "Enter");
      await page.locator("[aria-sort=descending]").waitFor();
    }
    await page.evaluate("document.getElementById('result').focus()");
    await tabTo(page, /^Remove the filter: Audit year/);
    await press(page, "Enter");
    await page.waitForURL((url) => !url.hash.includes("audit_year"));
    await waitForRows(page);
    expect(await page.evaluate("document.activeElement.id")).toBe("result");
    await tabTo(page, /^Row 1: /);
    await press(page, "Enter");
    await page.getByRole("link", { name: "PDF of the report" }).waitFor();
    await page.goBack();
    await waitForRows(page);
    await page.getByLabel("Language").focus();
    await tabTo(page, /^Address for a spreadsheet$/);
    await press(page, "Enter");
    await tabTo(page, /^Copy: Address for a spreadsheet$/);
    await page.getByRole("button", { name: "Remove filter 1" }).focus();
    await press(page, "Enter");
    expect((await readFocus(page)).name).toBe("Add a filter");
  });

  it("a Tribal officer opens a suppressed report", async () => {
    const { page } = await open("/#tribal");
    await tabTo(page, /^list of suppressed reports$/);
    await press(page, "Enter");
    await waitForRows(page);
    await tabTo(page, /^Row 1: /);
    await press(page, "Enter");
    await page.getByText(/^This report is suppressed/).waitFor();
    // The link comes before the field.
    await tabTo(page, /^A key with Tribal access$/);
    await type(page, /^A key with Tribal access$/, site.facts.keys.tribal);
    await press(page, "Enter");
    await tabTo(page, /^Get the PDF with your key$/);
    const opened = page.context().waitForEvent("response", (each) => each.url().includes("/pdf/ota/"));
    await press(page, "Enter");
    expect((await opened).status()).toBe(302);
  });

  it("a person corrects a wrong key", async () => {
    const { page } = await open("/explorer");
    await type(page, /^Your own API key/, "wrong");
    await tabTo(page, /^Show the rows$/);
    await press(page, "Enter");
    await page.getByText(/^401: /).waitFor();
    await type(page, /^API key for the next request$/, site.facts.keys.individual);
    await press(page, "Enter");
    await waitForRows(page);
  });

  it("a person checks a list, and follows it by its feed and as CSV", async () => {
    const { page } = await open("/check", false);
    await tabTo(page, /^UEIs, EINs or report IDs$/);
    await page.keyboard.type(`${site.facts.sample.public_report_id} ZZZZZZZZ1234`);
    await type(page, /^Program/, "HHS");
    await tabTo(page, /^Check$/);
    await press(page, "Enter");
    await page.waitForURL(/\/check\?u=.*&aln=HHS$/);
    for (const name of [/^CSV for spreadsheets$/, /^What changed for these auditees after /, /^Atom feed$/])
      await tabTo(page, name);
  });

  it("a person searches findings for a phrase, and opens one", async () => {
    const { page } = await open("/findings", false);
    await type(page, /^Words in the finding/, '"internal control"');
    await tabTo(page, /^Repeat finding$/);
    await press(page, "Space");
    await tabTo(page, /^Search findings$/);
    await press(page, "Enter");
    await page.waitForURL(/words=%22internal\+control%22&repeat=Y$/);
    await tabTo(page, /: finding 20\d\d-\d+$/);
    await press(page, "Enter");
    await page.waitForURL(/\/record\/.*#20\d\d-\d+$/);
  });

  it("a person reads what changed, downloads a file, and finds a column", async () => {
    const { page } = await open("/files");
    await tabTo(page, /^general\.csv\.gz$/);
    await tabTo(page, /^20\d\d$/);
    await press(page, "Enter");
    await tabTo(page, /^general-20\d\d\.csv\.gz$/);
    await tabTo(page, /^Changes$/);
    await press(page, "Enter");
    await page.waitForURL(/\/changes$/);
    await tabTo(page, /^Atom feed$/);
    await page.goto(`${site.facts.app_url}/reference`);
    await type(page, /^Search tables and columns$/, "repeated");
    await page.getByText(/^\d+ columns? in \d+ tables?$/).waitFor();
  });
});
