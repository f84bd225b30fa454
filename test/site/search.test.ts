import { once } from "node:events";
import { request } from "node:http";
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { connect } from "../../shared/connect.ts";
import type { RunningApp } from "../../shared/web/start-app.ts";
import { readAlnOrAgency } from "../../site/read-filters.ts";
import { searchesAMinute } from "../../site/search/limit-queries.ts";
import { cleanSearch, readSearch } from "../../site/search/read-search.ts";
import { readers } from "../../site/search/readers.ts";
import { useRefresh } from "../scripts/refresh/support/refresh.ts";
import { id, submission } from "../scripts/refresh/support/source-files.ts";
import { send as sendRequest } from "../support/target.ts";
import { startPages } from "./start-pages.ts";

// The page that searches the public reports.

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
    named(10, "Washington Academy", { auditee_state: "NH", auditee_city: "Springfield Hills" }),
    named(11, "Olympia Clinic", { auditee_state: "WA", auditor_firm_name: "Marsh Stone Associates PLLC" }),
    named(12, "University of Iowa", { auditee_state: "IA", fac_accepted_date: "2020-01-01" }),
    named(13, "Drake University", { auditee_state: "IA", auditee_uei: "QWERTZUIOPAS" }),
    named(14, '<b onclick="alert(1)">50%_\\ Bold & Sons</b>'.replaceAll('"', '""'), { auditee_state: "TX" }),
    named(15, "Gary", { auditee_state: "IN" }),
    named(16, "Saint Bernard Parish", {
      auditee_state: "LA",
      auditee_city: "ST.LUKE",
      auditee_uei: "PPPPPPPP1234",
    }),
    named(17, "St. Bernard School", {
      auditee_state: "LA",
      auditee_city: "Saint Luke",
      auditee_uei: "RRRRRRRR1234",
    }),
    named(18, "OKLAHOMA DEPARTMENT OF TRANSPORTATION", { auditee_state: "OK" }),
    named(19, "Harbor Transit", { auditee_state: "OK", auditee_uei: "H0RB0R123456" }),
    named(22, "HARBOR TRANSIT", { auditee_state: "OK", audit_year: "2022" }),
    named(23, "HARBOR TRANSIT", { auditee_state: "OK", audit_year: "2021" }),
    named(20, "Hidden Nation", {
      auditee_state: "IA",
      auditee_city: "Hometown",
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
      federal_program_name: number === 9 ? "State Health Care; Medi-Cal" : "Medical Assistance Program",
      amount_expended: "1234567",
    })),
    {
      report_id: id(2),
      award_reference: "AWARD-0001",
      federal_agency_prefix: "15",
      federal_award_extension: "RD",
    },
    ...[2, 3].map((number) => ({
      report_id: id(number),
      award_reference: "AWARD-0003",
      federal_agency_prefix: "14",
      federal_award_extension: number === 2 ? "218" : "228",
      federal_program_name: "Community Development Block Grants",
    })),
    ...[18, 19].map((number) => ({
      report_id: id(number),
      award_reference: "AWARD-0001",
      federal_agency_prefix: "20",
      federal_award_extension: "205",
    })),
    {
      report_id: id(20),
      award_reference: "AWARD-0002",
      federal_agency_prefix: "08",
      federal_award_extension: "U01",
      federal_program_name: "Secret Weapons",
    },
  ]);
  const finding = { report_id: id(9), award_reference: "AWARD-00001", reference_number: "2023-001" };
  await here.write("findings", [finding]);
  await here.write(
    "findings_text",
    ["The clinic <b>", "lost receipts."].map((finding_text) => ({
      report_id: id(9),
      finding_ref_number: "2023-001",
      finding_text,
    })),
  );
  for (const table of ["corrective_action_plans", "notes_to_sefa", "passthrough", "resubmission"])
    await here.write(table, []);
  await here.write("secondary_auditors", [
    { report_id: id(7), auditor_name: "Second & Sons CPA", auditor_ein: "551122334" },
    { report_id: id(20), auditor_name: "Hidden Second", auditor_ein: "551122335" },
  ]);
  await here.write("additional_ueis", [
    { report_id: id(4), additional_uei: "ADDITIONAL12" },
    { report_id: id(20), additional_uei: "SUPPRESSED12" },
  ]);
  await here.write("additional_eins", [
    { report_id: id(5), additional_ein: "426005243" },
    { report_id: id(20), additional_ein: "998877663" },
  ]);
  await here.load();
  service = await startPages(here.database.url);
});
afterAll(() => service?.close());

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
  [...text.matchAll(/data-label="Report"><code class="id">(\d{4}-\d\d-[^<]*)</g)].map(([, reportId]) =>
    Number(reportId?.slice(-10)),
  );

/** The auditees whose pages a search leads to, before its rows. */
async function listAuditees(text: string): Promise<(string | undefined)[]> {
  const [, line = ""] = /All years and findings: (.*?)<\/p>/s.exec((await search(text)).text) ?? [];
  return Array.from(line.matchAll(/<a href="\/auditee\/[^>]*>(.*?)<\/a>/g), ([, auditee]) => auditee);
}

describe("a search", () => {
  it("leads to the pages of up to three auditees, with their IDs if there are several", async () => {
    expect(await listAuditees("Polk County Iowa")).toEqual(["POLK COUNTY, IOWA"]);
    expect(await listAuditees("Harbor Transit")).toEqual([
      'Harbor Transit <code class="id">H0RB0R123456</code>',
    ]);
    expect(await listAuditees("Bernard")).toHaveLength(2);
  });

  it("tells auditees with the same name and city by their UEIs", async () => {
    expect((await search("Harbor Transit")).text).toMatch(/<code class="id hint">H0RB0R123456<\/code>/);
    expect((await search("Shelby County")).text).not.toContain('class="id hint"');
  });

  it("tells auditors with the same name apart by their EINs", async () => {
    const mark = /<a href="[^"]*">Firm<\/a> <code class="id hint">([^<]*)</g;
    const list = async () =>
      Array.from((await search("Shelby County")).text.matchAll(mark), ([, ein]) => ein);
    expect(await list()).toEqual([]);
    const setEin = (ein: string) =>
      here.select(`update disclosed.general set auditor_ein = ${ein} where auditee_name = 'SHELBY COUNTY'`);
    await setEin("'551122336'");
    onTestFinished(async () => {
      await setEin("null");
    });
    expect(await list()).toEqual(["no EIN", "551122336"]);
    expect((await get("/search.csv?q=Shelby+County")).text).toMatch(/,Firm,[^,]*551122336[^,]*,/);
  });

  it("links an auditor's reports of a year to their findings and repeat findings", async () => {
    const setEin = (ein: string) =>
      here.select(`update disclosed.general set auditor_ein = ${ein} where report_id = '${id(9)}'`);
    await setEin("'551122337'");
    onTestFinished(async () => {
      await setEin("'426005243'");
    });
    const { text } = await search("551122337", "&year=2023&findings=1");
    expect(listReports(text)).toEqual([9]);
    expect(text).toContain(
      '<a href="/findings?year=2023&amp;auditor=551122337">Findings in reports by 551122337, audit year 2023</a> (<a href="/findings?year=2023&amp;auditor=551122337&amp;repeat=Y">only repeat findings</a>)',
    );
  });

  it("leads from an auditor's name to the findings in its reports, as from its EIN", async () => {
    const { text } = await search("Brown & O'Neill", "&year=2023");
    expect(text).toContain(
      '<a href="/findings?year=2023&amp;auditor=426005243">Findings in reports by Brown &amp; O&#39;Neill, L.L.P., audit year 2023</a>',
    );
    expect((await search("Polk County Iowa")).text).not.toContain("Findings in reports by");
  });

  it("lists first and offers the auditor with exactly the name, if others have its words too", async () => {
    const setFirm = (number: number, name: string, ein: string) =>
      here.select(
        `update disclosed.general set auditor_firm_name = '${name}', auditor_ein = ${ein} where report_id = '${id(number)}'`,
      );
    await setFirm(5, "MARSH, STONE", "'551122338'");
    await setFirm(11, "Marsh Stone Associates PLLC", "'551122339'");
    onTestFinished(async () => {
      await setFirm(5, "Firm", "null");
      await setFirm(11, "Marsh Stone Associates PLLC", "null");
    });
    const { text } = await search("Marsh Stone");
    expect(listReports(text)).toEqual([5, 11]);
    expect(text).toContain('<a href="/search?q=551122338">MARSH, STONE</a> (EIN 551122338, 1 report)');
    expect(text).not.toContain("/findings?auditor=551122339");
  });

  it("with “city of” before a place's name looks for the city only if it finds nothing else", async () => {
    const city = { city: "saint luke", only_if_nothing: true };
    const count = async (name: string) => {
      const readings = JSON.stringify([{ name }, city]);
      const [row] = await here.select("select publication.search_reports($1) -> 'totals' as totals", [
        readings,
      ]);
      return row?.totals;
    };
    expect(await count("Gary")).toEqual([1, 0]);
    expect(await count("Zzyzx")).toEqual([0, 2]);
  });

  it.each([
    [
      "City of Saint Luke",
      "There are no public reports of auditees whose name has the words “City of Saint Luke”. 2 reports of auditees in the city “Saint Luke”.",
    ],
    [
      "saint luke, LA 2023",
      "There are no public reports of auditees whose name has the words “saint luke”, in Louisiana, audit year 2023. 2 reports of auditees in the city “saint luke”, in Louisiana, audit year 2023.",
    ],
    [
      "Clin Olymp",
      "There are no public reports of auditees whose name has the words “Clin Olymp”. 1 report of auditees whose name has words that begin with “Clin Olymp”.",
    ],
    ["Saint Bernard", "2 reports of auditees whose name has the words “Saint Bernard”."],
    ["Iowa", "3 reports of all auditees, in Iowa."],
    ["Iowa HHS", "1 report with awards of the agency Health and Human Services (93), in Iowa."],
  ])("says first if no auditee has the name that was typed: %s", async (typed, lead) => {
    const [, status] = /role="status">(.*?)<\/p>/s.exec((await search(typed)).text) ?? [];
    expect(status).toBe(lead);
  });

  it("takes older reports without a UEI, but with the same EIN, for the same auditee's", async () => {
    const setEin = (ein: string) =>
      here.select(
        `update disclosed.general set auditee_ein = ${ein} where auditee_name ilike 'harbor transit'`,
      );
    await setEin("'731234567'");
    onTestFinished(async () => {
      await setEin("null");
    });
    expect(await listAuditees("Harbor Transit")).toHaveLength(1);
    expect((await search("Harbor Transit")).text).not.toContain('class="id hint"');
  });

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
    ["saint marys county", [9]],
    ["St. Bernard", [17, 16]],
    ["st bernard", [17, 16]],
    ["Saint Bernard", [17, 16]],
    ["St. Luke", [17, 16]],
    ["St.Luke", [17, 16]],
    ["saint luke", [17, 16]],
    ["University of Iowa", [12, 13]],
    ["audits of Washington", [11]],
    ["93", [9, 8, 1]],
    ["HHS", [9, 8, 1]],
    ["Department of Health & Human Services", [9, 8, 1]],
    ["93.778 California", [9, 8]],
    ["93.778 2023 CA", [9, 8]],
    ["CA 93.778 2023", [9, 8]],
    ["2023 California 93.778", [9, 8]],
    ["CA 2022 93.778", []],
    ["Iowa HHS", [1]],
    ["FL Polk County", [2]],
    ["ALN 93.224 in 2023", [1]],
    ["15.rd", [2]],
    ["93 in Iowa", [1]],
    ["oneill llp", [9]],
    ["Brown and O'Neill", [9]],
    ["42-6005243", [5, 1]],
    ["EIN: 426005243", [5, 1]],
    ["abcdefgh1234", [1]],
    ["additional12", [4]],
    ["ABCDEFGH1234 abcdefgh1234", [1]],
    ["426005243 42-6005243", [5, 1]],
    ["42-6005243, 42-6005243 AL", [5]],
    ["City of Saint Luke", [17, 16]],
    ["the village of St. Luke, Louisiana", [17, 16]],
    ["QWERTZUIOPAS", [13]],
    ["2023-06-gsafac-0000000007", [7]],
    ["Clin Olymp", [11]],
    ["Texas 2023", [14]],
    ["Texas FY23", [14]],
    ["FY 2023 Texas", [14]],
    ["single audits of Polk County Iowa", [1]],
    ["tx", [14]],
    ["50%_\\ bold", [14]],
    ["Academy springfield hills", [10]],
    ["Washington hills NH", [10]],
    ["Springfield NH washington academy", [10]],
    ["springfield nh academy 2023", [10]],
  ])("for %s finds the reports %j", async (text, reports) => {
    const { status, text: body } = await search(text);
    expect([status, listReports(body)]).toEqual([200, reports]);
  });

  it.each<[text: string, other: string, reports: number[]]>([
    ["42-6005243", "Reports by the auditor with the EIN 426005243", [9]],
    ["Washington", "Reports of auditees whose name has the words “Washington”", [10]],
    ["Iowa", "Reports of auditees whose name has the words “Iowa”", [1, 12]],
  ])("for %s offers %s", async (text, other, reports) => {
    const { text: body } = await search(text);
    const [, link = ""] =
      new RegExp(`<a href="([^"]*)">${other}</a> \\(${reports.length} reports?\\)`).exec(body) ?? [];
    const { text: chosen } = await get(link.replaceAll("&amp;", "&"));
    expect(listReports(chosen)).toEqual(reports);
    expect(chosen).toContain(`${other.replace("Reports ", "")}.</p>`);
  });

  it("that finds nothing says what was understood and what to try", async () => {
    const { status, text } = await search("Atlantis County, Iowa 2021");
    expect(status).toBe(200);
    for (const part of [
      "No public report was found for “Atlantis County, Iowa 2021”.",
      "Reports of auditees whose name has the words “Atlantis County”, in Iowa, audit year 2021",
      "Leave out the state or the year.",
      "Suppressed reports cannot be found",
    ])
      expect(text).toContain(part);
  });

  it.each([
    [
      "Oklahoma Department of Transportation",
      "1 report of auditees whose name is “Oklahoma Department of Transportation”",
    ],
    [
      "Oklahoma Department of Transportation 2023",
      "1 report of auditees whose name is “Oklahoma Department of Transportation”, audit year 2023",
    ],
    // Nobody has this name.
    ["Department of Transportation Oklahoma", "2 reports with awards of "],
  ])("for %s finds first the auditee whose whole name it is, if there is one", async (typed, words) => {
    const { text } = await search(typed);
    expect(text).toContain(`role="status">${words}`);
    const [, others = ""] = /aria-label="Other meanings">(.*?)<\/nav>/s.exec(text) ?? [];
    expect(others.includes("Reports with awards of ")).toBe(typed.startsWith("Oklahoma"));
    // Words of the name have the same report, so they are no other meaning.
    if (typed.startsWith("Oklahoma")) expect(others).not.toContain("name");
  });

  it("for a report ID leads to the report first", async () => {
    const { text } = await search(id(1));
    const [, first] = /role="status">.*?<a href="([^"]*)"/s.exec(text) ?? [];
    expect(first).toBe(`/record/${id(1)}`);
  });

  it("for a report ID that is not public says what its page says, first of all and the same of each", async () => {
    const answers = await Promise.all([20, 21, 99].map((each) => search(id(each))));
    for (const [index, { text }] of answers.entries()) {
      const own = id([20, 21, 99][index] ?? 0);
      expect(text.replaceAll(own, id(20))).toBe(answers[0]?.text);
      const [, advice = "none"] = /role="status">.*?<\/p>(<p>.*?<\/p>)/s.exec(text) ?? [];
      expect(advice).toMatch(
        new RegExp(`Tribal key, <a href="[^"]*/row/general\\?report_id=eq\\.${own}[&"]`),
      );
      expect((await get(`/record/${own}`)).text).toContain(advice);
    }
  });

  it.each([
    ["HHHHHHHH1234", "ZZZZZZZZ1234"],
    ["998877665", "998877999"],
  ])(
    "for %s, which is not public, says what an auditee's page says of an unknown ID",
    async (hidden, unknown) => {
      const [one, other] = [(await search(hidden)).text, (await search(unknown)).text];
      expect(other.replaceAll(unknown, hidden)).toBe(one);
      const [, advice = "none"] = /role="status">.*?<\/p>\s*(<p>.*?<\/p>)/s.exec(one) ?? [];
      expect((await get(`/auditee/${hidden}`)).text).toContain(advice);
    },
  );

  it.each([
    ["Medi-Cal California", "93.778+CA", "93.778 Medical Assistance Program"],
    ["medi cal 2023", "93.778+2023", "93.778 Medical Assistance Program"],
    ["Medcial Asistance California", "93.778+CA", "93.778 Medical Assistance Program"],
    ["Secrt Weapon", undefined, ""],
    ["secret weapons", undefined, ""],
  ])("for a program's name, %s, leads to its reports", async (typed, link, name) => {
    const [, ...found] =
      /<nav aria-label="Programs">.*?<a href="\/search\?q=([^"]*)">([^<]*)</s.exec(
        (await search(typed)).text,
      ) ?? [];
    expect(found).toEqual(link === undefined ? [] : [link, name]);
  });

  it.each([
    [
      "Medi-Cal",
      "A program has a name with the words “Medi-Cal”. No auditee, auditor or city with this name was found.",
    ],
    [
      "medical assistance program California 2023",
      "Programs have names with the words “medical assistance program”. No auditee, auditor or city with this name was found, in California, audit year 2023.",
    ],
    ["Medcial Asistance", "No public report was found for “Medcial Asistance”."],
    ["secret weapons", "No public report was found for “secret weapons”."],
  ])("for %s lists programs first if only they have the name", async (typed, lead) => {
    const { text } = await search(typed);
    const [, status = "", next = ""] = /role="status">(.*?)<\/p>\s*(<[^>]*>)/s.exec(text) ?? [];
    expect(status.replace(/\s+/g, " ")).toBe(lead);
    if (!lead.startsWith("No")) expect(next).toBe('<nav aria-label="Programs">');
    expect(text.split('aria-label="Programs"').length).toBeLessThan(3);
  });

  it.each<[typed: string, lead: string, reports: number[]]>([
    ["Medicaid", "2 reports with awards of the program 93.778 (Medicaid).", [9, 8]],
    [
      "the medicaid program, California 2023",
      "2 reports with awards of the program 93.778 (Medicaid), in California, audit year 2023.",
      [9, 8],
    ],
    ["title XIX", "2 reports with awards of the program 93.778 (Title XIX).", [9, 8]],
    ["Medicaid Iowa", "No public report was found for “Medicaid Iowa”.", []],
    ["CDBG", "1 report with awards of the program 14.218 (CDBG).", [2]],
    // Other words make it a name.
    ["Medicaid Clinic", "No public report was found for “Medicaid Clinic”.", []],
  ])("for the everyday name of a program, %s, leads with the program", async (typed, lead, reports) => {
    const { text } = await search(typed);
    const [, status] = /role="status">(.*?)<\/p>/s.exec(text) ?? [];
    expect([status, listReports(text)]).toEqual([lead, reports]);
    const [aln] = /\d\d\.\d{3}/.exec(lead) ?? [];
    if (aln) expect(text).toContain(`<a href="/program/${aln}">Program ${aln}</a>`);
  });

  it("for the everyday name of a program offers the other program and the auditees with this name", async () => {
    const choices = async (typed: string) => {
      const [, list = ""] =
        /aria-label="Other meanings">(.*?)<\/nav>/s.exec((await search(typed)).text) ?? [];
      return Array.from(list.matchAll(/<a [^>]*>([^<]*)<\/a> \(([^)]*)/g), (each) => each.slice(1));
    };
    const setName = (number: number, name: string) =>
      here.select("update disclosed.general set auditee_name = $2 where report_id = $1", [id(number), name]);
    await setName(15, "CDBG Office");
    onTestFinished(async () => void (await setName(15, "Gary")));
    expect(await choices("CDBG")).toEqual([
      ["Reports with awards of the program 14.228 (CDBG)", "1 report"],
      ["Reports of auditees whose name has the words “CDBG”", "1 report"],
    ]);
  });

  it("names of programs are read without the words around them", () => {
    for (const typed of ["Pell", "the Pell Grant program", "PELL GRANTS", "pell  grant"])
      expect(readAlnOrAgency(typed)).toBe("84.063");
    expect(readAlnOrAgency("section 8 vouchers")).toBe("14.871");
    // Two programs have this name.
    expect(readAlnOrAgency("CDBG")).toBeUndefined();
  });

  it("for one word beside a state and a year names programs before auditees", async () => {
    const setName = (name: string) =>
      here.select(`update disclosed.general set auditee_name = '${name}' where report_id = '${id(8)}'`);
    const [row] = await here.select(
      `select auditee_name as name from disclosed.general where report_id = '${id(8)}'`,
    );
    await setName("Medici School");
    onTestFinished(async () => void (await setName(String(row?.name))));
    const { text } = await search("Medicl California 2023");
    const places = ["93.778 Medical Assistance Program", "Medici School"].map((each) => text.indexOf(each));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
  });

  it.each<[typed: string, name: string | undefined, narrowed?: Record<string, string>]>([
    ["Poke County", "POLK COUNTY, IOWA"],
    ["Shelbey", "SHELBY COUNTY"],
    ["Municipo de Anasko", "Municipio de Añasco"],
    ["Univercity of Iowa", "University of Iowa", { state: "IA" }],
    ["93.778 Texs", "93.778 Texas"],
    ["93.778 New Hamphsire 2020", "93.778 New Hampshire 2020"],
    ["Washinton Acadmey Springfeld", "Washington Academy"],
    // Swapped letters at the beginning of a word, and a wrong first letter.
    ["Polk Cuonty", "POLK COUNTY, IOWA"],
    ["Polk Cuonty Iowa", "POLK COUNTY, IOWA", { state: "IA" }],
    ["Polk Cuonty FL 2023", "Polk County", { state: "FL", year: "2023" }],
    ["Polk Cuonty Texas", undefined],
    ["harbor transit 2001 OK", "HARBOR TRANSIT", { state: "OK" }],
    ["Ahrbor Transit", "HARBOR TRANSIT"],
    ["Xarbor Transit", "HARBOR TRANSIT"],
    ["Xarbor", "HARBOR TRANSIT"],
    // Two words with a wrong third letter.
    ["Wabhington Acedemy", "Washington Academy"],
    // Other names in which all but one of the words are the same.
    ["Municipio de Ponce", undefined],
    ["Clinic of Olivia", undefined],
    ["Hiden Nation", undefined],
    ["Zzyzx", undefined],
    // An auditor.
    ["Marhs Stone Asociates", "Marsh Stone Associates PLLC"],
    ["Marsh Ston Asociates WA", "Marsh Stone Associates PLLC", { state: "WA" }],
    ["Marsh Ston Asociates TX", undefined],
    ["Hiden Firm", undefined],
  ])("for %s suggests %s", async (typed, name, narrowed = {}) => {
    const { text } = await search(typed);
    const [, list = ""] = /aria-label="Similar names">(.*?)<\/nav>/s.exec(text) ?? [];
    const links = Array.from(list.matchAll(/<a href="([^"]*)">([^<]*)/g), (link) => link.slice(1));
    if (name === undefined) return expect(links).toEqual([]);
    const target = `/search?${new URLSearchParams({ q: name, ...narrowed })}`;
    expect(links).toContainEqual([target.replaceAll("&", "&amp;"), name]);
    if (narrowed.state) expect(listReports((await get(target)).text)).not.toEqual([]);
  });

  it.each([
    // Two misspelled words, and two mistakes in a word.
    "Sprngfeld Scool District",
    "Sprignfild Shcol Distrct",
    // The first letter of one of the misspelled words is wrong.
    "Dpringfield Scool District",
    "Sprngfield Achool District",
    "Aprignfield Scool",
  ])("suggests a name of which two words are misspelled: %s", async (typed) => {
    const setName = (name: string) =>
      here.select("update disclosed.general set auditee_name = $2 where report_id = $1", [id(15), name]);
    await setName("Springfield School District");
    onTestFinished(async () => void (await setName("Gary")));
    expect((await search(typed)).text).toContain(">Springfield School District</a></li>");
    expect((await search(typed.replace(/Sc.*|Sh.*|Ac.*/, "Clinic"))).text).not.toContain("Similar names");
  });

  it("suggests only names of auditees in the state that was typed", async () => {
    expect((await search("Polk Cuonty Florida")).text).not.toContain("POLK COUNTY, IOWA");
    expect((await search("Polk Cuonty")).text).toContain("POLK COUNTY, IOWA");
  });

  it("suggests names that differ only in case once, and not the name that was typed", async () => {
    const suggest = async (typed: string, more = "") => {
      const { text } = await search(typed, more);
      const [, list = ""] = /aria-label="Similar names">(.*?)<\/nav>/s.exec(text) ?? [];
      return Array.from(list.matchAll(/<li><a [^>]*>([^<]*)/g), ([, name]) => name);
    };
    expect(await suggest("Ahrbor Transit")).toEqual(["HARBOR TRANSIT"]);
    expect(await suggest("harbor transit", "&year=2001")).toEqual([]);
    expect(await suggest("harbor transit 2001")).toEqual(["HARBOR TRANSIT"]);
  });

  it.each([
    ["ABCDEFGH1243", "ABCDEFGH1234", "POLK COUNTY, IOWA"],
    ["UEI ABCDEFGX1234 IA", "ABCDEFGH1234", "POLK COUNTY, IOWA"],
    ["HORBOR123456", "H0RB0R123456", "Harbor Transit"],
    ["42-6005234", "426005243", "POLK COUNTY, IOWA"],
    ["ABCDEFGH123", "ABCDEFGH1234", "POLK COUNTY, IOWA"],
    ["abbcdefgh1234", "ABCDEFGH1234", "POLK COUNTY, IOWA"],
    ["ABCDEFGH123 IA 2023", "ABCDEFGH1234", "POLK COUNTY, IOWA"],
    ["42-60052433", "426005243", "POLK COUNTY, IOWA"],
    // One character from an ID that only a suppressed report has.
    ["HHHHHHHH1243", undefined, ""],
    ["HHHHHHHH12344", undefined, ""],
    ["998877656", undefined, ""],
  ])("for %s suggests the auditee with the ID %s", async (typed, suggested, name) => {
    const { text } = await search(typed);
    expect(text).toContain(`No public report was found for “${typed}”.`);
    if (suggested === undefined) expect(text).not.toContain("Did you mean");
    else
      expect(text).toContain(
        `Did you mean <a href="/auditee/${suggested}"><code class="id">${suggested}</code></a> (${name})?`,
      );
  });

  it.each([
    ["lost receipts 93.778", "words=lost+receipts&amp;program=93.778"],
    ["CFDA 93.778 receipts, Texas 2023", "words=receipts&amp;state=TX&amp;year=2023&amp;program=93.778"],
    ["lost receipts HHS", "words=lost+receipts&amp;program=93"],
  ])("for words and a program, %s, leads to the findings with both", async (typed, target) => {
    expect((await search(typed)).text).toContain(`<a href="/findings?${target}">`);
  });

  it("that finds nothing names the columns that it did not search, with links to the explorer", async () => {
    const { text } = await search("G-078417");
    expect(text).toContain("The search did not look in");
    for (const filter of [
      "passthrough?passthrough_id=eq.G-078417",
      "federal_awards?additional_award_identification=eq.G-078417",
    ])
      expect(text).toContain(`/${filter}&`);
  });

  it.each([
    ["Indiana", "/state/IN"],
    ["93.778 CA", "/state/CA"],
    ["93.778 CA", "/program/93.778"],
    ["93.778 CA", "/program/93.778?state=CA"],
    ["HHS", "/agency/93"],
    ["abcdefgh1234", "/auditee/ABCDEFGH1234"],
    ["Medicaid", "/program/93.778"],
    ["Drake", "/auditee/QWERTZUIOPAS"],
  ])("for %s leads to %s", async (text, path) => {
    expect((await search(text)).text).toContain(`<a href="${path}">`);
  });

  it.each([
    ["year=99", "“99” is not an audit year"],
    ["state=ZZ", "“ZZ” is not a state"],
    ["findings=Y", "“Y” is not 1, the only value of findings"],
    ["page=9999", "“9999” is not a page"],
    ["page=2", "There is no page 2. This search has 1 page."],
  ])("says that %s is not used, and makes no file of other rows", async (parameter, sentence) => {
    expect((await search("Iowa", `&${parameter}`)).text).toContain(sentence);
    const { status, text } = await get(`/search.csv?q=Iowa&${parameter}`);
    expect([status, text.includes("POLK")]).toEqual([parameter === "page=2" ? 200 : 400, false]);
  });

  it.each([
    ["an address in another encoding", "/search?q=A%F1asco", [7]],
    ["a percent sign that begins nothing", "/search?q=50%_%20bold", [14]],
  ])("reads %s", async (_name, target, reports) => {
    expect(listReports((await get(target)).text)).toEqual(reports);
  });

  it.each([
    ["42-6005243", [5, 1]],
    ["93.778 CA", [9, 8]],
    ["Shelby County", [6, 5]],
  ])("for %s names the API's request for the reports on the page", async (typed, reports) => {
    const { text } = await search(typed);
    expect(text).toContain(`/general?report_id=in.(${reports.map((each) => id(each)).join()})&amp;`);
  });

  // With more regular expressions than PostgreSQL keeps, it would compile each of them for each program.
  it("for a program's name compares the 20 longest words", async () => {
    const beginnings = ["medical", "assistance", "program"].flatMap((word) =>
      [...word].map((_, index) => word.slice(0, index + 1)),
    );
    const find = async (words: string[]) => {
      const [row] = await here.select("select publication.search_programs($1) as found", [words.join(" ")]);
      return (row as { found: { aln: string }[] }).found.map(({ aln }) => aln);
    };
    expect(await find(["x", "y", ...beginnings])).toContain("93.778");
    expect(await find(["xxx", ...beginnings])).toEqual([]);
  });

  // A state has thousands of reports, each with dozens of awards.
  it("for a program in a state does not look at each award", async () => {
    const lock = await connect(here.database.url, "test");
    onTestFinished(() => lock.end());
    await lock.query("begin; lock table disclosed.federal_awards in access exclusive mode");
    await here.select("set statement_timeout = '20s'");
    onTestFinished(async () => void (await here.select("reset statement_timeout")));
    const criteria = readSearch("93.778 TX 2023").map((reading) => reading.criteria);
    const [row] = await here.select("select publication.search_reports($1) as found", [
      JSON.stringify(criteria),
    ]);
    expect(row).toMatchObject({ found: { totals: [0] } });
  });

  it.each([
    ["93.778", "93.778"],
    ["HHS", "93"],
  ])(
    "for %s counts the findings on it, and says that the filter is of whole reports",
    async (typed, program) => {
      const setPrograms = (alns: string) =>
        here.select(`update disclosed.finding_summaries set alns = '${alns}' where report_id = '${id(9)}'`);
      onTestFinished(async () => void (await setPrograms("{}")));
      const read = async () => {
        const { text } = await search(typed, "&state=CA&year=2023&findings=1");
        expect(listReports(text)).toEqual([9]);
        expect(text).toMatch(
          /role="status">[^<]*, in California, audit year 2023, with findings \(on any program\)\.</,
        );
        expect(text).toContain('<label for="findings">With findings (on any program)</label>');
        expect(text).toContain(
          `<a href="/findings?state=CA&amp;year=2023&amp;program=${program}">Findings on ${program}, in California, audit year 2023</a>`,
        );
        const [row] = parse((await get(`/search.csv?q=${typed}&state=CA&findings=1`)).text, {
          columns: true,
          bom: true,
        }) as Record<string, string>[];
        expect(row?.findings).toBe("1");
        const [, shown] = new RegExp(`data-label="Findings on ${program}">(\\d+)<`).exec(text) ?? [];
        return [shown, row?.findings_on_program];
      };
      await setPrograms("{84.010}");
      expect(await read()).toEqual(["0", "0"]);
      await setPrograms("{84.010,93.778}");
      expect(await read()).toEqual(["1", "1"]);
      expect((await search("clinic", "&findings=1")).text).toContain(", with findings.<");
    },
  );

  it("has its auditees' UEIs and EINs in CSV", async () => {
    const [row] = parse((await get("/search.csv?q=Polk+County+Iowa")).text, { columns: true, bom: true });
    expect(row).toMatchObject({ auditee_uei: '="ABCDEFGH1234"', auditee_ein: '="426005243"' });
  });

  it("for a program shows its dollars in each report", async () => {
    expect((await search("93.778")).text).toContain('data-label="Of which 93.778">$1,234,567<');
  });
});

it.each(["St. Bernard", "Saint Bernard", "ST BERNARD"])(
  "%s names auditees with “St.” and with “Saint”",
  async (name) => {
    const [row] = await here.select("select publication.list_named_ids('auditee', $1) -> 'total' as total", [
      name,
    ]);
    expect(row).toEqual({ total: 2 });
  },
);

describe("suppressed and superseded reports", () => {
  it.each([
    "Hidden Nation",
    "Hidden",
    "Hid Nat",
    "Hidden Nation Housing",
    "Hidden Firm",
    "99-8877665",
    "99-8877664",
    "99-8877663",
    "SUPPRESSED12",
    "HHHHHHHH1234",
    "08.U01",
    "Peace Corps",
    "Hidden Hometown",
    "Nation Hometown",
    id(20),
    id(21),
  ])("are not found by %s, exactly as one that does not exist", async (text) => {
    const { status, text: body } = await search(text);
    expect([status, listReports(body)]).toEqual([200, []]);
    expect(body).toContain("No public report was found");
  });

  it.each([
    ["Iowa", 3],
    ["93.778", 2],
    ["2023", 18],
  ])("are not counted in the total for %s", async (text, total) => {
    expect((await search(text)).text).toContain(`role="status">${total} reports `);
  });

  // What is not read can be neither found nor counted nor timed.
  it("are not read at all", async () => {
    const lock = await connect(here.database.url, "test");
    onTestFinished(() => lock.end());
    await lock.query("begin");
    const { rows } = await lock.query<{ name: string }>(
      `select oid::regclass::text as name from pg_class
       where relnamespace = 'suppressed'::regnamespace and relkind = 'r' or oid = 'disclosed.general_stubs'::regclass`,
    );
    expect(rows.length).toBeGreaterThan(10);
    await lock.query(`lock table ${rows.map(({ name }) => name).join(", ")} in access exclusive mode`);
    const everyReading = ["Hidden Nation", "Iowa", "93.778", "42-6005243", "HHHHHHHH1234", id(20), "Hid Nat"];
    const readings = everyReading.flatMap((text) => readSearch(text).map(({ criteria }) => criteria));
    await here.select("set statement_timeout = '20s'");
    onTestFinished(async () => void (await here.select("reset statement_timeout")));
    const ids = ["HHHHHHHH1234", "426005243", id(20)];
    const values: Record<string, unknown[]> = {
      text: [...ids, "Hiden"],
      "text[]": [ids],
      integer: [1],
      jsonb: [{}, { ids }, { report_ids: ids }, { words: "casino" }, { u: ids.join() }].map((criteria) =>
        JSON.stringify(criteria),
      ),
    };
    const functions = await here.select(
      `select oid::regproc::text as name, array(select unnest(proargtypes::oid[])::regtype::text) as types from pg_proc
       where pronamespace = 'publication'::regnamespace and has_function_privilege('site', oid, 'execute')
         and proname <> 'search_reports'`,
    );
    expect(functions.length).toBeGreaterThan(10);
    for (const { name, types } of functions)
      for (const value of [...(values[types[0]] ?? [null])]) {
        const others = types.slice(1).map((type: string) => values[type]?.[0]);
        const parameters = types.map((_: string, index: number) => `$${index + 1}`).join();
        await here.select(`select ${name}(${parameters})`, types.length > 0 ? [value, ...others] : []);
      }
    for (const kind of ["auditee", "auditor"])
      await here.select("select publication.list_named_ids($1, $2)", [kind, "Hidden"]);
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
    `${"x".repeat(199)}😀`,
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

  it("may be in several parameters", async () => {
    const asked = await get("/search?q=polk&q=iowa");
    expect(asked.text).toContain('value="polk iowa"');
    expect(asked.text).toContain("POLK COUNTY");
  });

  it("is not read after its first 200 characters, not even to suggest another search", async () => {
    const { text } = await search(`${"zq ".repeat(70)}Texs`);
    expect(text).toContain("Only the first 200 characters were used.");
    expect(text).not.toMatch(/Texs|Texas<\/a>/);
  });

  it("is escaped in the page, as are values of the database", async () => {
    const { text } = await search('<script>alert(1)</script>"onfocus="x');
    expect(text).not.toContain("<script>alert");
    expect(text).toContain("&lt;script&gt;alert(1)&lt;/script&gt;&quot;onfocus=&quot;x");
    expect((await get("/search?q=polk&state=%00")).text).not.toContain("\0");
    const { text: found } = await search("bold sons");
    expect(found).toContain("&lt;b onclick=&quot;alert(1)&quot;&gt;50%_\\ Bold &amp; Sons");
  });
});

describe("a row of a search", () => {
  it("says when the report was accepted, the result, and what was found", async () => {
    const { text } = await search("st marys");
    const [, row = ""] = /<tr><th scope="row">(.*?)<\/tr>/s.exec(text) ?? [];
    expect(row).toContain("1 finding");
    expect(row).toMatch(/data-label="Accepted"><span class="unbroken">\d{4}-\d\d-\d\d</);
    expect(row).toContain('data-label="Result">Not clean</td>');
    expect(row).toContain('data-label="Audit year">2023 ');
  });
});

describe("a search is narrowed by its form", () => {
  it("lists the states by their names", async () => {
    const [, list = ""] = /<select id="state".*?>(.*?)<\/select>/s.exec((await search("county")).text) ?? [];
    const names = [...list.matchAll(/>([^<]+)<\/option>/g)].map(([, name = ""]) => name);
    expect(names.slice(0, 3)).toEqual(["All", "Alabama", "Alaska"]);
  });

  it.each([
    ["/search?q=county&state=IA", [1]],
    ["/search?q=county&year=2022", [3]],
    ["/search?q=93&findings=1", [9]],
    ["/search?q=county&findings=1", [9]],
    ["/search?q=&state=CA&findings=1", [9]],
    // The form takes the place of the year in the text.
    ["/search?q=mesa+2023&year=2022", [3]],
    ["/search?q=county&state=XX&year=x", [9, 6, 5, 4, 3, 2, 1]],
  ])("%s", async (target, expected) => {
    const { text } = await get(target);
    expect(listReports(text).sort()).toEqual(expected.sort());
  });
});

describe("a search reads", () => {
  it.each([
    ["springfield hills", [10]],
    ["SPRINGFIELD-HILLS NH", [10]],
    ["second cpa", [7]],
    ["55-1122334", [7]],
    ["hidden second", []],
    ["55-1122335", []],
  ])("cities and secondary auditors: %s", async (text, expected) => {
    expect(listReports((await search(text)).text)).toEqual(expected);
  });

  it("the texts of findings, and leads to them", async () => {
    const { text } = await search("lost receipts");
    const [, target = ""] = /<a href="([^"]*)">1 finding contains “lost receipts”</.exec(text) ?? [];
    expect((await get(target)).text).toContain(">1 finding: “lost receipts”.");
    expect(text).toContain("did not look in");
  });
});

it("every reader of a search reads its own examples", () => {
  for (const [name, { examples, read }] of Object.entries(readers))
    for (const example of examples) expect(read(example), `${name}: ${example}`).toBeDefined();
});

it.each(["/", "/search", "/findings", "/check", "/changes", "/totals"])(
  "%s says in plain words for whom searches are limited",
  async (page) => {
    const { text } = await get(page);
    expect(text).toContain("You and others at your internet address may together open 60 searches");
    // The API's section of the home page is for programmers.
    expect(text.replace(/<section [^>]*"(?:api|errors)".*<\/section>/s, "")).not.toMatch(/client IP/i);
  },
);

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
  expect(text).toContain(
    `You, or others at your internet address, searched or opened reports more than ${searchesAMinute} times in a minute.`,
  );
  expect((await get("/search?q=x", "2001:db8:ffff:2::1")).status).toBe(200);
  expect((await get(`/record/${id(1)}`, `${from}ffff`)).status).toBe(429);
  // The page of examples asks the database nothing.
  expect((await get("/search", `${from}1`)).status).toBe(200);
});

/** Makes each search wait until the returned function is called, at most until the test ends. */
async function holdSearches() {
  const lock = await connect(here.database.url, "test");
  const { rows } = await lock.query<{ definition: string }>(
    "select pg_get_functiondef('publication.search_programs'::regproc) as definition",
  );
  await lock.query("select pg_advisory_lock(56)");
  // It asks again and again, because waiting for a lock has a shorter limit.
  await lock.query(`
    create or replace function publication.search_programs(written text) returns jsonb
    language plpgsql stable strict security definer set search_path = '' as $$
    begin
      while not pg_try_advisory_xact_lock_shared(56) loop
        perform pg_sleep(0.02);
      end loop;
      return '[]'::jsonb;
    end
    $$`);
  onTestFinished(async () => {
    await lock.query(String(rows[0]?.definition));
    await lock.end();
  });
  const countRunning = async (): Promise<number> => {
    const { rows: counted } = await lock.query(
      "select count(*)::integer from pg_stat_activity where state = 'active' and query like '%publication.search_programs($3)%' and pid <> pg_backend_pid()",
    );
    return counted[0].count;
  };
  return { release: () => lock.query("select pg_advisory_unlock(56)"), countRunning };
}

it("a search that takes too long ends with a page that says what to do, and later searches work", async () => {
  const { release } = await holdSearches();
  const { status, headers, text } = await search("Polk");
  expect([status, headers["retry-after"], headers["cache-control"]]).toEqual([503, "5", "no-store"]);
  expect(text).toContain("The search or report took longer than 10 seconds.");
  expect(text).toContain("add a state or a year");
  await release();
  expect((await search("Polk")).status).toBe(200);
});

it("few searches run at a time, so that pages and downloads find a connection, and the others wait", async () => {
  const { release, countRunning } = await holdSearches();
  const answers = Promise.all(Array.from({ length: 16 }, () => search("Polk")));
  await expect.poll(countRunning).toBe(3);
  const first = await Promise.race([get("/readyz"), answers.then(() => undefined)]);
  expect(first?.status).toBe(200);
  await release();
  expect((await answers).map(({ status }) => status)).toEqual(Array(16).fill(200));
});

it("when the queue is full, a search is refused until a client that waits leaves", async () => {
  const { release, countRunning } = await holdSearches();
  const running = Array.from({ length: 3 }, () => search("Polk"));
  await expect.poll(countRunning).toBe(3);
  const leaving = request(new URL("/search?q=Polk", service.url), {
    headers: { "x-forwarded-for": makeClient() },
  });
  leaving.on("error", () => {});
  leaving.end();
  await once(leaving, "finish");
  expect((await get("/healthz")).status).toBe(200);
  /** Whether a search had a place: it was answered, or waited the queue's 10 seconds, as some do on a busy machine. */
  const takePlace = async () => {
    const startedAt = performance.now();
    const answer = await search("Polk");
    return { ...answer, hasWaited: answer.status === 200 || performance.now() - startedAt >= 10_000 };
  };
  // One more than there are places.
  const others = Array.from({ length: 64 }, takePlace);
  let answered = 0;
  for (const other of others) other.then(() => (answered += 1));
  const refused = await Promise.race(others);
  expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "5"]);
  expect(refused.text).toContain("Too many searches and reports were requested at once.");
  leaving.destroy();
  // A search waits if later ones are refused before it is answered.
  let waiting = takePlace();
  others.push(waiting);
  for (let refusals = 0; refusals < 2; ) {
    const next = takePlace();
    others.push(next);
    const isFirst = await Promise.race([waiting.then(() => false), next.then(() => true)]);
    if (isFirst) refusals += 1;
    else [waiting, refusals] = [next, 0];
  }
  // All others still wait, so the place is that of the client that left.
  expect(answered).toBe(1);
  await release();
  const answers = (await Promise.all(others)).filter(({ hasWaited }) => hasWaited);
  expect(answers.length).toBe(64);
  await Promise.all(running);
});

it("while the service is switched off, nothing is found", async () => {
  await here.select("update publication.settings set is_switched_on = false");
  onTestFinished(
    async () => void (await here.select("update publication.settings set is_switched_on = true")),
  );
  const { status, text } = await search("Polk");
  expect([status, listReports(text)]).toEqual([503, []]);
});
