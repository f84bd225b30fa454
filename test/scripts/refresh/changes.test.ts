import { createHash, randomUUID } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import { fastify } from "fastify";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import { type Change, type Changes, changes as changesSchema } from "../../../site/changes.ts";
import { readChangesFilter, readPublications } from "../../../site/changes-filter.ts";
import { readSiteConfig, type SiteConfig } from "../../../site/config.ts";
import { writeChanges, writeFeed } from "../../../site/pages/changes.ts";
import { openPublicFiles } from "../../../site/public-data/public-files.ts";
import { servePublicData } from "../../../site/public-data/serve-public-data.ts";
import { startPages } from "../../site/start-pages.ts";
import { send } from "../../support/target.ts";
import { useRefresh } from "./support/refresh.ts";
import { id, submission } from "./support/source-files.ts";

// How each publication lists the reports that it changed. Each test continues from the previous one.

const here = useRefresh();
const app = fastify();
beforeAll(() => servePublicData(app, openPublicFiles(here.publicData)));

/** Publishes reports and suppresses those in `hidden`. `notes` has the passthrough_name of a report, if any. */
async function publish(
  reports: number[],
  hidden: number[] = [],
  notes: Record<number, string> = {},
  resubmissions: Record<string, string>[] = [],
): Promise<void> {
  const isPublic = (number: number) => ({ is_public: hidden.includes(number) ? "f" : "t" });
  const general = reports.map((number) => submission(number, isPublic(number)));
  await here.write("general", general);
  const rows = reports.map((number) => ({ report_id: id(number), passthrough_name: notes[number] ?? "" }));
  await here.write("passthrough", rows);
  await here.write("resubmission", resubmissions);
  const { code, output } = await here.publish("--force", "--accept-shrink");
  expect(code, output).toBe(0);
}

/** What publication.describe_changes() says of a report without findings. */
const described = {
  findings: 0,
  material_weaknesses: 0,
  significant_deficiencies: 0,
  repeat_findings: 0,
  questioned_costs: 0,
  gaap_results: null,
  sp_framework_opinions: null,
  disclosed: [],
  modified_programs: {},
  values: {},
};

/** The titles of a feed's entries. */
const listTitles = (feed: string) =>
  [...feed.matchAll(/<entry>.*?<title>(.*?)<\/title>/gs)].map(([, title]) => title);

const readManifest = async () => (await app.inject("/public-data/manifest.json")).json();

const writePage = (changes: Changes, asked: Record<string, string> = {}, kept = changes) =>
  writeChanges(
    {
      config: readSiteConfig({ API_URL: "https://api.example.gov" }) as SiteConfig,
      facts: undefined,
      appUrl: "https://app.example.gov",
      hasPublicData: true,
      locate: (name) => `/assets/${name}`,
      asked,
    },
    changes,
    { filter: readChangesFilter(asked), kept, publications: readPublications(asked) },
  );

/** The reports that the last publication listed as changed. */
async function readLast() {
  const entry = (await readManifest()).changes.at(-1);
  const { rawPayload } = await app.inject(`/public-data/${entry.name}`);
  expect(rawPayload.length).toBe(entry.bytes);
  const rows: Record<string, string>[] = parse(gunzipSync(rawPayload), { columns: true });
  const find = (change: string) =>
    rows.filter((row) => row.change === change).map(({ report_id }) => Number(report_id?.slice(-10)));
  const lists = { added: find("added"), changed: find("changed"), removed: find("removed") };
  for (const [change, reports] of Object.entries(lists)) expect(entry[change]).toBe(reports.length);
  return lists;
}

it("lists nothing for the first data set, which cannot be rolled back", async () => {
  await publish([1, 2, 3, 4, 7], [2]);
  expect((await readManifest()).changes).toEqual([]);
  const { code, output } = await here.refresh("--rollback");
  expect([code, output]).toEqual([1, "There is no previous data set to roll back to.\n"]);
  expect(await here.list("select published_at is not null from dissemination.data_set")).toEqual([true]);
});

it("lists reports that were added, changed in any table, or removed or newly suppressed", async () => {
  await here.refresh("--release", id(2));
  await publish([5, 1, 2, 3, 4, 6], [3, 6], { 3: "SECRET", 4: "Another name", 6: "SECRET" });
  expect(await readLast()).toEqual({ added: [2, 5], changed: [4], removed: [3, 7] });
});

it("lists the reverse after a rollback, and the same again once that is undone", async () => {
  await here.refresh("--release", id(3));
  await here.refresh("--rollback");
  expect(await readLast()).toEqual({ added: [3, 7], changed: [4], removed: [2, 5] });
  await here.refresh("--rollback");
  expect(await readLast()).toEqual({ added: [2, 5], changed: [4], removed: [3, 7] });
});

it("lists nothing if only the order of rows or suppressed reports changed", async () => {
  await publish([1, 2, 3, 4, 5, 6], [3, 6], { 3: "ANOTHER", 4: "Another name" });
  expect(await readLast()).toEqual({ added: [], changed: [], removed: [] });
});

it("lists a superseded report as removed, although it stays in resubmission", async () => {
  const chain = [
    { report_id: id(5), version: "1", status: "deprecated_via_resubmission", next_report_id: id(8) },
    { report_id: id(8), version: "2", status: "most_recent", previous_report_id: id(5) },
  ];
  await publish([1, 2, 4, 5, 8], [], { 4: "Another name" }, chain);
  expect(await readLast()).toEqual({ added: [8], changed: [], removed: [5] });
  // The older report is current again. To add it would name the auditee of the removed one.
  await publish([1, 2, 4, 5, 8], [8], { 4: "Another name" }, chain);
  expect(await readLast()).toEqual({ added: [], changed: [5], removed: [8] });
  const [parts] = await here.list(
    "select changed_parts from publication.changes order by number desc limit 1",
  );
  expect(parts).toEqual(["other"]);
});

it("keeps the lists of the last 100 publications and rollbacks, without gaps", async () => {
  const { changes, data_set } = await readManifest();
  const steps: { from: string; to: string }[] = changes;
  expect(steps.slice(1).map(({ from }) => from)).toEqual(steps.slice(0, -1).map(({ to }) => to));
  expect(steps.at(-1)?.to).toBe(data_set);
  await here.select("select setval('publication.changes_number_seq', 101)");
  await publish([1, 2]);
  expect((await readManifest()).changes.slice(0, -1)).toEqual(changes.slice(2));
  expect((await app.inject("/public-data/changes-1.csv.gz")).statusCode).toBe(404);
});

it("the page and the feed show the same changes, newest first, and link to more reports of each", async () => {
  await publish([...Array(150).keys()].map((number) => number + 200));
  const last = await readLast();
  const manifest = (await readManifest()).changes;
  const changes = changesSchema.parse((await here.list("select publication.describe_changes()"))[0]);
  expect(changes.map(({ counts }) => counts)).toEqual(
    manifest.map(({ added, changed, removed }: Change["counts"]) => ({ added, changed, removed })).reverse(),
  );
  expect(changes[0]?.first.added).toEqual(last.added.slice(0, 100).map(id));
  const feed = writeFeed(
    { appUrl: "https://app.example.gov", hasPublicData: true, facts: undefined },
    changes,
  );
  const named = last.added
    .slice(0, 20)
    .map((number) => `${id(number)}, audit year 2023: new report. No findings; opinion not stated`);
  const removed = last.removed.map((number) => `${id(number)}: removed`);
  const counted = `Reports: 150 added, none changed, ${removed.length} removed.`;
  const titles = [...named, ...removed, counted];
  expect(listTitles(feed).slice(0, titles.length)).toEqual(titles);
  expect(feed).toContain(`<id>https://app.example.gov/changes#${changes[0]?.number}</id>`);
  expect(feed).toContain(`href="https://app.example.gov/changes?number=${changes[0]?.number}"`);
  const page = writePage(changes, { number: String(changes[0]?.number) });
  expect(page).toContain("first 100 of 150");
  expect(page.match(/<section id=/g)).toHaveLength(1);
});

it("the page says how many publications it shows, and shows only those since a date", () => {
  const none = { added: [], changed: [], removed: [] };
  const kept = ["2026-03-10T02:00Z", "2026-02-10T12:00Z", "2026-01-10T12:00Z"].map((published, place) => ({
    number: 3 - place,
    published_at: new Date(published),
    data_set: randomUUID(),
    counts: { added: 0, changed: 0, removed: 0 },
    first: none,
    reports: {},
  }));
  const count = (page: string) => page.match(/<section id="\d+"/g)?.length;
  const all = writePage(kept);
  expect([count(all), all]).toEqual([3, expect.stringContaining("3 publications since January 10, 2026,")]);
  // The newest was published on March 9 in the Eastern time zone.
  const newest = writePage(kept, { since: "2026-03-09" });
  expect(newest).toContain("1 publication since March 9, 2026,");
  expect(newest).toContain('href="/changes.csv?since=2026-03-09"');
  expect([count(newest), count(writePage(kept, { since: "2026-03-10" }))]).toEqual([1, undefined]);
  // The page of a data set leads to what was published after it.
  const later = writePage(kept, { after: "2026-02-10T12:00:00.000Z" });
  expect([count(later), later]).toEqual([
    1,
    expect.stringContaining("1 publication after February 10, 2026"),
  ]);
  expect(later).toContain('href="/changes.csv?after=2026-02-10T12:00:00.000Z"');
  const nothing = writePage(kept, { after: "2026-03-10T02:00:00.000Z" });
  expect([count(nothing), nothing]).toEqual([
    undefined,
    expect.stringContaining("Nothing has been published after March 9, 2026 at 10:00 PM Eastern."),
  ]);
  expect(writePage(kept, { after: "2026-02-31" })).toContain("Not understood: “2026-02-31”");
  const filtered = writePage(kept.slice(1, 2), { state: "TX", since: "2000-01-01" }, kept);
  expect(filtered).toContain("1 of 3 publications since January 10, 2026 added or changed these reports.");
  expect(writePage(kept, { since: "soon" })).toContain("Not understood: “soon”");
});

it("a page and a feed of 100 large publications stay small", () => {
  const ids = (from: number) => [...Array(100).keys()].map((place) => id(from + place));
  const large = [...Array(100).keys()].map((number) => {
    const first = {
      added: ids(number * 300),
      changed: ids(number * 300 + 100),
      removed: ids(number * 300 + 200),
    };
    const reports = Object.fromEntries(
      [...first.added, ...first.changed].map((each) => [
        each,
        {
          ...described,
          auditee_name: createHash("sha256").update(each).digest("base64"),
          audit_year: "2023",
          findings: 3,
        },
      ]),
    );
    const counts = { added: 5000, changed: 5000, removed: 5000 };
    return { number: 100 - number, published_at: new Date(), data_set: randomUUID(), counts, first, reports };
  });
  const feed = writeFeed({ appUrl: "https://app.example.gov", hasPublicData: true, facts: undefined }, large);
  for (const written of [writePage(large), feed]) expect(gzipSync(written).length).toBeLessThan(40_000);
  expect(writePage(large)).toContain('<a href="/changes?number=1">More reports of this publication</a>');
});

it("a filter lists reports that are public now and were added or changed, and nothing that was removed", async () => {
  const describeCity = (number: number, auditee_state: string, is_public = "t") =>
    submission(number, {
      auditee_state,
      auditee_uei: `UEIUEIUE${number}`,
      auditee_name: `Name ${number}`,
      is_public,
    });
  const load = async (rows: Record<string, string>[]) => {
    await here.write("general", rows);
    await here.write("passthrough", []);
    await here.write("resubmission", []);
    const { code, output } = await here.publish("--force", "--accept-shrink");
    expect(code, output).toBe(0);
  };
  await load([describeCity(5001, "TX")]);
  await load([
    describeCity(5001, "TX"),
    describeCity(5002, "TX"),
    describeCity(5003, "IA"),
    describeCity(5004, "TX"),
  ]);
  // One is suppressed, and one is gone.
  await load([describeCity(5001, "TX"), describeCity(5002, "TX"), describeCity(5003, "IA", "f")]);
  const read = async (criteria: object) => {
    const [found] = await here.list(`select publication.list_changes('${JSON.stringify(criteria)}')`);
    return changesSchema.parse(found).map(({ first, reports, counts }) => ({ first, reports, counts }));
  };
  const [texas, ...others] = await read({ state: "TX" });
  expect(texas).toEqual({
    counts: { added: 1, changed: 0, removed: 0 },
    first: { added: [id(5002)], changed: [], removed: [] },
    reports: {
      [id(5002)]: {
        ...described,
        auditee_name: "Name 5002",
        auditee_uei: "UEIUEIUE5002",
        audit_year: "2023",
      },
    },
  });
  expect(others.flatMap(({ first }) => first.added)).toEqual([id(5001)]);
  for (const hidden of ["UEIUEIUE5003", "UEIUEIUE5004", "ZZZZZZZZ1234"])
    expect(await read({ ids: [hidden] }), hidden).toEqual([]);
  expect(await read({ state: "IA" })).toEqual([]);
  const all = changesSchema.parse((await here.list("select publication.describe_changes()"))[0]);
  expect(all.slice(0, 2).map(({ first, reports }) => [first.removed, reports])).toEqual([
    [[id(5003), id(5004)], {}],
    [[], { [id(5002)]: expect.objectContaining({ auditee_name: "Name 5002" }) }].with(0, expect.anything()),
  ]);
  const feed = writeFeed({ appUrl: "https://app.example.gov", hasPublicData: false, facts: undefined }, all);
  expect(feed).toContain("Name 5002");
  expect(feed).not.toContain("Name 5003");
  // Of a list that is not understood, it cannot be said that nothing changed.
  expect(writePage([], { state: "TX", u: "nonsense" }, all)).not.toContain("None of");
  expect(writePage([], { state: "IA" }, all)).toContain("None of");
});

it("the page and the feeds stop naming a report as soon as it is suppressed", async () => {
  const service = await startPages(here.database.url);
  onTestFinished(service.close);
  const load = async (is_public: string) => {
    const named = { auditee_name: "Soon\u000b Hidden", auditee_state: "OH", auditee_uei: "SSSSSSSS6001" };
    await here.write("general", [submission(6000), submission(6001, { ...named, is_public })]);
    const { code, output } = await here.publish("--force", "--accept-shrink");
    expect(code, output).toBe(0);
  };
  const paths = ["/changes", "/changes.atom", "/changes?state=OH", "/changes.atom?u=SSSSSSSS6001"];
  const read = async () =>
    (await Promise.all(paths.map((path) => send(service.url, path)))).map(({ text }) => text);
  await load("t");
  for (const text of await read()) expect(text).toMatch(/Soon\v? Hidden/);
  await load("f");
  for (const text of await read()) expect(text).not.toContain("Hidden");
});

it("an entry of a feed names the report, its fiscal year, what happened, and the verdict of the report's page", async () => {
  const service = await startPages(here.database.url);
  onTestFinished(service.close);
  const load = async (...rows: Record<string, string>[]) => {
    await here.write("general", [...rows, submission(6100)]);
    await here.write("passthrough", []);
    await here.write("resubmission", []);
    const { code, output } = await here.publish("--force", "--accept-shrink");
    expect(code, output).toBe(0);
  };
  const alder = submission(6101, {
    auditee_name: "Alder",
    auditee_uei: "SSSSSSSS6101",
    auditee_state: "OH",
    fy_end_date: "2023-06-30",
    gaap_results: "unmodified_opinion",
  });
  const birch = submission(6102, {
    auditee_name: "Birch",
    auditee_uei: "SSSSSSSS6102",
    auditee_state: "OH",
    gaap_results: "qualified_opinion",
    is_internal_control_material_weakness_disclosed: "Yes",
    is_going_concern_included: "Yes",
  });
  await load(alder, submission(6103, { auditee_name: "Cedar", auditee_state: "OH" }));
  await load({ ...alder, is_material_noncompliance_disclosed: "Yes" }, birch);
  const titles = [
    "Birch, audit year 2023: new report. Not clean: opinion qualified; material weakness in financial reporting; doubt that the auditee can continue as a going concern",
    "Alder, fiscal year ended June 30, 2023: changed. Not clean: material noncompliance",
  ];
  const read = async (path: string) => (await send(service.url, path)).text;
  expect(listTitles(await read("/changes.atom")).slice(0, 3)).toEqual([...titles, `${id(6103)}: removed`]);
  for (const query of ["state=OH", "u=SSSSSSSS6101,SSSSSSSS6102"]) {
    const feed = await read(`/changes.atom?${query}`);
    expect(listTitles(feed).slice(0, 2)).toEqual(titles);
    expect(feed).not.toContain(id(6103));
  }
  expect(await read("/changes")).not.toContain("Cedar");
  for (const [report, title] of [
    [6102, titles[0]],
    [6101, titles[1]],
  ] as const) {
    const page = await read(`/record/${id(report)}`);
    const [, verdict = ""] = /<p class="verdict[^>]*>(.*?)\.<\/p>/.exec(page) ?? [];
    expect(title?.split(/: (?:new report|changed)\. /)[1]).toBe(verdict.replace(/<[^>]*>/g, ""));
  }
  const rows: Record<string, string>[] = parse(await read("/changes.csv"), { columns: true, bom: true });
  expect(rows[0]).toMatchObject({ auditee_name: "Birch", findings: "0", result: "not clean" });
});

it("says what people read of a changed report before and after, as long as the report is public", async () => {
  const service = await startPages(here.database.url);
  onTestFinished(service.close);
  const load = async (more: Record<string, string>) => {
    const row = submission(6201, { auditee_name: "Dogwood", auditee_state: "OH", ...more });
    await here.write("general", [submission(6200), row]);
    const { code, output } = await here.publish("--force", "--accept-shrink", "--accept-growth");
    expect(code, output).toBe(0);
  };
  const after = {
    gaap_results: "qualified_opinion",
    total_amount_expended: "2000",
    auditee_name: "Dogwood City",
    fac_accepted_date: "2024-02-28",
    auditee_email: "SECRET@example.gov",
  };
  const listKept = () =>
    here.list("select changed_values from publication.changed_values order by number, report_id");
  await load({ gaap_results: "unmodified_opinion", total_amount_expended: "1000" });
  await load(after);
  expect(await listKept()).toEqual([
    {
      auditee_name: { old: "Dogwood", new: "Dogwood City" },
      fac_accepted_date: { old: "2024-01-31", new: "2024-02-28" },
      gaap_results: { old: "unmodified_opinion", new: "qualified_opinion" },
      total_amount_expended: { old: "1000", new: "2000" },
    },
  ]);
  for (const path of ["/changes", "/changes.atom", "/changes?state=OH", "/changes.csv"]) {
    const { text } = await send(service.url, path);
    for (const words of ["Dogwood City, was Dogwood", "$2,000, was $1,000", "2024-02-28, was 2024-01-31"])
      expect([path, text]).toEqual([path, expect.stringContaining(words)]);
    expect(text).not.toContain("SECRET");
  }
  // Suppressed, and released again: no public row was before it.
  await load({ ...after, is_public: "f" });
  expect(await listKept()).toEqual([]);
  await here.refresh("--release", id(6201));
  await load({ ...after, auditee_name: "Elm" });
  expect(await listKept()).toEqual([]);
});

it("keeps at most 10 values of a changed report, each cut to 200 characters", async () => {
  const texts = ["auditee_name", "auditor_firm_name", "auditor_ein", "auditee_ein", "auditee_city"];
  const flags = [
    "is_internal_control_material_weakness_disclosed",
    "is_internal_control_deficiency_disclosed",
    "is_material_noncompliance_disclosed",
    "is_going_concern_included",
  ];
  for (const [value, flag, total_amount_expended, gaap_results] of [
    ["A", "No", "1", "unmodified_opinion"],
    ["B", "Yes", "2", "adverse_opinion"],
  ] as const) {
    const row = Object.fromEntries([
      ...texts.map((column) => [column, value.repeat(300)]),
      ...flags.map((column) => [column, flag]),
    ]);
    await here.write("general", [
      submission(6300),
      submission(6301, { ...row, total_amount_expended, gaap_results }),
    ]);
    const { code, output } = await here.publish("--force", "--accept-shrink", "--accept-growth");
    expect(code, output).toBe(0);
  }
  const kept = await here.list(
    `select row(count(*), max(length(value ->> 'new')))::text
     from publication.changed_values, jsonb_each(changed_values) as columns (name, value)`,
  );
  expect(kept).toEqual(["(10,200)"]);
});

it("pages name the data set of their rows right after a publication", async () => {
  const service = await startPages(here.database.url);
  onTestFinished(service.close);
  const paths = [
    "/search?q=SSSSSSSS7001",
    "/findings?year=2023",
    "/check?u=SSSSSSSS7001",
    "/totals",
    "/totals/programs",
  ];
  const files = ["/search.csv?q=SSSSSSSS7001", "/changes.csv", "/auditee/SSSSSSSS7001.csv"];
  for (const auditee_name of ["One", "Two"]) {
    await here.write("general", [submission(7001, { auditee_name, auditee_uei: "SSSSSSSS7001" })]);
    const { code, output } = await here.publish("--force", "--accept-shrink");
    expect(code, output).toBe(0);
    const [live] = await here.list("select id from publication.data_sets where state = 'live'");
    for (const path of [...paths, "/record/2023-06-GSAFAC-0000007001", ...files])
      expect((await send(service.url, path)).text, path).toContain(live);
  }
});

it("a feed is valid XML, whatever the names contain", async () => {
  const [found] = await here.list("select publication.describe_changes()");
  const change = changesSchema.parse(found).find(({ first }) => first.added.length > 0);
  const [report = ""] = change?.first.added ?? [];
  const reports = { [report]: { ...described, auditee_name: "Bell\u0007 \ufffe \ud800 & 😀 City" } };
  const feed = writeFeed(
    { appUrl: "https://app.example.gov", hasPublicData: false, facts: undefined },
    changesSchema.parse([{ ...change, reports }]),
  );
  expect(feed).toContain("Bell   &amp;amp; 😀 City");
});

it.each([
  ["only commas", "u=,,,"],
  ["a character that nobody sees", "u=%00"],
  ["a heading", "u=UEI"],
  ["a list that is too long", `u=${Array.from({ length: 1001 }, (_, index) => 100_000_000 + index).join()}`],
  ["two states", "state=TX&state=IA"],
  ["a number that no program has", "aln=9999-99-99"],
])("a feed of a filter that is not understood is refused: %s", async (_what, query) => {
  const service = await startPages(here.database.url);
  onTestFinished(service.close);
  const feed = await send(service.url, `/changes.atom?${query}`);
  expect([feed.status, feed.json.code]).toEqual([400, "unknown_filter"]);
  const page = await send(service.url, `/changes?${query}`);
  expect([page.status, page.text]).toEqual([200, expect.stringContaining("Not understood: “")]);
});

it("says which parts of a changed report differ", async () => {
  const load = async (more: Record<string, string>, name: string) => {
    await here.write("general", [submission(7001, more), submission(7002), submission(7003)]);
    await here.write(
      "passthrough",
      [7001, 7002, 7003].map((number) => ({
        report_id: id(number),
        passthrough_name: number === 7003 ? "" : name,
      })),
    );
    await here.write("resubmission", []);
    const { code, output } = await here.publish("--force", "--accept-shrink", "--accept-growth");
    expect(code, output).toBe(0);
  };
  await load({ gaap_results: "unmodified_opinion", total_amount_expended: "1" }, "A");
  await load(
    {
      gaap_results: "qualified_opinion",
      total_amount_expended: "2",
      auditee_contact_name: "B",
      auditor_firm_name: "B",
      auditee_name: "B",
    },
    "B",
  );
  const [found] = await here.list("select publication.describe_changes()");
  const [{ reports }] = changesSchema.parse(found) as [Change];
  expect(Object.entries(reports).map(([report, { parts }]) => [report, parts])).toEqual([
    [id(7001), ["amount", "auditee", "auditor", "awards", "opinions", "other"]],
    [id(7002), ["awards"]],
  ]);
});

it("names the public report that a new report replaces", async () => {
  await publish([8001, 8002]);
  const chain = (from: number, to: number) => [
    { report_id: id(from), version: "1", status: "deprecated_via_resubmission", next_report_id: id(to) },
    { report_id: id(to), version: "2", status: "most_recent", previous_report_id: id(from) },
  ];
  await publish([8001, 8002, 8011, 8012], [8002], {}, [...chain(8001, 8011), ...chain(8002, 8012)]);
  for (const reader of ["describe_changes()", "list_changes('{}')"]) {
    const [found] = await here.list(`select publication.${reader}`);
    const [{ reports }] = changesSchema.parse(found) as [Change];
    expect(Object.entries(reports).map(([report, { replaces }]) => [report, replaces])).toEqual([
      [id(8011), id(8001)],
      // The report before it is suppressed.
      [id(8012), undefined],
    ]);
  }
  const service = await startPages(here.database.url);
  onTestFinished(service.close);
  const list = `u=${id(8001)},${id(8002)},${id(8011)}`;
  const page = (await send(service.url, `/changes?${list}`)).text;
  expect(page).toContain(`<a href="/changes?u=${id(8011)},${id(8002)}">Search with the newest report</a>`);
  const feed = (await send(service.url, `/changes.atom?${list}`)).text;
  for (const text of [page.replace(/<[^>]*>/g, ""), feed]) {
    expect(text).toContain(`The report ${id(8001)} was replaced by ${id(8011)}, accepted `);
    // Like an unknown one, because it was suppressed.
    expect(text).toContain(`No public report has this ID: ${id(8002)}.`);
  }
});
