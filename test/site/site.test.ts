import { afterAll, beforeAll, describe } from "vitest";
import { testExplorer } from "./explorer-suite.ts";
import { openSite, type Site } from "./open-site.ts";
import { testPages } from "./pages-suite.ts";

// One browser and one stack for all that people see.

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

// Chromium has been seen to crash once in a thousand visits. Only the test in which it did runs again, with a new browser.
const again = { retry: { count: 1, condition: /browser has been closed|Target crashed/ } };

describe("the pages", again, () => testPages(() => site));
describe("the explorer", again, () => testExplorer(() => site));
