import axe from "axe-core";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { expect } from "vitest";

/** A page of the site under test, and all that must not happen in it. */
export type Visit = Awaited<ReturnType<typeof visit>>;

/** @param origins whom the page may ask: the app and the API */
export async function visit(
  browser: Browser,
  url: string,
  origins: string[],
  options: BrowserContextOptions = {},
) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
  page.setDefaultTimeout(10_000);
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
    // Chromium notes every answer above 399: what the page makes of it, the tests look at.
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
      // Content-Security-Policy holds for what a page loads, not for what its tests evaluate.
      await page.evaluate(axe.source);
      // What a rule passed is told by one element, and none by its selector: a selector of each takes ten times as long.
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
    },
    /** Fails if the page is wider than the window, or text is cut off, other than in the explorer's rows. */
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
    /** How many requests the page has sent to the API. */
    countRequests: () => requests,
    /** Ends the visit. Fails if the page asked another host or complained on the console. */
    leave: async () => {
      await page.close();
      expect(complaints).toEqual([]);
      for (const origin of asked) expect(origins).toContain(origin);
    },
  };
}
