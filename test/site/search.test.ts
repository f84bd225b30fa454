import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { connect } from "../../shared/connect.ts";
import type { RunningApp } from "../../shared/web/start-app.ts";
import { readSiteConfig } from "../../site/config.ts";
import { prepareSite } from "../../site/prepare-site.ts";
import { cleanSearch, readSearch } from "../../site/search/read-search.ts";
import { readers } from "../../site/search/readers.ts";
import { searchesAMinute } from "../../site/search/search-reports.ts";
import { readSiteAppConfig, startSite } from "../../site/start-site.ts";
import { useRefresh } from "../scripts/refresh/support/refresh.ts";
import { id, submission } from "../scripts/refresh/support/source-files.ts";
import { send as sendRequest } from "../support/target.ts";

// The page that searches the public audits.

const here = useRefresh();
let service: RunningApp;

const named = (number: number, name: string, more = {}) =>
  submission(number, { auditee_name: `"${name}"`, auditor_firm_name: "Firm", ...more });
const superseded = { resubmission_status: "deprecated_via_resubmission" };

beforeAll(async () => {
  await here.write("general", [
    named(1, "POLK COUNTY, IOWA", {
      auditee_state: "IA",
      auditee_ein: "426005243",
      auditee_uei: "ABCDEFGH1234",
    }),
    named(2, "Polk County", { auditee_state: "FL" }),
    named(3, "Mesa County", { auditee_state: "CO", audit_year: "2022" }),
    named(4, "Mesa County, Colorado", { auditee_state: "CO" }),
    named(5, "SHELBY COUNTY", { auditee_state: "AL" }),
    named(6, "County of Shelby", { auditee_state: "TN" }),
    named(7, "Municipio de Añasco", { auditee_state: "PR" }),
    named(8, "Iban\u0303ez-Peña Y.M.C.A., Inc.", { auditee_state: "CA" }),
    named(9, "Clinic of St. Mary’s City/County", {
      auditee_state: "CA",
      auditor_firm_name: '"Brown & O\'Neill, L.L.P."',
      auditor_ein: "426005243",
    }),
    named(10, "Washington Academy", { auditee_state: "NH" }),
    named(11, "Olympia Clinic", { auditee_state: "WA" }),
    named(12, "University of Iowa", { auditee_state: "IA", fac_accepted_date: "2020-01-01" }),
    named(13, "Drake University", { auditee_state: "IA", auditee_uei: "QWERTZUIOPAS" }),
    named(14, '<b onclick="alert(1)">50%_\\ Bold & Sons</b>'.replaceAll('"', '""'), { auditee_state: "TX" }),
    named(20, "Hidden Nation", {
      auditee_state: "IA",
      is_public: "f",
      auditee_ein: "998877665",
      auditee_uei: "HHHHHHHH1234",
      auditor_firm_name: "Hidden Firm",
      auditor_ein: "998877664",
    }),
    named(21, "Hidden Nation Housing", { auditee_state: "IA", ...superseded }),
  ]);
  await here.write("federal_awards", [
    ...[1, 8, 9, 20].map((number) => ({
      report_id: id(number),
      award_reference: "AWARD-0001",
      federal_agency_prefix: "93",
      federal_award_extension: number === 1 ? "224" : "778",
      amount_expended: "1234567",
    })),
    {
      report_id: id(2),
      award_reference: "AWARD-0001",
      federal_agency_prefix: "15",
      federal_award_extension: "RD",
    },
    {
      report_id: id(20),
      award_reference: "AWARD-0002",
      federal_agency_prefix: "08",
      federal_award_extension: "U01",
    },
  ]);
  for (const table of [
    "findings",
    "findings_text",
    "corrective_action_plans",
    "notes_to_sefa",
    "passthrough",
    "secondary_auditors",
    "additional_ueis",
    "additional_eins",
    "resubmission",
  ])
    await here.write(table, []);
  await here.load();
  service = await startSearch();
});
afterAll(() => service?.close());

async function startSearch(): Promise<RunningApp> {
  const pages = readSiteConfig({ API_URL: "https://api.example.gov" });
  const variables = {
    APP_PORT: "0",
    TRUSTED_IPS: "127.0.0.1",
    SITE_DATABASE_URL: withoutOptions(here.database.url),
  };
  return startSite({
    ...readSiteAppConfig(variables),
    addSite: await prepareSite({ pages }),
    logger: pino({ level: "silent" }),
  });
}
const withoutOptions = (url: string) => Object.assign(new URL(url), { search: "" }).href;

let clients = 0;
function makeClient(): string {
  clients += 1;
  return `2001:db8:${clients.toString(16)}::1`;
}

/** Each request comes from another client, so that it is not limited. */
async function get(target: string, from = makeClient()) {
  const headers = { "x-forwarded-for": from, accept: "text/html" };
  const { status, headers: answered, text } = await sendRequest(service.url, target, { headers });
  return { status, headers: answered, text };
}
const search = (text: string, more = "") => get(`/search?q=${encodeURIComponent(text)}${more}`);
const listReports = (text: string) =>
  [...text.matchAll(/<code class="id">([^<]*)</g)].map(([, reportId]) => Number(reportId?.slice(-10)));

describe("a search", () => {
  it.each<[text: string, reports: number[]]>([
    ["Polk County Iowa", [1]],
    ["iowa polk county", [1]],
    ["polk county, ia 2023", [1]],
    ["Polk County Iowa 2021", []],
    ["Mesa County Colorado", [4, 3]],
    ["Mesa County CO 2022", [3]],
    ["Shelby County, AL", [5]],
    ["County of Shelby", [6, 5]],
    ["Shelby County", [6, 5]],
    ["anasco", [7]],
    ["AÑASCO", [7]],
    ["Ibanez", [8]],
    ["pena ymca", [8]],
    ["Y.M.C.A.", [8]],
    ["st marys county", [9]],
    ["St. Mary's", [9]],
    ["city/county", [9]],
    ["University of Iowa", [12, 13]],
    ["audits of Washington", [11]],
    ["93", [9, 8, 1]],
    ["HHS", [9, 8, 1]],
    ["Department of Health & Human Services", [9, 8, 1]],
    ["93.778 California", [9, 8]],
    ["ALN 93.224 in 2023", [1]],
    ["15.rd", [2]],
    ["93 in Iowa", [1]],
    ["oneill llp", [9]],
    ["Brown and O'Neill", [9]],
    ["42-6005243", [1]],
    ["EIN: 426005243", [1]],
    ["abcdefgh1234", [1]],
    ["QWERTZUIOPAS", [13]],
    ["2023-06-gsafac-0000000007", [7]],
    ["Clin Olymp", [11]],
    ["Texas 2023", [14]],
    ["Texas FY23", [14]],
    ["FY 2023 Texas", [14]],
    ["single audits of Polk County Iowa", [1]],
    ["tx", [14]],
    ["50%_\\ bold", [14]],
  ])("for %s finds the reports %j", async (text, reports) => {
    const { status, text: body } = await search(text);
    expect([status, listReports(body)]).toEqual([200, reports]);
  });

  it.each<[text: string, other: string, reports: number[]]>([
    ["42-6005243", "Audits by the auditor with the EIN 426005243", [9]],
    ["Washington", "Audits of auditees whose name has the words “Washington”", [10]],
    ["Iowa", "Audits of auditees whose name has the words “Iowa”", [1, 12]],
  ])("for %s offers %s", async (text, other, reports) => {
    const { text: body } = await search(text);
    const [, link = ""] =
      new RegExp(`<a href="([^"]*)">${other}</a> \\(${reports.length} audits?\\)`).exec(body) ?? [];
    const { text: chosen } = await get(link.replaceAll("&amp;", "&"));
    expect(listReports(chosen)).toEqual(reports);
    expect(chosen).toContain(`${other.replace("Audits ", "")}.</p>`);
  });

  it("that finds nothing says what was understood and what to try", async () => {
    const { status, text } = await search("Atlantis County, Iowa 2021");
    expect(status).toBe(200);
    for (const part of [
      "No public audit was found for “Atlantis County, Iowa 2021”.",
      "Audits of auditees whose name has the words “Atlantis County”, in Iowa, audit year 2021",
      "Leave out the state or the year.",
      "Suppressed audits cannot be found",
    ])
      expect(text).toContain(part);
  });

  it("for a report that is not public leads to where a Tribal key opens it", async () => {
    const { text } = await search("2022-06-GSAFAC-0000099999");
    expect(text).toMatch(
      /Tribal key, <a href="[^"]*\/row\/general\?report_id=eq\.2022-06-GSAFAC-0000099999[&"]/,
    );
  });

  it("for a program's name leads to the programs with this name", async () => {
    const { text } = await search("Medicaid Assistance California");
    expect(text).toContain("/totals_by_program?federal_program_name=ilike.*Medicaid%20Assistance*&amp;");
  });

  it("for a program shows its dollars in each audit", async () => {
    expect((await search("93.778")).text).toContain('data-label="Of which 93.778">$1,234,567<');
  });
});

describe("suppressed and superseded audits", () => {
  it.each([
    "Hidden Nation",
    "Hidden",
    "Hid Nat",
    "Hidden Nation Housing",
    "Hidden Firm",
    "99-8877665",
    "99-8877664",
    "HHHHHHHH1234",
    "08.U01",
    "Peace Corps",
    id(20),
    id(21),
  ])("are not found by %s, exactly as one that does not exist", async (text) => {
    const { status, text: body } = await search(text);
    expect([status, listReports(body)]).toEqual([200, []]);
    expect(body).toContain("No public audit was found");
  });

  it.each([
    ["Iowa", 3],
    ["93.778", 2],
    ["2023", 13],
  ])("are not counted in the total for %s", async (text, total) => {
    expect((await search(text)).text).toContain(`role="status">${total} audits `);
  });

  // What is not read can be neither found nor counted nor timed.
  it("are not read at all", async () => {
    const lock = await connect(here.database.url, "test");
    onTestFinished(() => lock.end());
    await lock.query("begin");
    const { rows } = await lock.query<{ name: string }>(
      `select oid::regclass::text as name from pg_class
       where relnamespace = 'suppressed'::regnamespace and relkind = 'r'
         or oid in ('disclosed.general_stubs'::regclass, 'disclosed.resubmission'::regclass)`,
    );
    expect(rows.length).toBeGreaterThan(10);
    await lock.query(`lock table ${rows.map(({ name }) => name).join(", ")} in access exclusive mode`);
    const everyReading = ["Hidden Nation", "Iowa", "93.778", "42-6005243", "HHHHHHHH1234", id(20), "Hid Nat"];
    const readings = everyReading.flatMap((text) => readSearch(text).map(({ criteria }) => criteria));
    await here.select("set statement_timeout = '20s'");
    onTestFinished(async () => void (await here.select("reset statement_timeout")));
    for (const criteria of readings)
      await here.select("select publication.search_reports($1)", [JSON.stringify([criteria])]);
  });
});

describe("what people and programs may type", () => {
  it.each([
    "'; drop table disclosed.general; --",
    "%",
    "_",
    "\\",
    "' \" ` $1 {} [] ()",
    "a & !b | (c <-> d):*A",
    "!!!&&&|||",
    "x".repeat(10_000),
    "a ".repeat(3000),
    "1".repeat(10_000),
    `${"audits of ".repeat(500)}in in in in in, , , FY FY FY FY`,
    "😀",
    "😀 Polk 👩‍👩‍👧",
    "\u0000Polk\u0000",
    "\u202ePolk\u202c שלום مرحبا",
    "e\u0301".repeat(100),
    "ß ﬁ Ⅷ",
    "null undefined true 0",
    "٩٣",
  ])("is answered with a page: %.40j", async (text) => {
    const { status, text: body } = await search(text);
    expect([status, body.includes("<h1>Search</h1>")]).toEqual([200, true]);
  });

  it.each([
    "/search",
    "/search?q=",
    "/search?q=a&q=b",
    "/search?q[]=a",
    "/search?q=%20%00",
    "/search?q=%FF%C0",
    "/search?q=%ED%A0%80Polk",
  ])("%s is answered with a page", async (target) => expect((await get(target)).status).toBe(200));

  it.each([
    "as=0",
    "as=-1",
    "as=99",
    "as=1e9",
    "as=2&as=3",
    "page=0",
    "page=11",
    "page=x",
    "page=10",
    "as='",
  ])("%s is answered with a page", async (more) =>
    expect((await search("Iowa", `&${more}`)).status).toBe(200),
  );

  it("is read in linear time", () => {
    for (const text of [
      "a ".repeat(5000),
      "2023 ".repeat(2000),
      "of ".repeat(3000),
      "audits of ".repeat(999),
      ",;:".repeat(3000),
      "EIN ".repeat(2500),
    ]) {
      const before = process.cpuUsage();
      for (let count = 0; count < 20; count += 1) readSearch(cleanSearch(text));
      expect(process.cpuUsage(before).user / 20_000, text.slice(0, 10)).toBeLessThan(50);
    }
  });

  it("is escaped in the page, as are values of the database", async () => {
    const { text } = await search('<script>alert(1)</script>"onfocus="x');
    expect(text).not.toContain("<script>alert");
    expect(text).toContain("&lt;script&gt;alert(1)&lt;/script&gt;&quot;onfocus=&quot;x");
    const { text: found } = await search("bold sons");
    expect(found).toContain("&lt;b onclick=&quot;alert(1)&quot;&gt;50%_\\ Bold &amp; Sons");
  });
});

it("every reader of a search reads its own examples", () => {
  for (const [name, { examples, read }] of Object.entries(readers))
    for (const example of examples) expect(read(example), `${name}: ${example}`).toBeDefined();
});

it("shared caches keep no search, only the page of examples", async () => {
  const controls = [(await search("Polk")).headers, (await get("/search")).headers];
  expect(controls.map((headers) => headers["cache-control"])).toEqual([
    "private, no-cache",
    "public, no-cache",
  ]);
});

it("searches are limited for each client network, as docs/api.md says", async () => {
  expect(searchesAMinute).toBe(60);
  const from = "2001:db8:ffff:1::";
  for (let count = 0; count < searchesAMinute; count += 1)
    expect((await get("/search?q=x", `${from}${count}`)).status).toBe(200);
  const { status, headers, text } = await get("/search?q=x", `${from}ffff`);
  expect([status, Number(headers["retry-after"]) > 0]).toEqual([429, true]);
  expect(text).toContain(`This client IP searched more than ${searchesAMinute} times in a minute.`);
  expect((await get("/search?q=x", "2001:db8:ffff:2::1")).status).toBe(200);
  // The page of examples asks the database nothing.
  expect((await get("/search", `${from}1`)).status).toBe(200);
});

it("a search that takes too long ends with a page that says what to do, and later searches work", async () => {
  const lock = await connect(here.database.url, "test");
  await lock.query("begin; lock table disclosed.general in access exclusive mode");
  const { status, headers, text } = await search("Polk").finally(() => lock.end());
  expect([status, headers["retry-after"], headers["cache-control"]]).toEqual([503, "5", "no-store"]);
  expect(text).toContain("The search took longer than 2 seconds.");
  expect(text).toContain("add a state or a year");
  expect((await search("Polk")).status).toBe(200);
});

it("few searches run at a time, so that pages and downloads find a connection", async () => {
  // Later pages keep what this one read.
  expect((await get("/totals")).status).toBe(200);
  const lock = await connect(here.database.url, "test");
  onTestFinished(() => lock.end());
  await lock.query("begin; lock table disclosed.general in access exclusive mode");
  const answers = Promise.all(Array.from({ length: 12 }, () => search("Polk")));
  const countWaiting =
    "select count(*)::integer from pg_locks where not granted and relation = 'disclosed.general'::regclass";
  await expect.poll(async () => (await lock.query(countWaiting)).rows[0].count).toBe(3);
  const first = await Promise.race([get("/readyz"), answers.then(() => undefined)]);
  expect(first?.status).toBe(200);
  const busy = (await answers).filter(({ text }) => text.includes("Too many searches are running."));
  expect([busy.length, busy[0]?.status]).toEqual([9, 503]);
});

it("while the service is switched off, nothing is found", async () => {
  await here.select("update publication.settings set is_switched_on = false");
  onTestFinished(
    async () => void (await here.select("update publication.settings set is_switched_on = true")),
  );
  const { status, text } = await search("Polk");
  expect([status, listReports(text)]).toEqual([503, []]);
});
