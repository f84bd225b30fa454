import axe from "axe-core";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { expect } from "vitest";

/** An open page, and checks for what must not happen on it. */
export type Visit = Awaited<ReturnType<typeof visit>>;

/** @param origins the origins that the page may contact: the app's, then the API's */
export async function visit(
  browser: Browser,
  url: string,
  origins: string[],
  options: BrowserContextOptions = {},
) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
  page.setDefaultTimeout(60_000);
  const asked = new Set<string>();
  const complaints: string[] = [];
  const [, api = ""] = origins;
  let requests = 0;
  page.on("request", (request) => {
    if (/^https?:/.test(request.url())) asked.add(new URL(request.url()).origin);
    if (request.url().startsWith(api)) requests += 1;
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    // Chromium logs every response with a status of 400 or more. The tests check what the page does with it.
    const isRefusal = /^Failed to load resource: the server responded with a status of [45]\d\d/.test(
      message.text(),
    );
    if (["error", "warning"].includes(message.type()) && !isRefusal) complaints.push(message.text());
  });
  await page.goto(url);
  return {
    page,
    /** Looks for violations of WCAG 2.2 A and AA, and of axe's best practices. */
    checkAccessibility: async () => {
      // Content-Security-Policy does not apply to code that a test evaluates.
      await page.evaluate(axe.source);
      // Passed rules list only one element each, and no element has a selector: all selectors take ten times as long.
      const found = (await page.evaluate(
        "axe.run({ resultTypes: ['violations'], selectors: false, rules: { 'target-size': { enabled: true } } })",
      )) as axe.AxeResults;
      expect(
        found.violations.map(({ id, nodes }) => ({
          id,
          nodes: nodes.map((node) => node.html.slice(0, 200)),
        })),
      ).toEqual([]);
      expect(found.passes.length).toBeGreaterThan(10);
      // Axe reports a repeated ID only in some cases, but a label or link of the second element leads to the first.
      const ids = (await page.evaluate(
        "[...document.querySelectorAll('[id]')].map(({ id }) => id)",
      )) as string[];
      expect(ids.filter((id, place) => ids.indexOf(id) !== place)).toEqual([]);
    },
    /** Fails if the page is wider than the window, or if text is cut off outside the explorer's rows. */
    checkFit: async () => {
      const [content, window] = (await page.evaluate(
        "[document.documentElement.scrollWidth, innerWidth]",
      )) as number[];
      expect(content).toBeLessThanOrEqual(window ?? 0);
      const cut = (await page.evaluate(
        "[...document.querySelectorAll('td, th, dd, dt, p, li, pre, button, a')].filter((it) => it.checkVisibility() && !it.closest('.rows-table') && !it.closest('.visually-hidden, thead, .skip-link') && it.scrollWidth > it.clientWidth + 1 && getComputedStyle(it).display !== 'inline').map((it) => it.outerHTML.slice(0, 120))",
      )) as string[];
      expect(cut).toEqual([]);
    },
    /** Fails if a part of the page scrolls sideways, or if a line breaks in the middle of a word. */
    checkLines: async () => {
      const found = (await page.evaluate(findBadLines)) as string[];
      expect(found).toEqual([]);
    },
    /** How many requests the page has sent to the API. */
    countRequests: () => requests,
    /** Closes the page. Fails if it contacted another host, or logged a warning or an error. */
    leave: async () => {
      await page.close();
      expect(complaints).toEqual([]);
      for (const origin of asked) expect(origins).toContain(origin);
    },
  };
}

/** Code and addresses are not words. */
const findBadLines = `(() => {
  const found = [...document.querySelectorAll("main .scroll")]
    .filter((it) => it.checkVisibility() && it.scrollWidth > it.clientWidth + 1)
    .map((it) => it.outerHTML.slice(0, 120));
  const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const parent = text.parentElement;
    const thead = parent.closest("thead");
    if (thead && getComputedStyle(thead).clipPath !== "none") continue;
    if (!parent.checkVisibility() || parent.closest(".visually-hidden, .address, .id, code, svg")) continue;
    for (const { 0: word, index } of text.data.matchAll(/(?<!\\S)\\p{L}+[.,;:]?(?!\\S)/gu)) {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) found.push(word);
    }
  }
  return found;
})()`;
