import { afterAll, afterEach, beforeAll, describe } from "vitest";
import { testExplorer } from "./explorer-suite.ts";
import { openSite, type Site } from "./open-site.ts";
import { testPages } from "./pages-suite.ts";
import { testTasks } from "./tasks-suite.ts";

// One browser and one stack for all that people see.

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());
const getSite = () => site;

// Chromium has been seen to end by itself, once in some thousand visits. The test in which it did is run again, and no other.
afterEach(async () => {
  if (await site.restartEndedBrowser()) throw new Error("The browser has ended.");
});
// Not by a function: Vitest leaves those out, and would run each test again that fails.
const again = { retry: { count: 1, condition: /^The browser has ended\.$/ } };

describe("the pages", again, () => testPages(getSite));
describe("the explorer", again, () => testExplorer(getSite));
describe("what people come for", again, () => testTasks(getSite));
