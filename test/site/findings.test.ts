import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { RunningApp } from "../../shared/web/start-app.ts";
import { useRefresh } from "../scripts/refresh/support/refresh.ts";
import { id, submission } from "../scripts/refresh/support/source-files.ts";
import { send as sendRequest } from "../support/target.ts";
import { startBrowser } from "./browser.ts";
import { startPages } from "./start-pages.ts";
import { visit } from "./visit.ts";

// The pages of findings, and of programs, agencies and states.

const here = useRefresh();
let service: RunningApp;
let browser: Awaited<ReturnType<typeof startBrowser>>;

const award = (number: number, aln: string, more = {}) => ({
  report_id: id(number),
  award_reference: "AWARD-0001",
  federal_agency_prefix: aln.slice(0, 2),
  federal_award_extension: aln.slice(3),
  federal_program_name: aln === "93.778" ? "Medical Assistance Program" : "Secret Weapons",
  amount_expended: "1234567",
  ...more,
});
const finding = (number: number, reference_number: string, more = {}) => ({
  report_id: id(number),
  award_reference: "AWARD-0001",
  reference_number,
  type_requirement: "I",
  ...more,
});
const text = (number: number, finding_ref_number: string, finding_text: string) => ({
  report_id: id(number),
  finding_ref_number,
  finding_text: `"${finding_text.replaceAll('"', '""')}"`,
});

/** The numbers of findings that a finding repeats. Only 2020-001 is public. */
const repeated = [...Array.from({ length: 30 }, (_, index) => `2019-${100 + index}`), "2020-001", "2019-007"];

beforeAll(async () => {
  const ada = { auditee_uei: "ABCDEFGH1234", auditee_state: "TX", entity_type: "local" };
  await here.write("general", [
    submission(1, {
      ...ada,
      auditee_name: "Ada County",
      auditor_ein: "043015799",
      auditor_firm_name: "Smith & Smith LLP",
      fac_accepted_date: "2024-05-01",
    }),
    submission(2, {
      auditee_uei: "BBBBBBBB1234",
      auditee_name: "=Bold City",
      auditee_state: "CA",
      entity_type: "non-profit",
      fac_accepted_date: "2024-03-01",
    }),
    submission(3, {
      auditee_uei: "CCCCCCCC1234",
      auditee_ein: "123456789",
      auditee_name: "Cold College",
      auditee_city: "Columbus",
      auditee_state: "OH",
      auditor_firm_name: "Frost LLP",
      entity_type: "higher-ed",
      audit_year: "2021",
      fac_accepted_date: "2023-01-01",
    }),
    submission(4, {
      auditee_uei: "GSA_MIGRATION",
      auditee_ein: "123456789",
      auditee_name: "Cold College",
      auditee_state: "OH",
      entity_type: "higher-ed",
      audit_year: "2020",
      fac_accepted_date: "2022-01-01",
    }),
    submission(20, {
      auditee_uei: "HHHHHHHH1234",
      auditee_name: "Hidden Nation",
      auditee_state: "AZ",
      entity_type: "tribal",
      is_public: "f",
      auditor_ein: "998877664",
      auditor_firm_name: "Hidden Auditors",
      fac_accepted_date: "2024-06-01",
    }),
  ]);
  await here.write("federal_awards", [
    award(1, "93.778", { is_direct: "Y" }),
    award(2, "93.778", { is_direct: "N", is_passthrough_award: "Y" }),
    award(2, "10.553", { award_reference: "AWARD-0002", is_direct: "Y" }),
    award(3, "84.010", { is_direct: "Y" }),
    award(3, "16.575", {
      award_reference: "AWARD-0002",
      federal_program_name: "Victims",
      amount_expended: "5",
      is_direct: "N",
    }),
    award(4, "84.010A"),
    award(20, "08.U01"),
    award(20, "84.010U", { award_reference: "AWARD-0002" }),
  ]);
  await here.write("findings", [
    finding(1, "2023-001", { is_material_weakness: "Y", is_repeat_finding: "Y" }),
    finding(1, "2023-002", { type_requirement: "L", is_significant_deficiency: "Y" }),
    finding(2, "2023-001", { is_questioned_costs: "Y", type_requirement: "BI" }),
    finding(2, "2023-002", { award_reference: "AWARD-0002", type_requirement: "P" }),
    finding(3, "2021-001", { type_requirement: "", prior_finding_ref_numbers: `"${repeated.join(", ")}"` }),
    finding(3, "2021-001", { award_reference: "AWARD-0002", type_requirement: "", is_questioned_costs: "Y" }),
    finding(4, "2020-001", { type_requirement: "" }),
    finding(20, "2023-001", { type_requirement: "N" }),
  ]);
  await here.write("findings_text", [
    text(
      1,
      "2023-001",
      "The county bought <b>tractors</b> & trucks without bids. \u0001Procurement\u0002 policies were not fol",
    ),
    text(1, "2023-001", "lowed. It procured “nothing” else."),
    text(1, "2023-002", "Reports were late. Nobody was notified whether it complied."),
    text(2, "2023-001", "Costs were not supported."),
    text(3, "2021-001", `The college is cold.${" Brr.".repeat(1000)} Pipes froze.`),
    text(20, "2023-001", "The casino lost zebras."),
  ]);
  await here.write("corrective_action_plans", [
    { report_id: id(2), finding_ref_number: "2023-001", planned_action: "Staff will ask for three bids." },
    { report_id: id(3), finding_ref_number: "2021-001", planned_action: "We will heat." },
  ]);
  for (const table of [
    "notes_to_sefa",
    "passthrough",
    "secondary_auditors",
    "resubmission",
    "additional_ueis",
    "additional_eins",
  ])
    await here.write(table, []);
  await here.load();
  service = await startPages(here.database.url);
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.stop();
  await service?.close();
});

let clients = 0;
/** Each request comes from another client, so that it is not limited. */
async function get(target: string) {
  clients += 1;
  const headers = { "x-forwarded-for": `2001:db8:${clients.toString(16)}::1`, accept: "text/html" };
  const { status, headers: answered, text: body } = await sendRequest(service.url, target, { headers });
  return { status, headers: answered, text: body };
}
async function open(target: string, options = {}) {
  const origins = [service.url, "https://api.example.gov"];
  const opened = await visit(await browser.get(), service.url + target, origins, options);
  onTestFinished(opened.leave);
  return opened;
}
/** The findings on a page: the report's number, and the finding's. */
const listFindings = (body: string) =>
  [...body.matchAll(/<h2><a href="\/record\/[\w-]*?0*(\d+)(?:\?[^"#]*)?#([^"]*)"/g)].map(
    ([, report, reference]) => `${report} ${reference}`,
  );
const readStatus = (body: string) => /role="status">([^<]*)</.exec(body)?.[1];

const cold = "3 2021-001";
const all = ["1 2023-001", "1 2023-002", "2 2023-001", "2 2023-002", cold, "4 2020-001"];

describe("a search for findings", () => {
  it.each<[query: string, findings: string[]]>([
    ["", all],
    ["words=procuring", ["1 2023-001"]],
    ["words=bids", ["1 2023-001", "2 2023-001"]],
    ["words=truck+tractor+bid", ["1 2023-001"]],
    ["words=bids&state=CA", ["2 2023-001"]],
    ["words=compliance+notification", ["1 2023-002"]],
    ["words=complied+notify", ["1 2023-002"]],
    ["words=%22compliance%22", []],
    ["words=%22complied%22+notification", ["1 2023-002"]],
    ["words=bought+tractors", ["1 2023-001"]],
    ["words=%22bought+tractors%22", []],
    // The text has two rows, and the second begins within a word.
    ["words=tractors+followed", ["1 2023-001"]],
    ["words=%22not+followed%22", ["1 2023-001"]],
    ["words=bids+-followed", ["2 2023-001"]],
    ["words=bids+-%22not+followed%22", ["2 2023-001"]],
    ["words=%22not+followed%22+or+pipes", ["1 2023-001", cold]],
    ["words=%22procurement+policies%22", ["1 2023-001"]],
    ["words=%E2%80%9CThree+BIDS%E2%80%9D+ask", ["2 2023-001"]],
    ["words=%22bids+three%22", []],
    ["words=%22hree+bids%22", []],
    ["words=%22bids", ["1 2023-001", "2 2023-001"]],
    ["words=tractors+or+notified", ["1 2023-001", "1 2023-002"]],
    ["words=zeppelin+OR+procuring+bids+or+heat", ["1 2023-001", cold]],
    ["words=compliance+or+heating+or", ["1 2023-002", cold]],
    ["words=bids+-tractors", ["2 2023-001"]],
    ["words=bids+-%22three+bids%22", ["1 2023-001"]],
    ["words=%22three+bids%22+or+pipes", ["2 2023-001", cold]],
    ["words=%22three+bids%22+zeppelin+or+%22supported+costs%22", []],
    ["words=%22three+bids%22+ask+or+%22supported+costs%22", ["2 2023-001"]],
    ["words=-tractors", []],
    ["words=or", []],
    ["program=93.778", ["1 2023-001", "1 2023-002", "2 2023-001"]],
    ["program=10", ["2 2023-002"]],
    ["program=HHS&requirement=I", ["1 2023-001", "2 2023-001"]],
    ["requirement=b", ["2 2023-001"]],
    ["requirement=L,b", ["1 2023-002", "2 2023-001"]],
    ["requirement=I,P&requirement=l&year=2023", all.slice(0, 4)],
    ["requirement=L,I&direct=Y", ["1 2023-001", "1 2023-002"]],
    ["requirement=P,L&program=93.778", ["1 2023-002"]],
    ["requirement=B,P&program=93&direct=N", ["2 2023-001"]],
    ["state=TX,ohio", ["1 2023-001", "1 2023-002", cold, "4 2020-001"]],
    ["year=2020&year=2021&year=2022", [cold, "4 2020-001"]],
    ["entity_type=local,higher-ed&year=2021,2023", ["1 2023-001", "1 2023-002", cold]],
    ["program=Medicaid&direct=Y", ["1 2023-001", "1 2023-002"]],
    ["program=93.778&aln=93.778&program=93.778&direct=Y", ["1 2023-001", "1 2023-002"]],
    ["state=Texas", ["1 2023-001", "1 2023-002"]],
    ["year=2023&entity_type=non-profit", ["2 2023-001", "2 2023-002"]],
    ["year=2022", []],
    ["material_weakness=Y", ["1 2023-001"]],
    ["significant_deficiency=on", ["1 2023-002"]],
    ["questioned_costs=Y", ["2 2023-001", cold]],
    ["repeat=Y&direct=Y", ["1 2023-001"]],
    ["direct=N", ["2 2023-001", cold]],
    ["program=84.010", [cold]],
    ["program=84.010*", [cold, "4 2020-001"]],
    ["program=84.010+*&direct=Y", [cold]],
    ["program=84.010*&direct=Y&questioned_costs=Y", []],
    ["program=84.999*", []],
    ["program=84&direct=Y", [cold]],
    ["program=84&direct=N", []],
    ["program=84.010&direct=N", []],
    ["program=84.010&questioned_costs=Y", []],
    ["direct=Y&questioned_costs=Y", []],
    ["program=16&direct=N&questioned_costs=Y", [cold]],
    ["auditee=abcdefgh1234", ["1 2023-001", "1 2023-002"]],
    ["auditee=CCCCCCCC1234", [cold, "4 2020-001"]],
    ["auditee=12-3456789&year=2020", ["4 2020-001"]],
    ["accepted_since=2024-04-01", ["1 2023-001", "1 2023-002"]],
    ["auditor=04-3015799", ["1 2023-001", "1 2023-002"]],
    ["auditor=043015799&program=93.778&repeat=Y", ["1 2023-001"]],
    ["auditor=998877664", []],
    ["u=CCCCCCCC1234,ABCDEFGH1234", ["1 2023-001", "1 2023-002", cold, "4 2020-001"]],
    [`u=${id(4)}+abcdefgh1234&program=93`, ["1 2023-001", "1 2023-002"]],
    ["u=12-3456789&u=BBBBBBBB1234&year=2023", ["2 2023-001", "2 2023-002"]],
    ["words=tractors&words=bids", ["1 2023-001"]],
    ["u=HHHHHHHH1234,998877664", []],
    // Without the zero that spreadsheets remove.
    ["auditor=43015799", ["1 2023-001", "1 2023-002"]],
  ])("for %s finds %j, the newest first", async (query, findings) => {
    const asked = await get(`/findings?${query}`);
    // Repeated parameters lead to the short address.
    const { status, text: body } = asked.status === 302 ? await get(String(asked.headers.location)) : asked;
    expect([status, listFindings(body)]).toEqual([200, findings]);
    const csv = await get(`/findings.csv?${query}`);
    const rows = parse(csv.text, { columns: true, bom: true }) as Record<string, string>[];
    expect(rows.map((row) => row.report_id?.slice(-1))).toEqual(findings.map((each) => each.slice(0, 1)));
  });

  it.each([
    ["program=84.010", ["84.010"], ["16.575"]],
    ["program=16", ["16.575"], ["84.010"]],
    ["program=84.010*", ["84.010"], ["16.575"]],
    ["state=OH", [], ["16.575", "84.010"]],
  ])("for %s marks the programs that it asks for, also in the report", async (query, asked, others) => {
    const { text: body } = await get(`/findings?${query}`);
    const link = (aln: string) => `<a href="/program/${aln}">${aln}</a>`;
    const mark = (program: string) =>
      `<mark><strong>${program}</strong></mark><span class="visually-hidden"> (searched for)</span>`;
    expect(body).toContain(
      `Programs: ${[...asked.map((aln) => mark(link(aln))), ...others.map(link)].join(", ")}.`,
    );
    const [, leadsTo = ""] = new RegExp(`<h2><a href="(/record/${id(3)}[^"#]*)#2021-001">`).exec(body) ?? [];
    const report = (await get(leadsTo.replaceAll("&amp;", "&"))).text;
    const marked = report.matchAll(/<mark><strong><a href="\/program\/([^"]*)">/g);
    expect(Array.from(marked, ([, aln]) => aln)).toEqual(asked);
  });

  it("marks only programs whose awards match all filters of awards, also in the report", async () => {
    const change = async (aln: string) => {
      await here.select(
        `update disclosed.federal_awards set federal_agency_prefix = '${aln.slice(0, 2)}', federal_award_extension = '${aln.slice(3)}'
         where report_id = '${id(3)}' and award_reference = 'AWARD-0002'`,
      );
      await here.select(
        `update disclosed.finding_summaries set alns = array(select unnest(array['84.010', '${aln}']) order by 1)
         where report_id = '${id(3)}' and reference_number = '2021-001'`,
      );
    };
    onTestFinished(() => change("16.575"));
    await change("84.425");
    const { text: body } = await get("/findings?program=84&direct=Y");
    expect(
      Array.from(body.matchAll(/<mark><strong><a href="\/program\/([^"]*)">/g), ([, aln]) => aln),
    ).toEqual(["84.010"]);
    expect(body).toContain('<a href="/program/84.425">84.425</a>.');
    expect(body).toContain(`<h2><a href="/record/${id(3)}?program=84.010#2021-001">`);
  });

  it("marks a program in a report even if it is not among the finding’s largest", async () => {
    const setPrograms = (alns: string) =>
      here.select(
        `update disclosed.finding_summaries set alns = '${alns}' where report_id = '${id(3)}' and reference_number = '2021-001'`,
      );
    onTestFinished(async () => void (await setPrograms("{16.575,84.010}")));
    await setPrograms("{16.575,84.010,84.425}");
    const { text: body } = await get(`/record/${id(3)}?program=84.425`);
    expect(body).toContain('<mark><strong><a href="/program/84.425">84.425</a></strong></mark>');
    expect(body).not.toMatch(/and 1 more/);
  });

  it("marks the words, and escapes the text around them", async () => {
    const { text: body } = await get("/findings?words=procurement+tractors");
    expect(body).toContain(
      "&lt;b&gt;<mark>tractors</mark>&lt;/b&gt; &amp; trucks without bids. <mark>Procurement</mark>",
    );
    // "…" stands for what is left out.
    expect((await get("/findings?words=froze")).text).toMatch(/<p>… Pipes <mark>froze<\/mark>\.?<\/p>/);
    expect((await get("/findings?words=college")).text).toMatch(/<mark>college<\/mark> [^<]* …<\/p>/);
    expect((await get("/findings?words=costs")).text).toContain("<p><mark>Costs</mark> were not");
    for (const character of ["\u0001", "\u0002", "<b>"]) expect(body).not.toContain(character);
  });

  it("finds words of a plan, and shows it beside the finding", async () => {
    const { text: body } = await get("/findings?words=three");
    expect(body).toContain("<strong>Plan:</strong> Staff will ask for <mark>three</mark> bids");
    expect(body).toContain("Costs were not supported.");
  });

  it("searches the newest 3,000 findings that have its words for a phrase, and says so", async () => {
    const remove = `delete from disclosed.finding_summaries where reference_number like 'many%';
      delete from disclosed.findings_text where finding_ref_number like 'many%'`;
    onTestFinished(async () => void (await here.select(remove)));
    await here.select(`
      insert into disclosed.finding_summaries (report_id, reference_number, fac_accepted_date, alns, awards, text_words)
      select '${id(1)}', 'many' || number, '2024-01-01', '{}', 1, extensions.text_words('A zeppelin landed.')
      from generate_series(1, 3001) as number;
      insert into disclosed.findings_text
      select copied.*
      from (select texts from disclosed.findings_text as texts where report_id = '${id(1)}' limit 1) as one,
        generate_series(1, 3001) as number,
        jsonb_populate_record(one.texts, jsonb_build_object(
          'finding_ref_number', 'many' || number, 'finding_text', 'A zeppelin landed.', 'row_number', 1000 + number
        )) as copied`);
    const { text: body } = await get("/findings?words=%22a+zeppelin+landed%22");
    expect(readStatus(body)).toMatch(/^3,000 findings: /);
    expect(body).toContain(
      "Only the newest 3,000 findings that contain all words of the phrase were searched.",
    );
    expect((await get("/findings.csv?words=%22a+zeppelin+landed%22")).text.trim().split("\n")).toHaveLength(
      3001,
    );
    expect(readStatus((await get("/findings?words=zeppelin")).text)).toMatch(/^3,001 findings: /);
  });

  it("counts each filter's values, and each count leads to these findings", async () => {
    const { page } = await open("/findings?state=CA");
    const counts = page.getByRole("complementary", { name: "Narrow by" });
    expect(await counts.getByRole("listitem").allTextContents()).toContain("Questioned costs (1)");
    await counts.getByRole("link", { name: "I procurement, suspension and debarment" }).click();
    await page.getByRole("status").getByText("1 finding: I procurement").waitFor();
    await page.getByRole("link", { name: "Remove the filter California" }).click();
    await page.getByRole("status").getByText("2 findings: I procurement").waitFor();
  });

  it("leads from the form to an address that can be kept", async () => {
    const { page } = await open("/findings", { javaScriptEnabled: false });
    await page.getByLabel("Words in the finding or the plan").fill("procurement");
    await page.locator("form summary", { hasText: "State" }).click();
    await page.getByLabel("Texas").check();
    await page.getByRole("button", { name: "Search findings" }).click();
    await page.getByRole("status").getByText("1 finding: ").waitFor();
    expect(new URL(page.url()).search).toBe("?words=procurement&state=TX");
    const cited = page.getByRole("region", { name: "cite this page" });
    expect(await cited.textContent()).toContain(page.url().replace(/^\w+:/, ""));
    expect(await cited.locator("code.id").textContent()).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("that finds nothing says what was searched for and what to try", async () => {
    const { status, text: body } = await get("/findings?words=zeppelin&state=TX");
    expect([status, readStatus(body)]).toEqual([200, "No public finding matches: “zeppelin”, Texas."]);
    expect(body).toContain("Use fewer words.");
    // Each of the filters can be removed.
    expect(body).toMatch(
      /Remove one: <a href="\/findings\?state=TX">.*<a href="\/findings\?words=zeppelin">Texas</,
    );
  });

  it.each<[query: string, sentence: string]>([
    ["auditee=ABCDEFGH1243", "has this ID: ABCDEFGH1243 (did you mean ABCDEFGH1234 (Ada County)?)."],
    [
      `u=ABCDEFGH1243,BBBBBBBB1234,123456798,${id(3)},${id(20)},${id(99)}`,
      `has these 4 IDs: ABCDEFGH1243 (did you mean ABCDEFGH1234 (Ada County)?), 123456798 (did you mean 123456789 (Cold College)?), ${id(20)}, ${id(99)}.`,
    ],
    [
      `u=BBBBBBBB1234,${Array.from({ length: 25 }, (_, index) => 700_000_001 + index).join()}`,
      "700000020, and 5 more.",
    ],
  ])("says which IDs no public report has: %s", async (query, sentence) => {
    for (const path of ["/findings", ...(query.startsWith("u=") ? ["/changes", "/changes.atom"] : [])]) {
      const { text: body } = await get(`${path}?${query}`);
      const stated = /No public report\b.*?\.(?= |<)/.exec(body)?.[0].replace(/<[^>]*>/g, "");
      expect(stated?.slice(-sentence.length), path).toBe(sentence);
      if (path !== "/changes.atom" && sentence.includes("ABCDEFGH1234"))
        expect(body).toContain('did you mean <a href="/auditee/ABCDEFGH1234">');
    }
    expect((await get("/findings?u=BBBBBBBB1234&auditee=CCCCCCCC1234")).text).not.toContain(
      "No public report",
    );
  });

  it.each<[query: string, sentence: string]>([
    ["year=nonsense", "Not used, because it was not understood: Audit year “nonsense”"],
    ["program=constructor", "Program (ALN) or agency “constructor”"],
    ["program=84.010A*", "Program (ALN) or agency “84.010A*”"],
    ["program=84*", "Program (ALN) or agency “84*”"],
    ["requirement=toString", "Requirement “toString”"],
    ["entity_type=__proto__", "Kind of auditee “__proto__”"],
    ["accepted_since=2024-02-31", "Accepted since “2024-02-31”"],
    ["state=%27%3B--", "State “&#39;;--”"],
    ["words=the+of", "Use other words."],
    ["words=%00%01%3F%3F", "Use other words."],
    ["words=caf%E9", "No public finding matches: “café”."],
    ["words=%", "Use other words."],
    [`words=${"line+after+line%0A".repeat(600)}`, "Only the first 200 characters of the words were used."],
    [`words=${"x".repeat(199)}%F0%9F%98%80`, "No public finding matches"],
    ["state=TX,ZZ,CA", "Not used, because it was not understood: State “ZZ”."],
    ["state=TX&state=ZZ&state=Nowhere&requirement=Q,L", "Requirement “Q”; State “ZZ,Nowhere”."],
    ["state=TX,ZZ,CA", '<a href="/findings?state=CA,TX">Search without it</a>'],
    ["program=93.778&program=10.553", "Program (ALN) or agency “93.778 10.553”"],
    ["program=93.778&aln=10.553", "Program (ALN) or agency “93.778 10.553”"],
    ["direct=Y&direct=N", "Awards “Y N”"],
    ["accepted_since=2024-01-01&accepted_since=2024-04-01", "Accepted since “2024-01-01 2024-04-01”"],
    ["auditor=043015799&auditor=123456789", "Auditor (name or EIN) “043015799 123456789”"],
    ["words[]=x&page=-1", "6 findings in all public reports."],
    ["page=99999", "There is no page 99,999. This search has 1 page."],
    ["page=500", "There is no page 500."],
    ["page=x&state=TX", "The page number was not understood."],
    ["auditor=KPMG+LLP", 'No public report names such an auditor. <a href="/search?q=KPMG%20LLP">'],
    ["auditee=Hidden+Nation", 'No public report names such an auditee. <a href="/search?q=Hidden%20Nation">'],
    [
      "auditor=Hidden+Auditors",
      "Not used, because it was not understood: Auditor (name or EIN) “Hidden Auditors”",
    ],
    [
      "u=ABCDEFGH1234,Ada",
      "Not used, because it was not understood: List of UEIs, EINs or report IDs “ABCDEFGH1234,Ada”",
    ],
    ["u=%00,%27;--", "List of UEIs, EINs or report IDs “,&#39;;--”"],
    ["auditee=GSA_MIGRATION", "Auditee (name, UEI or EIN) “GSA_MIGRATION”"],
    ["words=%3Cscript%3Ealert(1)%3C/script%3E", "&lt;script&gt;alert(1)"],
  ])("that is nonsense gets a clear sentence: %.60s", async (query, sentence) => {
    const { status, text: body } = await get(`/findings?${query}`);
    expect(status).toBe(200);
    expect(body).toContain(sentence);
    expect(readStatus(body)).toBeTruthy();
    expect(body).not.toContain("<script>alert");
  });

  it.each([
    ["requirement=P&requirement=L&state=&words=", "/findings?requirement=L,P"],
    ["state=texas&state=OH&state=TX&year=2023,2021", "/findings?state=OH,TX&year=2021,2023"],
    ["words=bids&words=bids&page=2", "/findings?words=bids&page=2"],
    ["auditee=bold&state=TX,CA", "/findings?state=CA,TX&auditee=BBBBBBBB1234"],
    ["auditee=bold&state=CA,ZZ", "/findings?state=CA,ZZ&auditee=BBBBBBBB1234"],
    ["u=12-3456789&u=BBBBBBBB1234", "/findings?u=123456789,BBBBBBBB1234"],
    ["program=medical+assist&state=TX", "/findings?state=TX&program=93.778"],
  ])("has one short address with its values in order: %s", async (query, location) => {
    const { status, headers } = await get(`/findings?${query}`);
    expect([status, headers.location]).toEqual([302, location]);
  });

  it("takes several values from its form, keeps them in it, and says where to add one", async () => {
    const { page } = await open("/findings", { javaScriptEnabled: false });
    await page.locator("form summary", { hasText: "Requirement" }).click();
    await page.getByLabel("L reporting").check();
    await page.getByLabel("P other").check();
    await page.getByRole("button", { name: "Search findings" }).click();
    await page.getByRole("status").getByText("2 findings: L reporting or P other.").waitFor();
    expect(new URL(page.url()).search).toBe("?requirement=L,P");
    const counts = page.getByRole("complementary", { name: "Narrow by" });
    await counts.getByRole("link", { name: "L reporting" }).waitFor();
    await counts.getByRole("link", { name: "Add another under “Filters”" }).click();
    await page.getByLabel("B allowable costs").check();
    await page.getByRole("button", { name: "Search findings" }).click();
    await page.getByRole("status").getByText("3 findings: B allowable costs or L reporting or P").waitFor();
    expect(new URL(page.url()).search).toBe("?requirement=B,L,P");
  });

  it("lists the programs of an everyday name that two have", async () => {
    const setProgram = (from: string, to: string) =>
      here.select("update disclosed.totals_by_program set aln = $2 where aln = $1", [from, to]);
    await setProgram("16.575", "14.218");
    await setProgram("10.553", "14.228");
    onTestFinished(async () => {
      await setProgram("14.218", "16.575");
      await setProgram("14.228", "10.553");
    });
    const { text: body } = await get("/findings?program=CDBG&year=2023");
    const [, list = ""] = /aria-label="Choose a program">(.*?)<\/nav>/s.exec(body) ?? [];
    expect(Array.from(list.matchAll(/<a href="([^"]*)">/g), ([, link]) => link).sort()).toEqual([
      "/findings?year=2023&amp;program=14.218",
      "/findings?year=2023&amp;program=14.228",
    ]);
  });

  it("lists the programs that have a name, those with the most awards first", async () => {
    const { status, text: body } = await get("/findings?program=secret+weapons&year=2023");
    expect(status).toBe(200);
    expect(readStatus(body)).toContain(
      "These programs are called “secret weapons” or have names with words that begin with it",
    );
    const [, list = ""] = /aria-label="Choose a program">(.*?)<\/nav>/s.exec(body) ?? [];
    const links = Array.from(list.matchAll(/<a href="([^"]*)">(\S+) Secret Weapons/g), (link) =>
      link.slice(1),
    );
    expect(links.length).toBeGreaterThan(1);
    for (const [link, aln] of links) expect(link).toBe(`/findings?year=2023&amp;program=${aln}`);
  });

  it("in several states has no feed, because a feed is of one state", async () => {
    expect((await get("/findings?state=TX,OH&program=93")).text).not.toContain("/changes.atom?");
  });

  it.each([
    "state=ZZ",
    "state=TX,ZZ",
    "direct=Y&direct=N",
    "program=zz",
    "accepted_since=2024-13-45",
    "direct=q&requirement=Q",
    "u=Ada",
  ])("has no CSV file of other findings than those that were asked for: %s", async (query) => {
    const { status, text: body } = await get(`/findings.csv?${query}`);
    expect([status, body.includes("was not understood") || body.includes("is not understood")]).toEqual([
      400,
      true,
    ]);
  });

  it("counts a finding's awards that match the search in CSV", async () => {
    const { text: body } = await get("/findings.csv?program=16&direct=N");
    const rows = parse(body, { columns: true, bom: true });
    expect(rows).toMatchObject([
      {
        auditee_name: "Cold College",
        auditee_ein: '="123456789"',
        auditee_city: "Columbus",
        auditee_state: "OH",
        auditor_firm_name: "Frost LLP",
        alns: '="16.575; 84.010"',
        federal_program_name: "Victims; Secret Weapons",
        awards: "2",
        amount_expended: "1234572",
        matching_awards: "1",
        matching_amount_expended: "5",
      },
    ]);
  });

  it("has a CSV file with texts and plans", async () => {
    const { text: body } = await get("/findings.csv?words=heat&texts=Y");
    const [row] = parse(body, { columns: true, bom: true }) as Record<string, string>[];
    expect(row).toMatchObject({
      finding_text: expect.stringMatching(/^The college.* Pipes froze\.$/),
      planned_action: "We will heat.",
    });
    expect((await get("/findings?words=heat")).text).toContain("/findings.csv?words=heat&amp;texts=Y");
  });

  it("says in CSV which texts are cut", async () => {
    const long = { text: "Long. ".repeat(2000), report: id(1) };
    const change = `update disclosed.findings_text set finding_text = $1 where report_id = $2 and finding_ref_number = '2023-002'`;
    onTestFinished(
      async () =>
        void (await here.select(change, [
          "Reports were late. Nobody was notified whether it complied.",
          long.report,
        ])),
    );
    await here.select(change, [long.text, long.report]);
    const rows = parse((await get("/findings.csv?state=TX&texts=Y")).text, { columns: true, bom: true });
    const texts = (rows as Record<string, string>[]).map((row) => row.finding_text ?? "");
    expect(
      texts.map((each) => / \[… Only the first 10,000 of 12,000 characters are shown\. .*\]$/.test(each)),
    ).toEqual([false, true]);
  });

  it.each<[query: string, request: RegExp]>([
    ["state=TX", /finding_summaries\?[^"<]*auditee_state=eq\.TX/],
    ["state=TX,OH&words=bids", /findings_text\?[^"<]*general\.auditee_state=in\.\(OH,TX\)/],
    [
      "requirement=L,P&words=bids",
      /findings_text\?[^"<]*findings\.type_requirement=like\(any\)\.%7B\*L\*,\*P\*%7D/,
    ],
    ["state=TX", /order=fac_accepted_date.desc.nullslast,report_id.desc,reference_number[^"<]*limit=5000/],
    ["program=93.778", /finding_summaries\?[^"<]*alns=cs\.(\{|%7B)93\.778/],
    ["program=93.778&direct=Y", /\/findings\?[^"<]*limit=20000[^"<]*federal_awards\.is_direct=eq\.Y/],
    ["words=bids", /findings_text\?[^"<]*plfts\.bids/],
    ["words=bids", /corrective_action_plans\?[^"<]*plfts\.bids/],
    [
      "words=nobody+compliance",
      /findings_text\?[^"<]*finding_text=plfts\.nobody&finding_text=wfts\.compliance%20or%20complied%20or%20compliant/,
    ],
    [
      "words=notification",
      /corrective_action_plans\?[^"<]*planned_action=wfts\.notification%20or%20notified/,
    ],
    [
      "words=suspended+debarment+or+bids+-trucks",
      /findings_text\?[^"<]*or=\(and\(finding_text\.plfts\.debarment,finding_text\.wfts\.%22suspension%20or%20suspended%22\),and\(finding_text\.plfts\.bids,finding_text\.not\.plfts\.trucks\)\)/,
    ],
    ["words=bids&program=93", /findings_text\?[^"<]*findings\.federal_awards\.federal_agency_prefix=eq\.93/],
    ["auditee=CCCCCCCC1234", /finding_summaries\?[^"<]*auditee_uei=eq\.CCCCCCCC1234/],
    ["auditor=043015799", /finding_summaries\?[^"<]*general\.auditor_ein=eq\.043015799/],
    ["u=CCCCCCCC1234,123456789", /finding_summaries\?[^"<]*auditee_uei=in\.\(CCCCCCCC1234\)/],
    ["u=CCCCCCCC1234,123456789", /finding_summaries\?[^"<]*general\.auditee_ein=in\.\(123456789\)/],
    ["auditee=123456789", /finding_summaries\?[^"<]*general\.auditee_ein=eq\.123456789/],
  ])("for %s names the API's request for the same findings", async (query, request) => {
    const { text: body } = await get(`/findings?${query}`);
    expect(body.replaceAll("&amp;", "&")).toMatch(request);
  });

  it.each(["auditee=CCCCCCCC1234", `u=${id(3)}`])(
    "of one auditee or report, %s, shows whole texts beside plans, and when decisions are due",
    async (query) => {
      const { text: body } = await get(`/findings?${query}`);
      expect(body).toMatch(
        /What the auditor found<\/h3><p class="text">The college is cold\.( Brr\.){1000} Pipes froze\.<.*What the auditee plans<\/h3><p class="text">We will heat\./s,
      );
      expect(body).not.toContain("Whole text and plan");
      expect(body).toMatch(/Management decision due: July 1, 2023 <[^.]*past due</);
      expect(body).toMatch(/six months after the report was accepted .* As of \w+ \d+, \d{4}\./);
    },
  );

  it("of one auditee shows no more text than a report's page", async () => {
    onTestFinished(
      async () => void (await here.select("delete from disclosed.findings_text where row_number >= 100")),
    );
    await here.select(
      `insert into disclosed.findings_text (report_id, auditee_uei, finding_ref_number, finding_text, row_number) values
       ('${id(2)}', 'BBBBBBBB1234', '2023-001', repeat('x', 100000), 100), ('${id(2)}', 'BBBBBBBB1234', '2023-002', repeat('y', 3000), 101)`,
    );
    const { text: body } = await get("/findings?auditee=BBBBBBBB1234");
    const shown = Array.from(
      body.matchAll(/<p class="text">([^<]*)</g),
      ([, written = ""]) => written.length,
    );
    expect(shown).toEqual([50_001, "Staff will ask for three bids.".length, 2001]);
  });

  it("prints the address of a text that is not shown whole", async () => {
    const { text: body } = await get("/findings?program=84.010");
    const path = `/record/${id(3)}?program=84.010#2021-001`;
    const [, address = ""] =
      /Whole text and plan of finding 2021-001<\/a><span class="print-only address"> \(([^)]*)\)/.exec(
        body,
      ) ?? [];
    expect(address.replace(/^https?:\/\/[^/]*/, "")).toBe(path);
  });

  it("for questioned costs says that unmarked findings are not counted", async () => {
    const note = "Only marked findings are counted";
    expect((await get("/findings?questioned_costs=Y")).text).toContain(note);
    expect((await get("/findings?repeat=Y")).text).not.toContain(note);
  });

  it("prints links without an underline, and keeps what begins a finding with its text", async () => {
    const { page } = await open(`/record/${id(3)}`);
    await page.emulateMedia({ media: "print" });
    const read = (selector: string, property: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((element, name) => getComputedStyle(element).getPropertyValue(name), property);
    expect(await read(".finding .values a", "text-decoration-line")).toBe("none");
    for (const part of [".finding h3", ".finding > .badges", ".finding > .values", ".finding h4"])
      expect([part, await read(part, "break-after")]).toEqual([part, "avoid"]);
    // In a grid, browsers do not keep a heading with its text.
    expect(await read(".finding .beside", "display")).toBe("block");
  });

  it("says which findings a finding repeats, and links to those of the auditee that are public", async () => {
    const { text: body } = await get("/findings?auditee=CCCCCCCC1234");
    expect(body).toContain("Repeat of 2019-100 (in no earlier public report of this auditee), ");
    expect(body).toContain(`<a href="/record/${id(4)}#2020-001">2020-001</a>, 2019-007 (in no`);
    expect((await get("/findings?program=84.010")).text).toContain(
      `<a href="/record/${id(4)}#2020-001">2020-001</a>, 2019-007 (in no`,
    );
  });

  it("shows an auditee's plans that do not have the words too", async () => {
    const { text: body } = await get("/findings?auditee=CCCCCCCC1234&words=cold");
    expect(body).toContain('What the auditee plans</h3><p class="text">We will heat.');
  });

  it("finds words that auditors use for each other, says so, and marks both", async () => {
    const { text: body } = await get("/findings?words=Compliance+notifications");
    expect(body).toContain(
      "Searched for “compliance” or “complied” or “compliant”, and for “notification” or “notified”.",
    );
    expect(body).toContain("<mark>notified</mark> whether it <mark>complied</mark>");
    expect((await get("/findings?words=tractors")).text).not.toContain("Searched for");
    expect((await get("/search?q=compliance")).text).toContain(
      'href="/findings?words=compliance">1 finding contains',
    );
  });

  it.each([
    [
      "suspension or debarment",
      "“suspension” or “suspended”, or for “debarment”. Other forms of these words count too. To find only one",
    ],
    [
      'bids -"three bids" -trucks or costs',
      "“bids” without “three bids” without “trucks”, or for “costs”.</p>",
    ],
  ])("says how it reads %s", async (words, sentence) => {
    const { text: body } = await get(`/findings?words=${encodeURIComponent(words)}`);
    expect(body).toContain(`Searched for ${sentence}`);
  });

  it("offers the requirement that the words name", async () => {
    const { text: body } = await get("/findings?words=Suspension+and+debarment");
    expect(body).toContain('href="/findings?requirement=I"');
    expect((await get("/findings?words=tractors")).text).not.toContain("See also");
  });

  it.each([
    ["words=procurement+policies&state=TX", "/findings?state=TX&amp;requirement=I"],
    [
      "words=procurement+policies&state=TX",
      "/findings?words=procurement+policies&amp;state=TX&amp;requirement=I",
    ],
    ["words=requirement+i", "/findings?requirement=I"],
    ["words=subrecipients", "/findings?requirement=M"],
    ["state=TX&requirement=I", "/findings?state=TX&amp;words=procurement"],
  ])("leads from words to the requirement that they name, and back: %s to %s", async (query, link) => {
    expect((await get(`/findings?${query}`)).text).toContain(`<a href="${link}">`);
  });

  it.each(["/program/93.778", "/agency/93", "/state/CA", "/totals", "/totals/programs"])(
    "is counted on %s, which says which reports are not",
    async (path) => {
      expect((await get(path)).text).toContain(
        "Suppressed reports and reports that a public report replaced are not counted.",
      );
    },
  );

  it("counts a program with its letter codes in one click, and names the public ones", async () => {
    const { page } = await open("/program/84.010");
    await page.getByRole("link", { name: "Count the findings together" }).click();
    await page.getByRole("status").getByText("2 findings: Program 84.010 with its letter codes.").waitFor();
    const counted = page.getByText(/^Counted together/);
    expect(await counted.innerText()).toMatch(/: 84\.010 \(1 finding\), 84\.010A \(1 finding\)\./);
    expect(await page.getByText("alns=ov.%7B84.010,84.010A%7D").count()).toBe(1);
    await counted.getByRole("link", { name: "84.010A" }).click();
    await page.getByRole("status").getByText("1 finding: Program 84.010A.").waitFor();
    expect((await get("/findings?program=84.999*")).text).toContain("No public award has the number 84.999");
    const { text: alone } = await get("/findings?program=93.778*");
    expect(alone).toMatch(
      /<p>Public awards have only one of these numbers: <a [^>]*>93\.778<\/a> \(3 findings\)\.</,
    );
    expect(alone).not.toContain("Counted together");
  });

  it.each([
    ["state=CA", "Filters (1 used)"],
    ["words=bids", "Filters"],
    ["words=bids&state=CA", "Filters (1 used besides the words)"],
  ])("says how many filters are used: %s", async (query, summary) => {
    expect((await get(`/findings?${query}`)).text).toContain(`<summary>${summary}</summary>`);
  });

  it.each([
    ["auditee=Cold", "/findings?auditee=CCCCCCCC1234"],
    ["auditee==bold+city&state=CA", "/findings?state=CA&auditee=BBBBBBBB1234"],
    ["auditor=Smith&year=x", "/findings?auditor=043015799&year=x"],
    ["auditor=smith+and+smith&words=bids", "/findings?words=bids&auditor=043015799"],
    ["auditee=county&auditor=Smith", "/findings?auditee=ABCDEFGH1234&auditor=043015799"],
  ])("for a name of one ID searches for that ID: %s", async (query, target) => {
    const { status, headers } = await get(`/findings?${query}`);
    expect([status, headers.location]).toEqual([302, target]);
    const { text: body } = await get(target);
    expect(body).toMatch(/Auditee [^<]* \(\w{12}\)|Auditor Smith &amp; Smith LLP \(043015799\)/);
  });

  it("for a name of several IDs offers a choice, which keeps the rest of the search", async () => {
    await here.select("update disclosed.general set auditee_name = 'Cold City' where report_id = $1", [
      id(2),
    ]);
    onTestFinished(async () => {
      await here.select("update disclosed.general set auditee_name = '=Bold City' where report_id = $1", [
        id(2),
      ]);
    });
    const { status, text: choices } = await get("/findings?auditee=cold&auditor=nobody&words=bids");
    expect([status, readStatus(choices)]).toEqual([
      200,
      "2 auditees have names with the words “cold”. Choose one to see its findings.",
    ]);
    const links = [...choices.matchAll(/<li><a href="(\/findings[^"]*)">([^<]*)/g)].map((each) =>
      each.slice(1),
    );
    expect(links).toEqual([
      ["/findings?words=bids&amp;auditee=BBBBBBBB1234&amp;auditor=nobody", "Cold City"],
      ["/findings?words=bids&amp;auditee=CCCCCCCC1234&amp;auditor=nobody", "Cold College"],
    ]);
    // Only one has exactly this name.
    expect((await get("/findings?auditee=COLD+CITY")).headers.location).toBe(
      "/findings?auditee=BBBBBBBB1234",
    );
    expect((await get("/findings?auditee=Hidden+Nation&state=AZ")).text).not.toContain("HHHHHHHH1234");
  });

  it.each([
    [
      "/findings.csv?program=93.778&repeat=Y&direct=N&words=late+%22%0D%0A%C3%A9",
      "findings-late-93.778-passed-through-repeat",
    ],
    ["/findings.csv?state=TX,OH&requirement=L&requirement=I", "findings-requirement-I-L-OH-TX"],
    ["/findings.csv?accepted_since=2024-03-15&texts=Y", "findings-accepted_since-2024-03-15-with-texts"],
    ["/program/93.778.csv", "program-93.778"],
    ["/state/TX.csv", "state-TX"],
    ["/totals.csv?by=state&year=2023", "totals-by-state-2023"],
    ["/search.csv?q=Ada+County&year=2023", "reports-Ada-County-2023"],
    ["/changes.csv?state=TX", "changes-TX"],
    ["/check.csv?u=ABCDEFGH1234&year=2023", "check-ABCDEFGH1234-2023"],
    [
      "/check.csv?u=ABCDEFGH1234,043015799&aln=93&rows=decisions&due=past&as_of=2026-01-31",
      "decisions-past-as-of-2026-01-31-2-entries-93",
    ],
  ])("names its file for its rows and data set: %s", async (target, name) => {
    const [dataSet] = await here.select(
      "select (published_at at time zone 'utc')::date::text as date from publication.data_sets where state = 'live'",
    );
    const { headers } = await get(target);
    expect(headers["content-disposition"]).toBe(`attachment; filename="${name}-${dataSet?.date}.csv"`);
  });

  it.each([
    ["program=Medcial+Asistance&state=TX", "/findings?state=TX&program=93.778", "93.778 Medical Assistance"],
    [
      "auditor=Smith+Smitth&words=bids",
      "/findings?words=bids&auditor=Smith+%26+Smith+LLP",
      "Smith &amp; Smith",
    ],
    ["auditee=Colld+Colege&state=OH,TX", "/findings?state=OH,TX&auditee=Cold+College", "Cold College"],
    ["auditee=Colld+Colege&state=TX,CA", undefined, ""],
    ["auditee=Smiht+Smtih", undefined, ""],
    ["auditor=Colld+Colege", undefined, ""],
    ["auditor=Hiden+Auditor", undefined, ""],
    ["auditee=Hiden+Nation", undefined, ""],
  ])("for a misspelled name suggests similar ones: %s", async (query, target, name) => {
    const { text: body } = await get(`/findings?${query}`);
    if (target === undefined) return expect(body).not.toContain("Did you mean");
    expect(body).toContain(`Did you mean <a href="${target.replaceAll("&", "&amp;")}">${name}`);
    if (!target.includes("program")) expect((await get(target)).status).toBe(302);
  });

  it("writes CSV in which no name is a formula", async () => {
    const { headers, text: body } = await get("/findings.csv?state=CA");
    expect(headers["content-disposition"]).toMatch(
      /^attachment; filename="findings-CA-2\d{3}-\d\d-\d\d\.csv"$/,
    );
    expect(body).toContain(",'=Bold City,");
  });

  it.each([
    "words=zebras",
    "words=casino",
    "entity_type=tribal",
    "state=AZ",
    "requirement=N",
    "program=08.U01",
    "program=08",
  ])("finds nothing of a suppressed report: %s", async (query) => {
    const { text: body } = await get(`/findings?${query}`);
    expect(readStatus(body)).toMatch(/^No public finding matches/);
    expect(body).not.toMatch(/Hidden|HHHHHHHH1234/);
    expect((await get(`/findings.csv?${query}`)).text.trim().split("\n")).toHaveLength(1);
  });
});

it("findings of an auditee with only suppressed reports are like those of an unknown one", async () => {
  for (const path of [
    "/findings?auditee=",
    "/findings?u=ABCDEFGH1234,",
    "/changes?u=",
    "/changes.atom?u=",
    "/findings.csv?texts=Y&auditee=",
  ]) {
    const [hidden, unknown] = await Promise.all(
      ["HHHHHHHH1234", "ZZZZZZZZ1234"].map((each) => get(`${path}${each}`)),
    );
    expect(hidden?.text.replaceAll("HHHHHHHH1234", "ZZZZZZZZ1234")).toBe(unknown?.text);
  }
});

it.each([
  ["/findings?state=TX&program=HHS", "state=TX&amp;aln=93"],
  ["/findings?program=93.778&repeat=Y", "aln=93.778"],
  ["/findings?aln=93.778&repeat=Y", "aln=93.778"],
  ["/program/93.778", "aln=93.778"],
  ["/agency/93", "aln=93"],
  ["/state/TX", "state=TX"],
  ["/auditee/ABCDEFGH1234", "u=ABCDEFGH1234"],
])("%s has a feed of its reports", async (target, search) => {
  const { text: body } = await get(target);
  expect(body).toContain(`<link rel="alternate" type="application/atom+xml" href="/changes.atom?${search}">`);
  expect(body).toContain(`<a href="/changes.atom?${search}">Atom feed</a>`);
  expect((await get(`/changes.atom?${search.replaceAll("&amp;", "&")}`)).status).toBe(200);
});

describe("the page of a program, an agency or a state", () => {
  it.each<[target: string, heading: string, lead: RegExp]>([
    [
      "/program/93.778",
      "93.778 Medical Assistance Program",
      /\$2,469,134 expended and\s+3 findings, in audit year 2023/,
    ],
    ["/agency/93", "93 Health and Human Services", /3 findings/],
    ["/state/TX", "Texas", /\$1,234,567 expended and\s+2 findings/],
  ])("%s has charts, and tables with their numbers", async (target, heading, lead) => {
    const { page } = await open(target);
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe(heading);
    expect(await page.locator("main .lead").textContent()).toMatch(lead);
    await page.getByRole("img", { name: "Federal awards expended by audit year" }).waitFor();
    await page.getByRole("table", { name: "Findings by requirement" }).waitFor();
    const findings = page.getByRole("table", { name: "Expended and findings by audit year" });
    const link = findings.getByRole("link").first();
    const shown = await link.textContent();
    await link.click();
    await page.getByRole("status").getByText(`${shown} findings`).waitFor();
  });

  it.each([
    ["/program/84.010", '<a href="/program/84.010A">84.010A</a> (1 finding)'],
    ["/program/84.010A", '<a href="/program/84.010">84.010</a> (1 finding)'],
    [
      "/findings?program=84.010&state=OH",
      // The number of findings would be that of all states.
      '<a href="/findings?state=OH&amp;program=84.010A">84.010A</a>',
    ],
    ["/search?q=84.010", '<a href="/search?q=84.010A">84.010A</a> (1 finding)'],
    // The number itself has no award.
    [
      "/program/84.010U",
      '<a href="/program/84.010">84.010</a> (1 finding), <a href="/program/84.010A">84.010A</a> (1 finding)',
    ],
  ])("%s names the public letter codes of the program", async (target, link) => {
    expect((await get(target)).text).toContain(
      `Awards are also reported under ${link}. These are not counted here.`,
    );
  });

  it("has a place for each year in its charts, even if it has no reports", async () => {
    const { text: body } = await get("/");
    const [, drawn = ""] = /<svg class="chart" .*?>(.*?)<\/svg>/s.exec(body) ?? [];
    expect([...drawn.matchAll(/>(20\d\d)</g)].map(([, year]) => year)).toEqual([
      "2020",
      "2021",
      "2022",
      "2023",
    ]);
  });

  it("of a program has a map of the states, and the numbers as a table", async () => {
    const { page } = await open("/program/93.778");
    await page.getByRole("img", { name: "Findings by state" }).waitFor();
    await page.getByText("Amounts expended and findings by state").click();
    const rows = page.getByRole("table", { name: "Expended and findings by state" }).getByRole("row");
    expect(await rows.allInnerTexts()).toEqual([
      "State\tExpended\tFindings",
      "Texas\t$1,234,567\t2",
      "California\t$1,234,567\t1",
    ]);
    await rows.getByRole("link", { name: "California" }).click();
    await page.waitForURL(/\/program\/93\.778\?state=CA$/);
    await page.getByRole("heading", { name: "93.778 Medical Assistance Program in California" }).waitFor();
  });

  it("of an agency has a map of the states, and the numbers as a table", async () => {
    const { page } = await open("/agency/93");
    await page.getByText("The numbers as a table").click();
    const rows = page.getByRole("table", { name: "Findings by state" }).getByRole("row");
    expect(await rows.allInnerTexts()).toEqual(["State\tFindings", "Texas\t2", "California\t1"]);
  });

  it("of a program in a state has only the state's awards, findings and auditees", async () => {
    const target = "/program/93.778?state=TX";
    const { page } = await open(target);
    expect(await page.locator("main .lead").textContent()).toMatch(
      /\$1,234,567 expended and\s+2 findings, in audit year 2023/,
    );
    const auditees = page.getByRole("table", { name: "Auditees with the most findings" }).getByRole("link");
    expect(await auditees.allTextContents()).toEqual(["Ada County"]);
    expect(await page.getByRole("img", { name: "Findings by state" }).count()).toBe(0);
    const hrefs = await page
      .locator("main a")
      .evaluateAll((links) => links.map((link) => link.getAttribute("href")));
    expect(hrefs).toEqual(
      expect.arrayContaining([
        "/program/93.778",
        "/program/93.778.csv?state=TX",
        "/program/93.778/expended.svg?state=TX",
        "/findings?state=TX&year=2023&program=93.778",
        "/search?q=93.778&state=TX",
        "/changes.atom?state=TX&aln=93.778",
      ]),
    );
    const [row] = parse((await get("/program/93.778.csv?state=TX")).text, { columns: true, bom: true });
    expect(row).toMatchObject({ auditee_state: "TX", audit_year: "2023", amount_expended: "1234567" });
    expect((await get("/program/93.778/expended.svg?state=TX")).text).toContain("in Texas");
    expect((await get("/program/93.778/states.svg?state=TX")).status).toBe(404);
  });

  it.each<[address: string, texts: string[]]>([
    [
      "/state/TX/findings.svg",
      ["Findings by audit year, Texas", "2 findings in 1 public report. Source: ", "/state/TX<"],
    ],
    ["/program/93.778/expended.svg", ["$2.47M", "2 awards. Source: "]],
    ["/program/93.778/requirements.svg", ["I procurement, suspension and debarment"]],
    ["/program/93.778/states.svg", ["<desc>A map with a tile for each state."]],
    ["/totals/findings.svg", ["6 findings in 4 public reports. Source: "]],
  ])("%s is a chart with its title, source and colors inside", async (address, texts) => {
    const { status, headers, text: body } = await get(address);
    expect([status, headers["content-type"]]).toEqual([200, "image/svg+xml; charset=utf-8"]);
    const [dataSet] = await here.select("select id from publication.data_sets where state = 'live'");
    for (const each of [...texts, "<title>", 'fill="#ffffff"', `data set ${dataSet?.id}, published `])
      expect(body.replace(/<\/text><text [^>]*>/g, " ")).toContain(each);
    // Nothing in it depends on a style sheet or a script.
    expect(body).not.toMatch(/class=|<style|<script|href=/);
    const again = await sendRequest(service.url, address, {
      headers: { "x-forwarded-for": "2001:db8:ffff::1", "if-none-match": String(headers.etag) },
    });
    expect(again.status).toBe(304);
  });

  it.each([
    "/state/TX/states.svg",
    "/state/TX/toString.svg",
    "/state/AZ/findings.svg",
    "/program/08.U01/findings.svg",
  ])("%s is not a chart", async (address) => expect((await get(address)).status).toBe(404));

  it("names the reports behind each chart, and their source", async () => {
    const { page } = await open("/state/TX");
    const captions = await page.locator("figcaption").allInnerTexts();
    expect(captions[1]).toMatch(
      /^Findings by audit year\s+2 findings in 1 public report\. Source: Federal Single Audits, data set of /,
    );
    await page.getByRole("link", { name: "Chart of Findings by audit year as SVG" }).waitFor();
  });

  it.each([
    ["/program/93.778", { aln: '="93.778"' }],
    ["/agency/93", { federal_agency_prefix: '="93"' }],
  ])("%s gives its years as CSV", async (target, group) => {
    const { headers, text: body } = await get(`${target}.csv`);
    expect(headers["content-type"]).toBe("text/csv; charset=utf-8");
    const [dataSet] = await here.select("select id from publication.data_sets where state = 'live'");
    const totals = {
      audit_year: "2023",
      amount_expended: "2469134",
      findings: "3",
      material_weaknesses: "1",
    };
    const origin = {
      data_set: dataSet?.id,
      data_set_published_at: expect.any(String),
      source: expect.stringMatching(`^https://127.0.0.1:\\d+${target}.csv$`),
    };
    expect(parse(body, { columns: true, bom: true })).toEqual([{ ...group, ...totals, ...origin }]);
    expect((await get(target)).text).toContain(`<a href="${target}.csv">`);
  });

  it("says how many findings state no requirement", async () => {
    const { text: body } = await get("/state/OH");
    expect(body).toContain("For 2 findings, the requirement is not stated.");
    expect(body).not.toContain("No findings");
  });

  it("lists the auditees with the most findings", async () => {
    const { page } = await open("/program/93.778");
    const auditees = page.getByRole("table", { name: "Auditees with the most findings" }).getByRole("link");
    expect(await auditees.allTextContents()).toEqual(["Ada County", "=Bold City"]);
  });

  it.each([
    ["/state/texas", "/state/TX"],
    ["/agency/HHS", "/agency/93"],
    ["/program/93", "/agency/93"],
    ["/program/medicaid", "/program/93.778"],
    ["/program/Medicaid.csv", "/program/93.778.csv"],
    ["/program/medical%20assistance", "/program/93.778"],
    ["/agency/93.778", "/program/93.778"],
    ["/program/Medicaid?state=texas", "/program/93.778?state=TX"],
    ["/program/93.778.csv?state=texas", "/program/93.778.csv?state=TX"],
  ])("%s leads to %s", async (target, location) => {
    const { status, headers } = await get(target);
    expect([status, headers.location]).toEqual([302, location]);
  });

  it("for a name of several programs, or a misspelled one, lists the programs that may be meant", async () => {
    for (const [target, question, aln] of [
      ["/program/secret%20weapons", "Did you mean a program with this name?", "84.010"],
      ["/program/Medcial%20Asistance", "Did you mean a program with a similar name?", "93.778"],
    ] as const) {
      const { status, text: body } = await get(target);
      expect([status, body.includes(question)]).toEqual([404, true]);
      expect(body).toContain(`<li><a href="/program/${aln}">${aln} `);
      expect(body).not.toContain('<a href="/program/08.U01">');
    }
  });

  it.each([
    ["/program/84.010?state=TX", "No public report from Texas has program 84.010"],
    ["/program/84.010.csv?state=TX", "No public report from Texas has program 84.010"],
    // The report is suppressed.
    ["/program/08.U01?state=AZ", "No public report from Arizona has program 08.U01"],
    ["/program/93.778?state=%3Cb%3E", "“&lt;b&gt;” is not a state"],
    ["/program/93.778/expended.svg?state=Nowhere", "“Nowhere” is not a state"],
    ["/program/93.778?state=TX&state=CA", "“TX CA” is not a state"],
  ])("%s says that it is not found, and leads to the program in all states", async (target, title) => {
    const { status, text: body } = await get(target);
    expect([status, body.includes(`<h1>${title}</h1>`)]).toEqual([404, true]);
    expect(body).toContain(">all states</a>");
  });

  it.each([
    "/program/08.U01",
    "/agency/08",
    "/state/AZ",
    "/program/99.999",
    "/state/nowhere",
    "/state/TX,OH",
    "/agency/%27",
    "/program/no%20such%00",
    "/state/toString",
  ])("%s says that no public report has it", async (target) => {
    const { status, text: body } = await get(target);
    expect(status).toBe(404);
    expect(body).toContain("<h1>No public report has this");
    expect(body).not.toMatch(/Hidden|Secret/);
  });
});

describe("programs by year", () => {
  it("have the findings of each year, which lead to these findings", async () => {
    const { page } = await open("/totals/programs");
    const rows = page.getByRole("table", { name: "Findings by program and year" }).getByRole("row");
    expect((await rows.allInnerTexts()).map((row) => row.split("\t").map((cell) => cell.trim()))).toEqual([
      ["Program", "2023", "2021", "2020", "All of these years"],
      ["93.778 Medical Assistance Program", "3", "0", "0", "3"],
      ["10.553 Secret Weapons", "1", "0", "0", "1"],
      ["16.575 Victims", "0", "1", "0", "1"],
      ["84.010 Secret Weapons", "0", "1", "0", "1"],
      ["84.010A Secret Weapons", "0", "0", "1", "1"],
    ]);
    await page.getByRole("link", { name: "2020" }).click();
    await page
      .getByRole("columnheader", { name: "2020" })
      .and(page.locator("[aria-sort=descending]"))
      .waitFor();
    expect(await rows.nth(1).innerText()).toContain("84.010A");
    await rows.nth(1).getByRole("link", { name: "1", exact: true }).click();
    await page.getByRole("status").getByText("1 finding: Program 84.010A, Audit year 2020.").waitFor();
  });

  it("of an agency are on its page too", async () => {
    const { page } = await open("/agency/84");
    await page.getByRole("link", { name: "Sort these programs by year" }).click();
    await page.getByText("2 programs of 84 Education with findings.").waitFor();
  });

  it.each([
    ["agency=08", "No program of 08 Peace Corps has a public finding in these audit years."],
    ["agency=zz", "“zz” is not an agency."],
    ["page=9", "There is no page 9."],
  ])("with nothing to show say so: %s", async (query, sentence) => {
    const { status, text: body } = await get(`/totals/programs?${query}`);
    expect([status, body.includes(sentence)]).toEqual([200, true]);
  });
});

describe.each([
  "/totals/programs",
  "/findings?program=84.010*",
  "/findings?requirement=I,L&state=TX",
  "/findings",
  "/findings?words=procurement",
  "/findings?words=zeppelin",
  "/program/93.778",
  "/agency/93",
  "/state/CA",
  "/",
])("%s", (target) => {
  it.each<[name: string, options: object]>([
    ["in light colors", {}],
    ["in dark colors", { colorScheme: "dark" }],
    ["320 pixels wide", { viewport: { width: 320, height: 640 } }],
  ])("is accessible and fits %s", async (_, options) => {
    const { checkAccessibility, checkFit } = await open(target, options);
    await checkAccessibility();
    await checkFit();
  });
});
