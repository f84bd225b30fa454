import { afterAll, beforeAll, describe } from "vitest";
import { testAccess } from "./access-suite.ts";
import { testAnswers } from "./answers-suite.ts";
import { testExplorer } from "./explorer-suite.ts";
import { openSite, type Site } from "./open-site.ts";
import { testPages } from "./pages-suite.ts";
import { testReference } from "./reference-suite.ts";
import { testRefusals } from "./refusals-suite.ts";
import { testTasks } from "./tasks-suite.ts";
import { testView } from "./view-suite.ts";

// One browser and one stack for all that people see.

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());
const getSite = () => site;

describe("the pages", () => testPages(getSite));
describe("the reference", () => testReference(getSite));
describe("the explorer", () => testExplorer(getSite));
describe("an answer", () => testAnswers(getSite));
describe("what is seen of an answer", () => testView(getSite));
describe("a row", () => testAccess(getSite));
describe("what people come for", () => testTasks(getSite));
// The last: it moves limits.
describe("a refusal", () => testRefusals(getSite));
