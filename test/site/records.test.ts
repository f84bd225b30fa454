import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { RunningApp } from "../../shared/web/start-app.ts";
import { useRefresh } from "../scripts/refresh/support/refresh.ts";
import { id, type Row, range, submission } from "../scripts/refresh/support/source-files.ts";
import { send } from "../support/target.ts";
import { startPages } from "./start-pages.ts";

// The pages of a report and of an auditee.

const here = useRefresh();
let service: RunningApp;

const city = {
  auditee_name: "City of Alder",
  auditee_uei: "ALDERALDER12",
  auditee_ein: "111222333",
  auditee_state: "IA",
  entity_type: "local",
  total_amount_expended: "2000000",
  gaap_results: "unmodified_opinion",
  auditor_firm_name: "=Brown & Co",
  auditor_ein: "043015799",
};
const twins = {
  auditee_name: "Twin Districts",
  auditee_uei: "TWINSTWINS12",
  auditee_ein: "111222335",
  audit_year: "2022",
  gaap_results: "unmodified_opinion",
};
const peer = { entity_type: "local", total_amount_expended: "1500000", gaap_results: "unmodified_opinion" };
const number = (place: number) => `2022-${String(place).padStart(3, "0")}`;
const finding = (report: number, reference: string, more: Row = {}): Row => ({
  report_id: id(report),
  reference_number: reference,
  award_reference: "AWARD-0001",
  ...more,
});
const parts = (report: number, column: string, reference: string, ...texts: string[]): Row[] =>
  texts.map((text) => ({ report_id: id(report), finding_ref_number: reference, [column]: text }));

beforeAll(async () => {
  await here.write("general", [
    submission(1, { ...city, gaap_results: '"unmodified_opinion,qualified_opinion"' }),
    submission(2, { ...city, audit_year: "2022" }),
    submission(3, { ...city, audit_year: "2021", is_public: "f" }),
    submission(9, { ...city, audit_year: "2024", is_public: "f" }),
    submission(4, {
      ...city,
      audit_year: "2019",
      gaap_results: "not_gaap",
      sp_framework_opinions: "unmodified_opinion",
    }),
    submission(8, { ...city, audit_year: "2020", auditee_uei: "GSA_MIGRATION" }),
    submission(5, { auditee_name: "Silent County", auditee_uei: "SILENTSILENT", auditee_ein: "111222336" }),
    submission(6, {
      ...city,
      auditee_name: "Biennial City",
      auditee_uei: "BIENNIAL1234",
      auditee_ein: "111222334",
      audit_period_covered: "biennial",
    }),
    submission(7, {
      ...city,
      auditee_name: "Biennial City",
      auditee_uei: "BIENNIAL1234",
      auditee_ein: "111222334",
      audit_year: "2021",
    }),
    submission(30, {
      ...twins,
      gaap_results: "",
      resubmission_version: "2",
      fy_end_date: "2022-12-31",
      fac_accepted_date: "2023-09-01",
    }),
    submission(31, { ...twins, fy_end_date: "2022-06-30", fac_accepted_date: "2023-01-01" }),
    submission(40, {
      auditee_name: "Elm Town",
      auditee_uei: "ELMTOWN12345",
      gaap_results: "unmodified_opinion",
      is_going_concern_included: "Yes",
      fac_accepted_date: "",
    }),
    submission(41, {
      auditee_name: "Fir Town",
      auditee_uei: "FIRTOWN12345",
      entity_type: "local",
      gaap_results: "unmodified_opinion",
      fac_accepted_date: "",
    }),
    submission(42, {
      auditee_name: "Oak College",
      auditee_uei: "OAKCOLLEGE12",
      entity_type: "higher-ed",
      total_amount_expended: "2500000",
    }),
    submission(43, {
      auditee_name: "Ash County",
      auditee_uei: "ASHCOUNTY123",
      entity_type: "local",
      total_amount_expended: "50000000",
    }),
    submission(44, { entity_type: "local", total_amount_expended: "50000000", is_public: "f" }),
    submission(32, { ...twins, audit_year: "2021", gaap_results: "adverse_opinion" }),
    // With Alder and Biennial City, these are 20 reports.
    ...range(18, 100).map((each) => submission(each, peer)),
    submission(150, { ...peer, is_public: "f" }),
    submission(151, { ...peer, resubmission_status: "deprecated_via_resubmission" }),
    // Replaced twice, and a suppressed report and its public successor.
    ...[152, 153].map((each) =>
      submission(each, { ...twins, resubmission_status: "deprecated_via_resubmission" }),
    ),
    submission(154, { is_public: "f", resubmission_status: "deprecated_via_resubmission" }),
    submission(155, {
      resubmission_status: "most_recent",
      fac_accepted_date: new Date().toISOString().slice(0, 10),
    }),
    submission(20, {
      auditee_name: "Hidden Nation",
      is_public: "f",
      auditee_ein: "998877665",
      auditee_uei: "HHHHHHHH1234",
    }),
  ]);
  const award = {
    federal_agency_prefix: "93",
    federal_award_extension: "778",
    federal_program_name: "Medicaid",
  };
  await here.write("federal_awards", [
    {
      ...award,
      report_id: id(1),
      award_reference: "AWARD-0001",
      amount_expended: "1500000",
      audit_report_type: "Q",
      is_direct: "Y",
    },
    {
      report_id: id(1),
      award_reference: "AWARD-0002",
      federal_agency_prefix: "84",
      federal_award_extension: "010",
      federal_program_name: "Title I",
      amount_expended: "500000",
      is_direct: "N",
    },
    ...range(70, 1).map((each) => ({
      ...award,
      report_id: id(2),
      award_reference: `AWARD-${String(each).padStart(4, "0")}`,
      amount_expended: String(1000 + each),
    })),
    ...[3, 20, 150].map((each) => ({ ...award, report_id: id(each), award_reference: "AWARD-0001" })),
    ...range(18, 100).map((each) => ({ ...award, report_id: id(each), award_reference: "AWARD-0001" })),
    { ...award, report_id: id(40), award_reference: "AWARD-0001", audit_report_type: "A" },
  ]);
  const grave = {
    is_material_weakness: "Y",
    is_repeat_finding: "Y",
    type_requirement: "BL",
    prior_finding_ref_numbers: '"2022-004,2022-024,2021-001"',
  };
  await here.write("findings", [
    finding(1, "2023-001", grave),
    finding(1, "2023-001", { ...grave, award_reference: "AWARD-0002" }),
    finding(1, "2023-002", { is_questioned_costs: "Y", type_requirement: "I" }),
    ...range(25).map((each) => finding(2, number(each))),
    finding(3, "2021-001"),
    finding(9, "2024-009", { is_repeat_finding: "Y", prior_finding_ref_numbers: "2022-004" }),
    finding(41, "2023-001"),
    finding(155, "2023-001"),
    finding(20, "2023-001", { is_material_weakness: "Y" }),
    ...range(5).map((each) => finding(150, number(each))),
    // Five of the peers have one finding, and two have three.
    ...range(5, 100).map((each) => finding(each, "2023-001")),
    ...[110, 111].flatMap((each) => ["2023-001", "2023-002", "2023-003"].map((name) => finding(each, name))),
    // A finding without a number counts in no total.
    finding(112, ""),
  ]);
  await here.write("findings_text", parts(1, "finding_text", "2023-001", "The city <b>", "lost receipts."));
  await here.write(
    "corrective_action_plans",
    parts(1, "planned_action", "2023-001", "We will ", "keep them."),
  );
  for (const table of ["notes_to_sefa", "passthrough", "secondary_auditors", "additional_eins"])
    await here.write(table, []);
  const resubmitted = (each: number, previous: number, next: number) => ({
    report_id: id(each),
    previous_report_id: previous ? id(previous) : "",
    next_report_id: next ? id(next) : "",
    status: next ? "deprecated_via_resubmission" : "most_recent",
  });
  await here.write("resubmission", [
    resubmitted(152, 0, 153),
    resubmitted(153, 152, 30),
    resubmitted(30, 153, 0),
    resubmitted(154, 0, 155),
    resubmitted(155, 154, 0),
  ]);
  await here.write("additional_ueis", [
    { report_id: id(5), additional_uei: "ALDERALDER12" },
    { report_id: id(5), additional_uei: "ONLYOTHERS12" },
    { report_id: id(20), additional_uei: "SUPPRESSED12" },
  ]);
  await here.load();
  service = await startPages(here.database.url);
});
afterAll(() => service?.close());

let clients = 0;
/** Each request comes from another client, so that it is not limited. */
async function get(target: string) {
  clients += 1;
  const headers = { "x-forwarded-for": `2001:db8:${clients.toString(16)}::1`, accept: "text/html" };
  return send(service.url, target, { headers });
}
/** What a person reads on a screen. */
const read = (html: string) =>
  html
    .replace(/^.*<main[^>]*>|<\/main>.*$/gs, "")
    .replace(/<(\w+) class="print-only[^>]*>.*?<\/\1>/gs, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ");
const open = async (target: string) => read((await get(target)).text);

describe("the page of a report", () => {
  it.each([
    [
      1,
      "Not clean: 2 findings: 1 material weakness, 1 repeat; opinion unmodified and qualified; opinion on compliance qualified for 1 program.",
    ],
    [4, "Clean: no findings; opinion unmodified on statements not prepared under GAAP."],
    [5, " no findings; opinion not stated."],
  ])("says first whether report %i is clean", async (report, verdict) => {
    expect(await open(`/record/${id(report)}`)).toMatch(
      new RegExp(`^ \\S.{0,40} ${verdict.trim().replaceAll(".", "\\.")}`),
    );
  });

  it("and every other page give the same verdict, also if only the opinion on a program is modified", async () => {
    const why =
      "opinion on compliance adverse for 1 program; doubt that the auditee can continue as a going concern";
    // Only what is wrong is a reason.
    expect(await open(`/record/${id(40)}`)).toContain(`Not clean: ${why}.`);
    for (const path of ["/auditee/ELMTOWN12345", "/search?q=Elm+Town", "/check?u=ELMTOWN12345"])
      expect([path, await open(path)]).toEqual([path, expect.stringContaining(`Not clean ${why} `)]);
    for (const path of ["/auditee/ELMTOWN12345.csv", "/search.csv?q=Elm+Town", "/check.csv?u=ELMTOWN12345"])
      expect([path, (await get(path)).text]).toEqual([
        path,
        expect.stringContaining(`,not clean,unmodified,opinion unmodified; ${why},`),
      ]);
  });

  it.each([
    [
      1,
      "Management decision due July 31, 2024 past due Six months after the report was accepted",
      "2024-07-31",
    ],
    [41, "Management decision due not known, because the report does not state when it was accepted", ""],
    [4, "", ""],
  ])(
    "says of report %i when the management decision is due, as the check of a list does",
    async (report, words, date) => {
      const text = await open(`/record/${id(report)}`);
      if (words === "") expect(text).not.toContain("Management decision");
      else expect(text).toContain(words);
      const [row] = parse((await get(`/check.csv?u=${id(report)}`)).text, { columns: true, bom: true });
      expect(row).toMatchObject({ report_id: id(report), management_decision_due: date });
    },
  );

  it("does not say that a decision is past due before its day, and says as of when", async () => {
    const text = await open(`/record/${id(155)}`);
    expect(text).toMatch(/Management decision due \w+ \d+, \d{4} Six months .*? As of \w+ \d+, \d{4}\./);
    expect(text).not.toContain("past due");
  });

  it("has on paper the addresses of its PDF, its other years, its other findings and its files", async () => {
    const { text } = await get(`/record/${id(2)}`);
    const paper = Array.from(
      text.matchAll(/class="(?:print-only )?address"> ?\(?https:\/\/[^/]*([^<)]*)/g),
      ([, path]) => path,
    );
    expect(paper).toEqual([
      `/dissemination/report/pdf/${id(2)}`,
      "/auditee/ALDERALDER12",
      `/record/${id(2)}?page=2`,
      `/record/${id(2)}/federal_awards.csv`,
      `/record/${id(2)}`,
    ]);
  });

  it("says once that the data has no amounts of questioned costs, also if no finding is marked", async () => {
    const count = async (report: number) =>
      (await open(`/record/${id(report)}`)).match(/marks findings that have questioned costs/g)?.length ?? 0;
    expect([await count(1), await count(2), await count(5)]).toEqual([1, 1, 0]);
  });

  it("and the search for findings say of a missing text the same, and where to look", async () => {
    const missing = `No text was submitted. Look in the <a href="/dissemination/report/pdf/${id(2)}">PDF of the report</a>.`;
    for (const path of [`/record/${id(2)}`, "/findings?auditee=ALDERALDER12", "/findings?year=2022"])
      expect([path, (await get(path)).text]).toEqual([path, expect.stringContaining(missing)]);
  });

  it("is where a found finding leads, on the page that has it", async () => {
    const { text } = await get("/findings?auditee=ALDERALDER12&page=2");
    expect(text).toContain(`<h2><a href="/record/${id(2)}?page=2#2022-024">`);
    const ofProgram = (await get("/findings?auditee=ALDERALDER12&program=93.778&page=2")).text;
    expect(ofProgram).toContain(`<h2><a href="/record/${id(2)}?page=2&amp;program=93.778#2022-024">`);
    const report = (await get(`/record/${id(2)}?page=2&program=93.778`)).text;
    expect(report).toContain(`<a href="/record/${id(2)}?program=93.778#findings">1–20</a>`);
    expect(report).toContain("<mark>");
  });

  it("is where each row of the CSV file of findings leads, on the page that has the finding", async () => {
    const { text } = await get("/findings.csv?auditee=ALDERALDER12&year=2022");
    const rows: Record<string, string>[] = parse(text, { columns: true, bom: true });
    const addresses = rows.map(({ address = "" }) => address.replace(/^https?:\/\/[^/]*/, ""));
    for (const [reference, page] of [
      ["2022-001", ""],
      ["2022-024", "?page=2"],
    ]) {
      expect(addresses).toContain(`/record/${id(2)}${page}#${reference}`);
      expect((await get(`/record/${id(2)}${page}`)).text).toContain(`id="${reference}"`);
    }
  });

  it("says of what is no report ID how one is written", async () => {
    expect(await open("/record/2023-GSAFAC-12")).toContain(
      "2023-GSAFAC-12 is not a report ID. A report ID is a year",
    );
  });

  it("is found by its ID in small letters", async () => {
    const { status, headers } = await get(`/record/${id(1).toLowerCase()}`);
    expect([status, headers.location]).toEqual([302, `/record/${id(1)}`]);
  });

  it("shows each finding once: its flags, programs and requirements, and its whole text beside the whole plan", async () => {
    const { status, headers, text } = await get(`/record/${id(1)}`);
    expect([status, headers["cache-control"]]).toEqual([200, "public, no-cache"]);
    const [, card = ""] = /<article class="finding"[^>]*>(.*?)<\/article>/s.exec(text) ?? [];
    expect(read(card)).toContain(
      "2023-001 material weakness repeat Programs 93.778 Medicaid 84.010 Title I Requirement B allowable costs; L reporting" +
        " Awards 2 awards, $2,000,000 expended, direct and passed through Repeat of 2022-004 , 2022-024 , 2021-001 (in no earlier public report of this auditee)",
    );
    expect(read(card)).toContain(
      "What the auditor found The city &lt;b&gt;lost receipts. What the auditee plans We will keep them.",
    );
    expect(card).toContain('<h3 id="2023-001">');
    expect(card).toContain('href="/program/93.778"');
    expect(text.match(/<article /g)).toHaveLength(2);
  });

  it("links to the public findings that a finding repeats, on their page, and to no suppressed one", async () => {
    const { text } = await get(`/record/${id(1)}`);
    expect(text).toContain(`<a href="/record/${id(2)}#2022-004">2022-004</a>`);
    expect(text).toContain(`<a href="/record/${id(2)}?page=2#2022-024">2022-024</a>`);
    expect(text).not.toContain(id(3));
    expect((await get(`/record/${id(2)}?page=2`)).text).toContain('<h3 id="2022-024">');
    expect((await get(`/record/${id(2)}`)).text).toContain('<h3 id="2022-004">');
  });

  it("links to the public findings of later years that repeat a finding, and to no suppressed one", async () => {
    const listLater = async (target: string) =>
      Array.from((await get(target)).text.matchAll(/<h3 id="([^"]*)">|Repeated as<.*?<dd>(.*?)<\/dd>/gs))
        .map(([, number, links], index, all) => links && [all[index - 1]?.[1] ?? number, links])
        .filter(Boolean);
    const link = `<a href="/record/${id(1)}#2023-001">2023-001</a> in 2023`;
    expect(await listLater(`/record/${id(2)}`)).toEqual([["2022-004", link]]);
    expect(await listLater(`/record/${id(2)}?page=2`)).toEqual([["2022-024", link]]);
    expect((await get(`/record/${id(2)}`)).text).not.toContain(id(9));
    // Report 2 has this number too, so its finding is the one that was repeated.
    await here.select(
      `insert into disclosed.finding_summaries select (jsonb_populate_record(summaries, $2)).* from disclosed.finding_summaries as summaries where report_id = $1 and reference_number = '2022-004'`,
      [id(2), JSON.stringify({ report_id: id(8), audit_year: "2020" })],
    );
    onTestFinished(
      async () =>
        void (await here.select("delete from disclosed.finding_summaries where report_id = $1", [id(8)])),
    );
    const { text } = await get(`/record/${id(8)}`);
    expect(text).toContain('<h3 id="2022-004">');
    expect(text).not.toContain("Repeated as");
  });

  it("links to a later finding that has no number", async () => {
    await here.select(
      `insert into disclosed.finding_summaries select (jsonb_populate_record(summaries, '{"reference_number": null}')).* from disclosed.finding_summaries as summaries where report_id = $1 and reference_number = '2023-001'`,
      [id(1)],
    );
    onTestFinished(
      async () =>
        void (await here.select("delete from disclosed.finding_summaries where reference_number is null")),
    );
    const target = `/record/${id(1)}#without-a-number`;
    expect((await get(`/record/${id(2)}`)).text).toContain(
      `<a href="${target}">without a number</a> in 2023`,
    );
    expect((await get(`/record/${id(1)}`)).text).toContain('id="without-a-number"');
    const { text } = await get("/findings?auditee=ALDERALDER12&year=2023");
    expect(text).toContain(`<a href="${target}">City of Alder: finding without a number</a>`);
    expect((await get("/findings.csv?auditee=ALDERALDER12&year=2023")).text).toContain(`${target},`);
  });

  it("links to the auditee, its other public years, the auditor and the PDF", async () => {
    const { text } = await get(`/record/${id(1)}`);
    for (const link of [
      "/auditee/ALDERALDER12",
      `/record/${id(2)}`,
      `/record/${id(4)}`,
      `/record/${id(8)}`,
      "/findings?auditee=ALDERALDER12",
      "/search?q=043015799",
      `/dissemination/report/pdf/${id(1)}`,
    ])
      expect(text).toContain(`href="${link}"`);
  });

  it("counts the findings of each award, and says what is not stated", async () => {
    const text = await open(`/record/${id(1)}`);
    expect(text).toContain("93.778 Medicaid AWARD-0001 $1,500,000 direct not stated qualified 2");
    expect(text).toContain("84.010 Title I AWARD-0002 $500,000 passed through not stated not stated 1");
  });

  it("shows the largest awards, says of how many, and has all as CSV", async () => {
    const text = await open(`/record/${id(2)}`);
    expect(text).toContain("Federal awards (70) The 50 largest. All awards as CSV");
    expect(text).toContain("$1,070");
    expect(text).not.toContain("$1,020");
    const csv = await get(`/record/${id(2)}/federal_awards.csv`);
    expect(csv.headers["content-type"]).toBe("text/csv; charset=utf-8");
    expect(csv.text.trim().split("\n")).toHaveLength(71);
  });

  it("names its auditee's UEI and EIN at its top", async () => {
    const [top = ""] = (await open(`/record/${id(1)}`)).split(" Findings (");
    expect(top).toContain(" UEI ALDERALDER12 EIN 111222333 ");
    expect((await open(`/record/${id(8)}`)).split(" Findings (")[0]).not.toContain("GSA_MIGRATION");
  });

  it("names the data set, the API's requests and its own address", async () => {
    const { text } = await get(`/record/${id(1)}`);
    const [dataSet] = await here.select("select publication.live_data_set() as id");
    expect(text).toContain(`Data set <code class="id">${dataSet?.id}</code>`);
    expect(text).toContain(`https://api.example.gov/finding_summaries?report_id=eq.${id(1)}`);
    expect(text).toContain(`/record/${id(1)}</span>`);
  });

  it("names the public report that it replaces, but no suppressed one", async () => {
    expect((await get(`/record/${id(30)}`)).text).toContain(
      `(resubmitted: version 2, replaces <a href="/record/${id(153)}">${id(153)}</a>)`,
    );
    expect((await get(`/record/${id(155)}`)).text).not.toContain(id(154));
  });

  it("and a finding among others name the report on paper", async () => {
    const { text } = await get("/findings?auditee=ALDERALDER12&year=2023");
    expect(text).toMatch(
      new RegExp(
        `<p class="print-only">Report ${id(1)}: <span class="address">https?://[^<]*/record/${id(1)}#2023-001<`,
      ),
    );
  });

  it.each([152, 153])("leads from a report that was replaced to the newest one: %i", async (each) => {
    const { status, text } = await get(`/record/${id(each)}`);
    expect(status).toBe(404);
    const answer = `replaced by <a href="/record/${id(30)}">${id(30)}</a>, accepted 2023-09-01`;
    for (const path of ["/record/", "/check?u=", "/search?q=", "/findings?u="].map((page) => page + id(each)))
      expect([path, (await get(path)).text]).toEqual([path, expect.stringContaining(answer)]);
    expect(text).not.toContain("suppressed");
    const answers = [
      await get(`/search?q=${id(each)}&year=2021`),
      await get(`/findings?u=${id(each)},${id(20)}&year=2023`),
    ];
    for (const { text: narrowed } of answers) expect(narrowed).toContain(answer);
    expect(answers[1]?.text).toContain(
      `<a href="/findings?year=2023&amp;u=${id(30)},${id(20)}">Search with the newest report</a>`,
    );
    expect(answers[1]?.text).toContain(`No public report has this ID: ${id(20)}.`);
    expect((await get(`/check.csv?u=${id(each)}`)).text).toContain(
      `"replaced by ${id(30)}, accepted 2023-09-01"`,
    );
  });

  it.each(["/check?u=", "/search?q=", "/findings?u="])(
    "says no more of a suppressed report that was replaced than of an unknown one: %s",
    async (path) => {
      const [replaced, unknown] = await Promise.all(
        [154, 99].map(async (each) => (await get(path + id(each))).text.replaceAll(id(each), "")),
      );
      expect(replaced).toBe(unknown);
    },
  );

  it("says the same of suppressed, superseded and unknown reports", async () => {
    const [suppressed, ...others] = await Promise.all(
      [20, 151, 154, 99].map((each) => get(`/record/${id(each)}`)),
    );
    expect(suppressed?.status).toBe(404);
    expect(suppressed?.text).toContain("Tribal key");
    for (const other of others)
      expect(other?.text.replace(/\d{10}/g, id(20).slice(-10))).toBe(suppressed?.text);
    for (const each of [20, 151, 99])
      expect((await get(`/record/${id(each)}/federal_awards.csv`)).status).toBe(404);
  });

  it.each(["general", "search_terms", "fingerprints", "data_set", "pg_class", "x"])(
    "has no CSV file of the table %s",
    async (table) => {
      expect((await get(`/record/${id(1)}/${table}.csv`)).status).toBe(404);
    },
  );
});

describe("the page of an auditee", () => {
  it("has a row for each year, the newest first, also for those without a public report", async () => {
    const text = await open("/auditee/ALDERALDER12");
    expect(text).toMatch(/^ City of Alder Local government in Iowa\. UEI ALDERALDER12/);
    expect(text).toContain("2 of 4 public reports are clean. The newest, of 2023: not clean: 2 findings");
    expect(text).toMatch(
      /2023 Not clean opinion unmodified and qualified; opinion on compliance qualified for 1 program 2 1 1 \$2,000,000 =Brown &amp; Co 2024-01-31 management decision due 2024-07-31 past due 2022 Not clean 25 0 0 .*? 2021 no public report has this UEI 2020 has no UEI, found by its EIN Clean opinion unmodified 0 0 0 .* 2019 Clean /,
    );
    expect(text).toMatch(
      /“Past due” means due before \w+ \d+, \d{4}\. The Federal Audit Clearinghouse does not say/,
    );
    const [row] = parse((await get("/auditee/ALDERALDER12.csv")).text, { columns: true, bom: true });
    expect(row).toMatchObject({
      management_decision_due: "2024-07-31",
      management_decision_state: "past due",
    });
    expect(await open("/auditee/111222333")).toContain("2021 no public report has this EIN");
  });

  it("tells reports of the same year apart, and does not count a report that states no opinion as one that is not clean", async () => {
    const text = await open("/auditee/TWINSTWINS12");
    expect(text).toContain(" 1 report without findings states no opinion.");
    for (const part of [
      `2022 resubmitted, fiscal year ended 2022-12-31 , ${id(30)} Not stated opinion not stated`,
      `2022 fiscal year ended 2022-06-30 , ${id(31)} Clean`,
      "2021 Not clean",
    ])
      expect(text).toContain(part);
  });

  it("links to its findings of all years", async () => {
    for (const each of ["ALDERALDER12", "111222333"])
      expect((await get(`/auditee/${each}`)).text).toContain(
        `<a href="/findings?auditee=${each}">Its 27 findings in all years, with texts and plans</a>`,
      );
    expect((await get("/auditee/FIRTOWN12345")).text).toContain(">Its only finding, with text and plan</a>");
  });

  it.each([
    ["SILENTSILENT", "does not state what kind of auditee it is"],
    [
      "BIENNIAL1234",
      "fewer than 20 public reports of 2021 are from auditees of this kind (local government) and size ($1,000,000 to $3,000,000 expended). The newest year with 20 or more is 2023: the median of its 20 reports is 0 findings",
    ],
  ])("says why a report of %s is not compared with others", async (uei, reason) => {
    const [, list = ""] =
      /aria-labelledby="peers">(.*?)<\/section>/s.exec((await get(`/auditee/${uei}`)).text) ?? [];
    expect(list).toContain(`no comparison: `);
    expect(read(list)).toContain(reason);
  });

  it("has no empty cell in a report's row", async () => {
    for (const uei of ["FIRTOWN12345", "SILENTSILENT", "ALDERALDER12"])
      for (const [row] of (await get(`/auditee/${uei}`)).text.matchAll(/<tr><th scope="row"><a .*?<\/tr>/gs))
        expect(row).not.toMatch(/<td[^>]*>\s*<\/td>/);
  });

  it("says that a report covers two years", async () => {
    expect(await open("/auditee/BIENNIAL1234")).toContain("2022 covered by the next report 2021 Clean");
  });

  it("compares findings with public reports of the same kind and size, if there are 20", async () => {
    const text = await open("/auditee/ALDERALDER12");
    expect(text).toContain(
      "2023 local government, $1,000,000 to $3,000,000 expended: 20 reports 2 0 17 have fewer, 1 as many, 2 more",
    );
    // In other years, there are too few.
    expect(text.match(/have fewer/g)).toHaveLength(1);
    // The API has the groups of all rows, with their medians.
    expect(decodeURIComponent((await get("/auditee/ALDERALDER12")).text)).toContain(
      "/totals_by_peers?limit=20000&amp;or=(and(audit_year.eq.2023,entity_type.eq.local,expended_from.eq.1000000))",
    );
    expect(await here.list("select distinct median_findings from disclosed.totals_by_peers")).toEqual(["0"]);
  });

  it.each([
    [
      "ASHCOUNTY123",
      "local government of all sizes: 22 reports because fewer than 20 public reports of 2023 are from auditees of this kind (local government) and size ($30,000,000 to $100,000,000 expended) 0 0 0 have fewer, 13 as many, 9 more",
    ],
    [
      "FIRTOWN12345",
      "local government of all sizes: 22 reports because the report states no amount of federal awards expended 1 0 13 have fewer, 6 as many, 3 more",
    ],
    [
      "OAKCOLLEGE12",
      "all kinds of auditees, $1,000,000 to $3,000,000 expended: 21 reports because fewer than 20 public reports of 2023 are from auditees of this kind (institution of higher education) and size ($1,000,000 to $3,000,000 expended) 0 0 0 have fewer, 13 as many, 8 more",
    ],
  ])("compares %s with a wider group, if its own has fewer than 20 reports", async (uei, words) => {
    expect(await open(`/auditee/${uei}`)).toContain(words);
    const [row] = parse((await get(`/auditee/${uei}.csv`)).text, { columns: true, bom: true });
    expect(row).toMatchObject({ compared_with: words.split(": ")[0] });
  });

  it("has no group of fewer than 20 reports, and counts no suppressed report", async () => {
    const groups = await here.list(
      `select row(entity_type, expended_from, sum(submissions))::text from disclosed.totals_by_peer_groups
       group by audit_year, entity_type, expended_from order by row(entity_type, expended_from, sum(submissions))::text collate "C"`,
    );
    expect(groups).toEqual(["(,1000000,21)", "(local,,22)", "(local,1000000,20)"]);
  });

  it("says what local governments are, and only of them", async () => {
    const clause = "“Local government” includes cities, counties, school districts and special districts";
    expect(await open("/auditee/ASHCOUNTY123")).toContain(clause);
    expect(await open("/auditee/OAKCOLLEGE12")).not.toContain(clause);
  });

  it("lists the reports in which it is an additional UEI", async () => {
    expect(await open("/auditee/ALDERALDER12")).toContain("additional UEI Silent County, 2023");
    expect(await open("/auditee/ONLYOTHERS12")).toMatch(/no public report of its own.*Silent County, 2023/);
  });

  it.each(["HHHHHHHH1234", "SUPPRESSED12", "998877665"])(
    "says of %s what it says of an unknown one",
    async (hidden) => {
      const unknown = /^\d/.test(hidden) ? "123456780" : "ZZZZZZZZ1234";
      const [one, other] = [await get(`/auditee/${hidden}`), await get(`/auditee/${unknown}`)];
      expect(one.status).toBe(404);
      expect(other.text.replaceAll(unknown, hidden)).toBe(one.text);
      expect((await get(`/auditee/${hidden}.csv`)).status).toBe(404);
    },
  );

  it.each<[typed: string, suggested: string[]]>([
    ["ALDERALDER21", ["ALDERALDER12"]],
    ["alderalderi2", ["ALDERALDER12"]],
    ["ALDERXLDER12", ["ALDERALDER12"]],
    ["ALDERXLDER21", []],
    ["11-1222393", ["111222333"]],
    ["111223233", ["111222333"]],
    ["ALDERALDER1", ["ALDERALDER12"]],
    ["LDERALDER12", ["ALDERALDER12"]],
    ["ALDERALDER122", ["ALDERALDER12"]],
    ["7ALDERALDER12", ["ALDERALDER12"]],
    ["11-12223333", ["111222333"]],
    // Four EINs differ from it in the last digit.
    ["111222339", []],
    // One character from an ID that only a suppressed report has.
    ["HHHHHHHH1243", []],
    ["HHHHHHHH123", []],
    ["998877656", []],
  ])("for the unknown ID %s suggests %j", async (typed, suggested) => {
    const { status, text } = await get(`/auditee/${typed}`);
    expect(status).toBe(404);
    const links = [
      ...text.matchAll(/<a href="\/auditee\/(\w+)"><code class="id">\1<\/code><\/a> \(([^)]*)\)/g),
    ];
    expect(links.map(([, id, name]) => [id, name])).toEqual(suggested.map((id) => [id, "City of Alder"]));
    expect(text.includes("Did you mean ")).toBe(suggested.length > 0);
  });

  it("is found by an EIN with a hyphen and by a UEI in lower case", async () => {
    for (const [typed, own] of [
      ["11-1222333", "111222333"],
      ["alderalder12", "ALDERALDER12"],
    ]) {
      const { status, headers } = await get(`/auditee/${typed}`);
      expect([status, headers.location]).toEqual([302, `/auditee/${own}`]);
    }
  });

  it.each(["x", "GSA_MIGRATION", "UEI5", "1-11222333"])("has no page for %s", async (typed) => {
    expect((await get(`/auditee/${typed}`)).status).toBe(404);
  });

  it("has its rows as CSV in which no text is a formula and codes keep their zeros", async () => {
    const { text, headers } = await get("/auditee/ALDERALDER12.csv");
    expect(headers["content-disposition"]).toMatch(
      /^attachment; filename="auditee-ALDERALDER12-2\d{3}-\d\d-\d\d\.csv"$/,
    );
    const [, first = ""] = text.split("\n");
    expect(first).toContain("'=Brown & Co");
    expect(first).toContain('"=""043015799"""');
    expect(text.trim().split("\n")).toHaveLength(5);
  });
});

it.each([
  ["/auditee/ALDERALDER12.csv", "findings_with_questioned_costs"],
  ["/check.csv?u=ALDERALDER12", "findings_with_questioned_costs"],
  ["/check.csv?u=ALDERALDER12&year=2022,2023", "findings_2022"],
  ["/check.csv?u=ALDERALDER12&rows=decisions", "management_decision_state"],
  ["/search.csv?q=Alder+2023", "findings"],
  ["/findings.csv?auditee=ALDERALDER12", "auditor_firm_name"],
])("the file %s has the auditee's UEI, and the column %s", async (path, column) => {
  const [row] = parse((await get(path)).text, { columns: true, bom: true }) as Record<string, string>[];
  expect(row).toMatchObject({ auditee_uei: '="ALDERALDER12"', [column]: expect.any(String) });
});

it("does not suggest trying again if the pages' role lacks a right", async () => {
  const right = "execute on function publication.describe_auditee(text)";
  await here.select(`revoke ${right} from site`);
  try {
    const { status, text, headers } = await get("/auditee/ALDERALDER12");
    expect([status, headers["retry-after"], /try again/i.test(text)]).toEqual([500, undefined, false]);
    expect(text).toContain("X-Request-Id to the operator");
  } finally {
    await here.select(`grant ${right} to site`);
  }
});

it("no page of a report or auditee reads suppressed rows", async () => {
  await here.select("begin");
  const tables = await here.select(
    "select oid::regclass::text as name from pg_class where relnamespace = 'suppressed'::regnamespace and relkind = 'r'",
  );
  await here.select("rollback");
  expect(tables.length).toBeGreaterThan(10);
  const { connect } = await import("../../shared/connect.ts");
  const lock = await connect(here.database.url, "test");
  try {
    await lock.query("begin");
    await lock.query(`lock table ${tables.map(({ name }) => name).join(", ")} in access exclusive mode`);
    for (const path of [
      `/record/${id(1)}`,
      `/record/${id(20)}`,
      "/auditee/ALDERALDER12",
      "/auditee/HHHHHHHH1234",
    ])
      expect([path, (await get(path)).status < 500]).toEqual([path, true]);
  } finally {
    await lock.end();
  }
});

it.each([
  "/record/%E9",
  "/state/%E9",
  "/%E9",
  "/program/%",
  `/auditee/${"A".repeat(5000)}`,
  `/agency/${"9".repeat(9000)}`,
])("a browser gets a page for an address that names nothing: %.20s", async (path) => {
  const { status, headers, text } = await get(path);
  expect([status, headers["content-type"]]).toEqual([404, "text/html; charset=utf-8"]);
  expect(text).toContain("<h1>");
});

it.each([
  ["/no-such-page?x=1", "/no-such-page"],
  [`/record/${id(1)}/x.csv`, `/record/${id(1)}/x.csv`],
  ["/%3Cb%3E", "/&lt;b&gt;"],
])(
  "the page for the address %s says what was asked for, what may be wrong, and where to search",
  async (target, asked) => {
    const { text } = await get(target);
    expect(text).toContain(
      `You asked for <code class="address">${asked}</code>. The address may be mistyped`,
    );
    expect(text).toMatch(/<main.*<form class="search" action="\/search"/s);
  },
);
