import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { RunningApp } from "../../shared/web/start-app.ts";
import { readList } from "../../site/check/read-list.ts";
import { searchesAMinute } from "../../site/search/limit-queries.ts";
import { useRefresh } from "../scripts/refresh/support/refresh.ts";
import { id, submission } from "../scripts/refresh/support/source-files.ts";
import { send } from "../support/target.ts";
import { startPages } from "./start-pages.ts";

// The page that checks a list, as a pass-through entity uses it.

const here = useRefresh();
let service: RunningApp;

beforeAll(async () => {
  await here.write("general", [
    submission(1, {
      auditee_name: '"Polk County"',
      auditee_uei: "POLKPOLK1234",
      auditee_ein: "042600524",
      audit_year: "2023",
      fac_accepted_date: "2024-03-31",
      gaap_results: "qualified_opinion",
    }),
    submission(2, {
      auditee_name: '"Polk County"',
      auditee_uei: "POLKPOLK1234",
      auditee_ein: "042600524",
      audit_year: "2022",
      fac_accepted_date: "2023-01-15",
      gaap_results: "unmodified_opinion",
    }),
    submission(3, {
      auditee_name: '"=cmd|calc <b>"',
      auditee_uei: "MESAMESA1234",
      auditee_ein: "942600524",
      audit_year: "2023",
      fac_accepted_date: "2024-02-01",
    }),
    submission(4, {
      auditee_name: "Mesa",
      auditee_uei: "MESAMESA1234",
      auditee_ein: "942600524",
      audit_year: "2019",
      fac_accepted_date: "2020-03-01",
    }),
    submission(5, {
      auditee_name: "Elmo",
      auditee_uei: "ELM4ELM41234",
      auditee_ein: "362600524",
      audit_year: "2023",
    }),
    // Before there were UEIs.
    submission(6, {
      auditee_name: "Elmo",
      auditee_uei: "GSA_MIGRATION",
      auditee_ein: "362600524",
      audit_year: "2018",
      fac_accepted_date: "2019-03-01",
    }),
    submission(7, { auditee_name: "Ash", auditee_uei: "ASHASHASH123", audit_year: "" }),
    submission(8, { auditee_name: "Ash", auditee_uei: "ASHASHASH123", audit_year: "2023" }),
    submission(9, { auditee_name: "Gone", auditee_uei: "GONEGONE1234", audit_year: "2018" }),
    submission(20, {
      auditee_name: '"Hidden Nation"',
      is_public: "f",
      auditee_uei: "HHHHHHHH1234",
      auditee_ein: "998877665",
      audit_year: "2023",
    }),
  ]);
  const award = (number: number, reference: string, agency: string, program: string) => ({
    report_id: id(number),
    award_reference: reference,
    federal_agency_prefix: agency,
    federal_award_extension: program,
  });
  await here.write("federal_awards", [
    award(1, "AWARD-0001", "93", "778"),
    award(1, "AWARD-0002", "10", "555"),
    { ...award(3, "AWARD-0001", "84", "010"), audit_report_type: "Q" },
    award(4, "AWARD-0001", "93", "778"),
    award(20, "AWARD-0001", "93", "778"),
  ]);
  const finding = (number: number, award_reference: string, reference_number: string, more = {}) => ({
    report_id: id(number),
    award_reference,
    reference_number,
    ...more,
  });
  await here.write("findings", [
    // One finding on two awards.
    finding(1, "AWARD-0001", "2023-001", { is_repeat_finding: "Y", is_material_weakness: "Y" }),
    finding(1, "AWARD-0002", "2023-001", { is_repeat_finding: "Y", is_material_weakness: "Y" }),
    finding(1, "AWARD-0002", "2023-002", { is_questioned_costs: "Y" }),
    finding(4, "AWARD-0001", "2019-001"),
    finding(20, "AWARD-0001", "2023-001"),
  ]);
  for (const table of [
    "findings_text",
    "corrective_action_plans",
    "notes_to_sefa",
    "passthrough",
    "secondary_auditors",
    "resubmission",
  ])
    await here.write(table, []);
  await here.write("additional_ueis", [
    { report_id: id(3), additional_uei: "ADDITIONAL12" },
    { report_id: id(20), additional_uei: "HIDDENUEI123" },
    { report_id: id(20), additional_uei: "SUPPRESSED12" },
  ]);
  await here.write("additional_eins", [{ report_id: id(20), additional_ein: "998877663" }]);
  await here.load();
  service = await startPages(here.database.url);
});
afterAll(() => service?.close());

let clients = 0;
function makeClient(): string {
  clients += 1;
  return `2001:db8:${clients.toString(16)}::1`;
}

const form = "application/x-www-form-urlencoded";

/** Each request comes from another client, so that it is not limited. */
function ask(target: string, { body, type = form, from = makeClient() }: Posted = {}) {
  const headers = { "x-forwarded-for": from, accept: "text/html" };
  return body === undefined
    ? send(service.url, target, { headers })
    : send(service.url, target, { method: "POST", body, headers: { ...headers, "content-type": type } });
}
interface Posted {
  body?: string;
  type?: string;
  from?: string;
}

const post = (list: string, more: Record<string, string> = {}) =>
  ask("/check", { body: String(new URLSearchParams({ u: list, ...more })) });

const readCsv = async (target: string): Promise<Record<string, string>[]> =>
  parse((await ask(target)).text, { columns: true, bom: true });

/** The cells of each row of the list, or of a section, without the spaces between their parts. */
const readRows = (page: string): string[][] =>
  Array.from(
    (page.split('<h2 id="rows">')[1] ?? page)
      .replace(/<section aria-labelledby="due">.*/s, (rest) => (page.includes('<h2 id="rows">') ? "" : rest))
      .matchAll(/<tr><th scope="row">.*?<\/tr>/gs),
    ([row]) =>
      Array.from(row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs), ([, cell = ""]) =>
        cell
          .replace(/<[^>]*>/g, " ")
          .replace(/\s+/g, " ")
          .trim(),
      ),
  );

describe("a list", () => {
  it("has a row for each entry in its order, with what was found", async () => {
    const { status, text } = await ask(
      "/check?u=ZZZZZZZZ1234,POLKPOLK1234,94-2600524,ADDITIONAL12&year=2023&aln=93.778",
    );
    expect(status).toBe(200);
    const [unknown, polk, mesa, additional] = readRows(text);
    expect(unknown?.slice(0, 2)).toEqual(["ZZZZZZZZ1234", "no public report"]);
    expect(polk).toEqual([
      expect.stringMatching(/^Polk County.* POLKPOLK1234$/),
      "2024-03-31 audit year 2023; 1 other report",
      "Not clean opinion qualified",
      "2",
      // Of these on the program: all, and those with each flag.
      "1",
      "1",
      "1",
      "0",
      "2024-09-30 past due",
    ]);
    expect(mesa?.[2]).toMatch(/^Not clean .*opinion on compliance qualified for 1 program$/);
    expect(mesa?.slice(3)).toEqual(["0", "0", "0", "0", "0", "–"]);
    expect(additional?.[0]).toMatch(/ADDITIONAL12 as an additional UEI same report as 94-2600524$/);
    expect(text).toContain(`href="/record/${id(1)}"`);
    expect(text).toContain('<th scope="col">Accepted</th>');
  });

  it("says in its first sentence how many reports are not clean, also without findings", async () => {
    const { text } = await ask("/check?u=MESAMESA1234,ELM4ELM41234&year=2023");
    expect(text).toContain("Of these reports, 1 is not clean, 1 states no opinion. None has findings.");
    const both = (await ask("/check?u=POLKPOLK1234,MESAMESA1234&year=2023")).text;
    expect(both).toContain("Of these reports, 2 are not clean. 1 has findings: 2 in all.");
    const none = (await ask("/check?u=ZZZZZZZZ1234,YYYYYYYY1234")).text;
    expect(none).toContain(
      '<p role="status">2 entries, newest reports: none with a public report, 2 with no public report.</p>',
    );
  });

  it("without a year shows the newest report and leads to the others", async () => {
    const { text } = await ask("/check?u=042600524");
    const [[auditee, filed] = []] = readRows(text);
    expect([auditee, filed]).toEqual([
      expect.stringContaining("Polk County"),
      "2024-03-31 audit year 2023; 1 other report",
    ]);
    expect(text).toContain('<a href="/auditee/042600524">1 other report</a>');
    expect(readRows((await ask("/check?u=042600524&year=2022")).text)[0]?.[1]).toContain("2023-01-15");
  });

  it("says of whom no public report names an ID, because others name it as their auditor's", async () => {
    expect((await ask("/check?u=998877666")).text).toContain(
      "no public report names the UEI or EIN as its auditee’s",
    );
  });

  it("says that a resubmitted report was first filed earlier", async () => {
    const setVersion = (version: number) =>
      here.select(
        `update disclosed.general set resubmission_version = ${version} where report_id = '${id(1)}'`,
      );
    await setVersion(2);
    onTestFinished(async () => {
      await setVersion(0);
    });
    const [polk, mesa] = readRows((await ask("/check?u=POLKPOLK1234,MESAMESA1234")).text);
    expect(polk?.[1]).toContain("resubmitted (first filed earlier)");
    expect(mesa?.[1]).not.toContain("resubmitted");
    expect((await ask(`/record/${id(1)}`)).text).toContain("(resubmitted: version 2)");
    const decisions = await ask("/check?u=POLKPOLK1234,MESAMESA1234&due=all&sort=findings");
    const [section = ""] = /<section aria-labelledby="due">.*?<\/section>/s.exec(decisions.text) ?? [];
    expect(readRows(section).map(([, , year]) => year)).toEqual([
      "2023 resubmitted (first filed earlier)",
      "2019",
    ]);
    const saved = await readCsv("/check.csv?u=POLKPOLK1234&rows=decisions&due=all");
    expect(saved).toMatchObject([{ fac_accepted_date: "2024-03-31", resubmission_version: "2" }]);
  });

  it("has a row for the placeholder of unknown UEIs, which is no typo", async () => {
    const { text } = await ask("/check?u=POLKPOLK1234,GSA_MIGRATION,MESAMESA1234");
    const [polk, placeholder, mesa] = readRows(text);
    expect(placeholder?.slice(0, 2)).toEqual([
      "GSA_MIGRATION",
      "not a UEI: old reports without a UEI have this instead",
    ]);
    expect(text).not.toContain("Not understood");
    expect([polk?.[3], mesa?.[3]]).toEqual(["2", "0"]);
  });

  it("finds the reports of a UEI that its auditee's page has, also those from before it had the UEI", async () => {
    const old = readRows((await ask("/check?u=ELM4ELM41234&year=2018")).text)[0];
    expect(old?.[1]).toContain("2019-03-01");
    expect((await ask("/check?u=ELM4ELM41234")).text).toContain(
      '<a href="/auditee/ELM4ELM41234">1 other report</a>',
    );
    const { text } = await ask("/auditee/ELM4ELM41234");
    expect([5, 6].map((number) => text.includes(`/record/${id(number)}`))).toEqual([true, true]);
  });

  it("counts findings on an agency's programs, and has no decision due for other programs", async () => {
    const cells = async (aln: string) => readRows((await ask(`/check?u=POLKPOLK1234&aln=${aln}`)).text)[0];
    expect((await cells("10"))?.[4]).toBe("2");
    expect((await cells("USDA"))?.[4]).toBe("2");
    expect(readRows((await ask("/check?u=POLKPOLK1234&program=10")).text)[0]?.[4]).toBe("2");
    expect((await cells("Department+of+Health+and+Human+Services"))?.[4]).toBe("1");
    const ofOthers = await cells("84.010");
    expect([ofOthers?.[4], ofOthers?.at(-1)]).toEqual(["0", "–"]);
  });

  // The newest report of Mesa has no findings, its older one has.
  it.each([
    ["", ["older", "Polk"]],
    ["&due=month", ["Polk"]],
    ["&due=quarter", ["Polk"]],
    ["&due=past", ["older"]],
    ["&sort=findings", ["Polk", "older"]],
    ["&due=month&aln=84", []],
  ])("lists the decisions on all reports that were found, and marks them: %s", async (more, expected) => {
    const dueIn = async (days: number, number: number) =>
      here.select(
        `update disclosed.general set fac_accepted_date = (current_date + ${days} - interval '6 months')::date where report_id = '${id(number)}'`,
      );
    await dueIn(10, 1);
    await dueIn(-40, 4);
    onTestFinished(async () => {
      await here.select(
        `update disclosed.general set fac_accepted_date = '2024-03-31' where report_id = '${id(1)}'`,
      );
      await here.select(
        `update disclosed.general set fac_accepted_date = '2020-03-01' where report_id = '${id(4)}'`,
      );
    });
    const { text } = await ask(`/check?u=POLKPOLK1234,MESAMESA1234${more}`);
    const [section = ""] = /<section aria-labelledby="due">.*?<\/section>/s.exec(text) ?? [];
    const rows = readRows(section);
    const of = { older: id(4), Polk: id(1) } as Record<string, string>;
    expect(Array.from(section.matchAll(/href="\/record\/([^"]*)"/g), ([, report]) => report)).toEqual(
      expected.map((name) => of[name]),
    );
    for (const [due = "", auditee] of rows)
      expect(due).toMatch(auditee?.startsWith("Polk") ? / due within a month$/ : / past due$/);
    const csv = await ask(`/check.csv?u=POLKPOLK1234,MESAMESA1234${more}&rows=decisions`);
    const saved: Record<string, string>[] = parse(csv.text, { columns: true, bom: true });
    expect(saved.map(({ report_id: report }) => report)).toEqual(expected.map((name) => of[name]));
  });

  it("links from one choice of decisions to the others", async () => {
    const { text } = await ask("/check?u=POLKPOLK1234&aln=93.778&due=all");
    expect(text).toContain('href="/check?u=POLKPOLK1234&amp;aln=93.778&amp;due=past#due">Past due (1)</a>');
    expect(text).toContain('href="/check?u=POLKPOLK1234&amp;aln=93.778&amp;due=all&amp;sort=findings#due"');
  });

  it("lists all decisions if none is recent, and says which they are, of which reports, and as of when", async () => {
    const today = new Date().toLocaleDateString("en-US", { dateStyle: "long", timeZone: "America/New_York" });
    const { text } = await ask("/check?u=POLKPOLK1234,MESAMESA1234&year=2023");
    const [section = ""] = /<section aria-labelledby="due">.*?<\/section>/s.exec(text) ?? [];
    expect(readRows(section)).toHaveLength(1);
    const words = section.replace(/<[^>]*>/g, "").replace(/\s+/g, " ");
    expect(words).toContain(
      `All: 1 of 1 decision, as of ${today}. No decision was due in the 12 months before that day, and none is due later, so all are shown. A decision is due on every report of these auditees that has findings, for audit year 2023. The list above has only one report of each UEI and EIN.`,
    );
    // The form keeps what was asked for, and only the page without a choice has another.
    expect(text).not.toContain('<option value="all" selected>All</option></select>');
    const chosen = (await ask("/check?u=POLKPOLK1234&due=all")).text;
    expect(chosen).toContain('<option value="all" selected>All</option></select>');
    expect(chosen).not.toContain("so all are shown");
    for (const due of ["recent", "month", "quarter"]) {
      const none = (await ask(`/check?u=POLKPOLK1234&due=${due}`)).text;
      expect(none).toMatch(/: none of\s+1 decision, /);
      expect(none).toContain('<a href="/check?u=POLKPOLK1234&amp;due=all#due">Show all decisions</a>');
      expect(none).toContain(">Past due (1)</a>");
    }
    const csv = await ask("/check.csv?u=POLKPOLK1234&rows=decisions");
    const saved: Record<string, string>[] = parse(csv.text, { columns: true, bom: true });
    expect(saved).toMatchObject([
      {
        management_decision_state: "past due",
        auditee_uei: '="POLKPOLK1234"',
        as_of: new Date().toLocaleDateString("en-CA", { timeZone: "America/New_York" }),
        entry: '="POLKPOLK1234"',
      },
    ]);
  });

  // Those of Polk are due on 2024-09-30, those of Mesa on 2020-09-01.
  it.each([
    ["2024-09-01", "month", "Polk", "due within a month"],
    ["2024-07-01", "quarter", "Polk", "due later"],
    ["2024-07-01", "", "Polk", "due later"],
    ["2020-08-15", "month", "Mesa", "due within a month"],
    ["2024-09-30", "past", "Mesa", "past due"],
  ])("judges decisions as of a day: %s, %s", async (asOf, due, name, state) => {
    const list = `u=POLKPOLK1234,942600524&as_of=${asOf}&due=${due}`;
    const { text } = await ask(`/check?${list}`);
    const [section = ""] = /<section aria-labelledby="due">.*?<\/section>/s.exec(text) ?? [];
    expect(readRows(section).map(([date]) => date?.slice(11))).toEqual([state === "due later" ? "" : state]);
    expect(section).toContain(`record/${id(name === "Polk" ? 1 : 4)}"`);
    const day = new Date(asOf).toLocaleDateString("en-US", { dateStyle: "long", timeZone: "UTC" });
    expect(section).toContain(`“Past due” means due before ${day}.`);
    expect(text).toContain(`name="as_of" type="date" value="${asOf}"`);
    const saved = await readCsv(`/check.csv?${list}&rows=decisions`);
    expect(saved).toMatchObject([{ management_decision_state: state, as_of: asOf }]);
    if (name === "Polk")
      expect((await readCsv(`/check.csv?${list}`))[0]).toMatchObject({
        management_decision_state: state,
        as_of: asOf,
      });
  });

  it.each([
    "/check.csv?u=POLKPOLK1234,MESAMESA1234&rows=decisions",
    "/check.csv?u=POLKPOLK1234,MESAMESA1234&rows=decisions&due=past&as_of=",
    "/check.csv?u=POLKPOLK1234,MESAMESA1234",
  ])("has addresses of decisions that list the same ones on any day: %s", async (target) => {
    const [row] = await readCsv(target);
    const parameters = new URLSearchParams(row?.source?.split("?")[1]);
    expect(parameters.getAll("as_of").join("")).toBe(row?.as_of);
    expect(row?.as_of).toMatch(/^\d{4}-\d\d-\d\d$/);
    if (target.includes("decisions"))
      expect(parameters.getAll("due").join("")).toBe(target.includes("past") ? "past" : "all");
    const again = await readCsv(row?.source?.replace(/^https?:\/\/[^/]*/, "") ?? "");
    expect(again[0]).toEqual({ ...row, source: again[0]?.source });
    const { text } = await ask(target.replace("/check.csv", "/check").replace("&rows=decisions", ""));
    const due = target.includes("past") ? "past" : "all";
    const kept = `u=POLKPOLK1234,MESAMESA1234&amp;${target.includes("past") ? `due=past&amp;as_of=${row?.as_of}` : `as_of=${row?.as_of}&amp;due=${due}`}`;
    expect(text).toContain(`/check.csv?${kept}&amp;rows=decisions"`);
    expect(text).toMatch(new RegExp(`class="address">[^<]*/check\\?${kept}<`));
  });

  it("has the decisions without a due date, the last in their order", async () => {
    await here.select(`update disclosed.general set fac_accepted_date = null where report_id = '${id(1)}'`);
    onTestFinished(async () => {
      await here.select(
        `update disclosed.general set fac_accepted_date = '2024-03-31' where report_id = '${id(1)}'`,
      );
    });
    const undated = "no accepted date, so no due date can be computed";
    const list = "u=POLKPOLK1234,MESAMESA1234";
    const { text } = await ask(`/check?${list}`);
    const [section = ""] = /<section aria-labelledby="due">.*?<\/section>/s.exec(text) ?? [];
    expect(readRows(section).map(([due]) => due)).toEqual(["2020-09-01 past due", undated]);
    expect(section).toContain(`1 of 2 reports has ${undated}.`);
    expect(readRows(text)[0]?.at(-1)).toBe(undated);
    const read = async (target: string) =>
      parse((await ask(target)).text, { columns: true, bom: true }) as Record<string, string>[];
    const decisions = await read(`/check.csv?${list}&rows=decisions`);
    expect(decisions.map((each) => each.management_decision_state)).toEqual(["past due", undated]);
    expect(await read(`/check.csv?${list}`)).toMatchObject([
      { management_decision_due: "", management_decision_state: undated },
      { management_decision_state: "" },
    ]);
    // They may be due.
    expect(await read(`/check.csv?${list}&rows=decisions&due=recent`)).toMatchObject([
      { management_decision_state: undated },
    ]);
    expect(await read(`/check.csv?${list}&rows=decisions&due=past`)).toMatchObject([
      { management_decision_state: "past due" },
    ]);
  });

  it("names an auditee that has only reports of other years, and these years", async () => {
    const { text } = await ask("/check?u=MESAMESA1234,POLKPOLK1234,ZZZZZZZZ1234&year=2022");
    const [mesa, polk, unknown] = readRows(text);
    expect(mesa?.slice(0, 3)).toEqual([
      expect.stringMatching(/^=cmd\|calc &lt;b&gt;.* MESAMESA1234$/),
      "no public report for 2022; filed 2023 , 2019",
      "–",
    ]);
    expect(text).toContain(`filed <a href="/record/${id(3)}">2023</a>, 2019`);
    expect(text).toContain('<a href="/auditee/MESAMESA1234">=cmd');
    expect([polk?.[1], unknown?.[1]]).toEqual([
      "2023-01-15 audit year 2022; 1 other report",
      "no public report",
    ]);
    expect(text).toContain(
      "1 with a public report, 1 with reports of other years only, 1 with no public report.",
    );
    const csv = await ask("/check.csv?u=MESAMESA1234&year=2022");
    expect(parse(csv.text, { columns: true, bom: true })).toMatchObject([
      {
        answer: "no public report for 2022; filed 2023, 2019",
        auditee_name: "'=cmd|calc <b>",
        auditee_uei: '="MESAMESA1234"',
        report_id: "",
      },
    ]);
  });

  it.each([
    ["2023,2022", ["2023", "2022"]],
    ["2022+2023", ["2023", "2022"]],
    ["all", ["2023", "2022", "2019", "2018"]],
  ])("has the audit years %s beside each other", async (asked, years) => {
    const list = "u=POLKPOLK1234,ELM4ELM41234,MESAMESA1234,ZZZZZZZZ1234";
    const { text } = await ask(`/check?${list}&year=${asked}`);
    expect(Array.from(text.matchAll(/<th scope="col">(\d{4})</g), ([, year]) => year)).toEqual(years);
    const rows = readRows(text).map(([, ...cells]) =>
      Object.fromEntries(years.map((year, i) => [year, cells[i]])),
    );
    expect(rows).toMatchObject([
      { 2023: "2 findings, 1 repeat", 2022: "Clean" },
      { 2023: "Not stated, no findings", 2022: "no public report" },
      {
        2023: expect.stringMatching(/^Not clean, no findings .*qualified for 1 program$/),
        2022: "no public report",
      },
      { 2023: "no public report", 2022: "no public report" },
    ]);
    expect(text).toContain(`<td data-label="2023"><a href="/record/${id(1)}">2 findings, 1 repeat</a></td>`);
    expect(text).toMatch(/2022<\/a>: 1 report\. Of these, 1 is clean\. None has findings\./);
    // The same reports as a file, and from the API.
    const csv = await ask(`/check.csv?${list}&year=${asked}`);
    const saved: Record<string, string>[] = parse(csv.text, { columns: true, bom: true });
    expect(saved).toMatchObject([
      {
        result_2023: "not clean",
        findings_2023: "2",
        repeat_findings_2023: "1",
        report_id_2023: id(1),
        result_2022: "clean",
      },
      { result_2023: "not stated", result_2022: "no public report", report_id_2022: "" },
      { auditee_name: "'=cmd|calc <b>", result_2023: "not clean" },
      { answer: "no public report", result_2023: "no public report" },
    ]);
    expect(text).toMatch(new RegExp(`general\\?report_id=in\\.\\(${id(1)},${id(2)},`));
    expect(text).toContain(`/check.csv?${list}&amp;year=${asked === "all" ? "all" : "2023,2022"}&amp;as_of=`);
  });

  it("keeps the name of an auditee that has none of the compared years, and its decisions", async () => {
    const { text } = await ask("/check?u=MESAMESA1234&year=2021,2022");
    expect(readRows(text)).toEqual([
      [expect.stringMatching(/MESAMESA1234 filed 2023, 2019$/), "no public report", "no public report"],
    ]);
    expect((await ask("/check?u=MESAMESA1234&year=all")).text).toContain("Management decisions (1)");
  });

  it.each([
    ["", "new", ["Polk"], "more findings; findings where there were none; no longer clean"],
    ["", "more", ["Polk"], "more findings; findings where there were none; no longer clean"],
    ["", "none", ["=cmd"], "fewer findings; no longer any findings"],
    ["", "fewer", ["=cmd"], "fewer findings; no longer any findings"],
    ["&aln=10", "new", ["Polk"], "more findings; findings where there were none; no longer clean"],
    ["&aln=84", "more", [], "-"],
    ["&aln=84", "unclean", ["Polk"], "no longer clean"],
    ["", "missing", [], "-"],
  ])("of several years shows only entries that changed: %s %s", async (more, change, names, judged) => {
    const list = `u=POLKPOLK1234,MESAMESA1234,362600524,ZZZZZZZZ1234&year=all${more}`;
    const { text } = await ask(`/check?${list}&change=${change}`);
    expect(readRows(text).map(([auditee]) => auditee?.split(/[ |]/)[0])).toEqual(names);
    const words = {
      more: "More findings",
      new: "Findings where there were none",
      fewer: "Fewer findings",
      none: "No longer any findings",
      unclean: "No longer clean",
      clean: "Now clean",
      first: "Report for the newest of these years only",
      missing: "An earlier report, but none for the newest of these years",
    }[change];
    expect(text).toContain(`&amp;change=${change}#rows" aria-current="true">${words} (${names.length})</a>`);
    expect(text).toMatch(/#rows">All \(4\)<\/a>/);
    const csv = await ask(`/check.csv?${list}&change=${change}`);
    expect(
      (parse(csv.text, { columns: true, bom: true }) as object[]).map((row) => "change" in row && row.change),
    ).toEqual(names.map(() => judged));
  });

  it("of several years tells the same number of findings from the same result", async () => {
    const set = (number: number, column: string, value: string) =>
      here.select(`update disclosed.general set ${column} = '${value}' where report_id = '${id(number)}'`);
    await set(1, "audit_year", "2021");
    await set(5, "gaap_results", "unmodified_opinion");
    onTestFinished(async () => {
      await set(1, "audit_year", "2023");
      await set(5, "gaap_results", "");
    });
    const list = "u=POLKPOLK1234,ELM4ELM41234,ASHASHASH123,ZZZZZZZZ1234&year=2023,2022,2021,2018&aln=84";
    expect((await readCsv(`/check.csv?${list}`)).map(({ change }) => change)).toEqual([
      "now clean; an earlier report, but none for the newest of these years",
      "same number of findings; result changed from not stated to clean",
      "report for the newest of these years only",
      "",
    ]);
    for (const [change, name] of [
      ["clean", "Polk"],
      ["first", "Ash"],
    ]) {
      const { text } = await ask(`/check?${list}&change=${change}`);
      expect(readRows(text).map(([auditee]) => auditee?.split(" ")[0])).toEqual([name]);
      expect((await readCsv(`/check.csv?${list}&change=${change}`)).length).toBe(1);
    }
    // An older report too has the number of its repeat findings, on the program that was asked for.
    const [polk] = readRows((await ask("/check?u=POLKPOLK1234&year=2022,2021")).text);
    expect(polk?.slice(1)).toEqual(["Clean", "2 findings, 1 repeat"]);
    const [ofProgram] = readRows((await ask("/check?u=POLKPOLK1234&year=2022,2021&aln=93")).text);
    expect(ofProgram?.[2]).toBe("2 findings on 93: 1 finding, 1 repeat");
    expect(await readCsv("/check.csv?u=POLKPOLK1234&year=2022,2021")).toMatchObject([
      { repeat_findings_2022: "0", findings_2021: "2", repeat_findings_2021: "1" },
    ]);
  });

  it("of one auditee says that it has no report for the newest years", async () => {
    await here.select(`insert into disclosed.totals_by_state (audit_year, auditee_state, submissions, awards, amount_expended, findings, material_weaknesses)
       select year, 'TX', 1, 1, 1, 0, 0 from unnest('{2024,2025,2026}'::text[]) as year`);
    const later = await startPages(here.database.url);
    onTestFinished(async () => {
      await later.close();
      await here.select("delete from disclosed.totals_by_state where audit_year > '2023'");
    });
    const get = async (target: string) =>
      (await send(later.url, target, { headers: { "x-forwarded-for": makeClient(), accept: "text/html" } }))
        .text;
    const years = ["2026", "2025", "2024", "2023", "2022"];
    const filed = "no public report for 2026, 2025, 2024, 2023, 2022; filed 2019";
    const missing = "an earlier report, but none for the newest of these years";
    // Its only report is older than the years that are compared.
    const page = await get(`/check?u=${id(4)},MESAMESA1234&year=all`);
    expect(Array.from(page.matchAll(/<th scope="col">(\d{4})</g), ([, year]) => year)).toEqual(years);
    expect(page).toContain("2026</a>: no public report.");
    const rows = readRows(page);
    expect(rows.map((cells) => cells.slice(1).map((cell) => cell.slice(0, 9)))).toEqual([
      years.map(() => "no public"),
      ["no public", "no public", "no public", "Not clean", "no public"],
    ]);
    expect(rows[0]?.[0]).toContain("filed 2019");
    const saved: Record<string, string>[] = parse(await get(`/check.csv?u=${id(4)},MESAMESA1234&year=all`), {
      columns: true,
      bom: true,
    });
    expect(saved).toMatchObject([
      { answer: filed, change: "", result_2026: "no public report" },
      { answer: "filed", change: missing, result_2026: "no public report", result_2023: "not clean" },
    ]);
    expect(readRows(await get("/check?u=MESAMESA1234&year=all&change=missing"))).toHaveLength(1);
    const gone = parse(await get("/check.csv?u=GONEGONE1234,ZZZZZZZZ1234&year=all"), {
      columns: true,
      bom: true,
    });
    expect(gone).toMatchObject([{ change: missing }, { change: "" }]);
  });

  it("of several years says in its file too what did not change, and leaves empty what cannot be compared", async () => {
    const csv = await ask(
      "/check.csv?u=362600524,MESAMESA1234,ELM4ELM41234,ZZZZZZZZ1234&year=2023,2018&aln=93",
    );
    const rows: Record<string, string>[] = parse(csv.text, { columns: true, bom: true });
    expect(rows.map(({ change }) => change)).toEqual([
      "same number of findings",
      "report for the newest of these years only",
      "same number of findings",
      "",
    ]);
  });

  it.each([
    ["all", "2019", ["ELM4ELM41234"]],
    ["2023,2022", "2022", ["ELM4ELM41234"]],
    // It has not filed since.
    ["2023,2022", "2019", ["ELM4ELM41234"]],
  ])(
    "of %s shows auditees that have an earlier report, but none for the newest of these years: %s",
    async (year, filed, ids) => {
      const setYear = (year: string) =>
        here.select(`update disclosed.general set audit_year = '${year}' where report_id = '${id(5)}'`);
      await setYear(filed);
      onTestFinished(async () => {
        await setYear("2023");
      });
      // A report ID has no other years.
      const list = `u=POLKPOLK1234,ELM4ELM41234,ZZZZZZZZ1234,${id(2)}&year=${year}`;
      const { text } = await ask(`/check?${list}&change=missing`);
      expect(readRows(text).map(([auditee]) => auditee)).toEqual(
        ids.map((each) => expect.stringContaining(each)),
      );
      expect(text).toContain(`none for the newest of these years (${ids.length})</a>`);
    },
  );

  it.each(["all", "2023", "2022", "2023,2022"])("finds reports without an audit year: %s", async (year) => {
    const { status, text } = await ask(`/check?u=ASHASHASH123&year=${year}`);
    expect(status).toBe(200);
    const row = readRows(text)[0]?.join(" ");
    expect(row).toContain("Ash");
    expect(row).toContain(year === "2022" ? "filed 2023 , year not stated" : "Not");
  });

  it("and pages of its reports say that an audit year is not stated", async () => {
    for (const path of ["/auditee/ASHASHASH123", `/record/${id(7)}`, "/check?u=ASHASHASH123,AAAAAAAA1234"]) {
      const { status, text } = await ask(path);
      expect(status).toBe(200);
      expect(text.replace(/ href="[^"]*"|<code>.*?<\/code>/gs, ""), path).not.toMatch(/\bnull\b/);
    }
    const { text } = await ask("/auditee/ASHASHASH123");
    expect(text).toContain("The newest, of 2023:");
  });

  it("leads to the years that are not beside each other", async () => {
    const list = "u=MESAMESA1234,362600524";
    const { text } = await ask(`/check?${list}&year=2023,2022`);
    expect(text).toContain(
      `Other years of this list: <a href="/check?${list}&amp;year=2019,2018">2019, 2018</a>.`,
    );
    const older = (await ask(`/check?${list}&year=2019,2018`)).text;
    expect(older).toContain(`<a href="/check?${list}&amp;year=2023">2023</a>.`);
    const long = String(
      new URLSearchParams({ u: `${"NOSUCHUEI123 NOSUCHUEI124 ".repeat(600)} 362600524`, year: "2023,2022" }),
    );
    expect((await ask("/check", { body: long })).text).toContain('name="year" value="2018"');
  });

  it("compares at most five audit years, and names the others", async () => {
    const { text } = await ask("/check?u=POLKPOLK1234&year=2016,2017,2018,2019,2020,2022,2023");
    expect(text).toContain("At most 5 audit years are compared. 2017, 2016 were left out.");
    expect(readRows(text)[0]).toHaveLength(6);
  });

  it("comes first, with links to what follows", async () => {
    const { text } = await ask("/check?u=POLKPOLK1234,MESAMESA1234");
    expect(text.indexOf('id="rows"')).toBeLessThan(text.indexOf('id="due"'));
    for (const target of text.matchAll(/<a href="#([^"]*)"/g)) expect(text).toContain(`id="${target[1]}"`);
    expect(text).toContain('<a href="#due">Management decisions (2)</a>');
  });

  it.each(["", "&year=all"])("has IDs that no two elements of the page share: %s", async (more) => {
    const { text } = await ask(`/check?u=POLKPOLK1234,MESAMESA1234${more}`);
    const ids = Array.from(text.matchAll(/<[^>]* id="([^"]*)"/g), ([, each]) => each);
    expect(ids.filter((each, place) => ids.indexOf(each) !== place)).toEqual([]);
    expect(text).toContain('<label for="due-filter">');
  });

  it("marks entries with the same report, and says how many reports there are", async () => {
    const list = `u=942600524,MESAMESA1234,${id(4)},POLKPOLK1234,${id(3)}`;
    const { text } = await ask(`/check?${list}`);
    expect(readRows(text).map(([auditee]) => /same .*/.exec(auditee ?? "")?.[0])).toEqual([
      undefined,
      "same report as 942600524",
      undefined,
      undefined,
      "same report as 942600524",
    ]);
    expect(text.replace(/\s+/g, " ")).toContain(
      "5 with a public report (2 of these share a report with an earlier entry). Of these reports, 3 are not clean.",
    );
    const same = async (more: string) =>
      (await readCsv(`/check.csv?${list}${more}`)).map((row) => row.same_report_as);
    expect(await same("")).toEqual(["", '="942600524"', "", "", '="942600524"']);
    expect(await same("&year=all")).toEqual(["", '="942600524"', '="942600524"', "", '="942600524"']);
    const some = await readCsv(`/check.csv?u=${id(3)},MESAMESA1234&year=all`);
    expect(some.map((row) => row.same_report_as)).toEqual(["", `="${id(3)} for 2023"`]);
    const decisions = await readCsv(`/check.csv?${list}&rows=decisions`);
    expect(decisions.map(({ entry }) => entry)).toEqual(['="942600524"', '="POLKPOLK1234"']);
  });

  it.each(["", "&year=all", "&rows=decisions"])(
    "has the EIN in its file, as other files do: %s",
    async (more) => {
      const { text } = await ask(`/check.csv?u=MESAMESA1234${more}`);
      const [names = [], cells = []] = parse(text, { bom: true, toLine: 2 }) as string[][];
      const place = names.indexOf("auditee_ein");
      expect([names[place - 1], cells[place]]).toEqual(["auditee_uei", '="942600524"']);
    },
  );

  it("counts repeated entries once, and names them", async () => {
    const { text } = await ask(
      "/check?u=POLKPOLK1234,MESAMESA1234,polkpolk1234,94-2600524,942600524,00psps,00PSPS",
    );
    expect(readRows(text)).toHaveLength(4);
    expect(text).toContain("4 entries: 3 read, 1 not understood. Newest reports: 3 with a public report");
    expect(text).toMatch(/3 entries repeat\s+another and count once: polkpolk1234, 942600524, 00PSPS\./);
  });

  it("pasted with names checks every ID, and names the words that it did not understand once", async () => {
    const ids = Array.from({ length: 998 }, (_, index) => `ZZZZ${String(index).padStart(8, "0")}`);
    const pasted = [...ids, "POLKPOLK1234", "MESAMESA1234"].map((id) => `County of Polk\t${id}`);
    const { text } = await post([...pasted, ...pasted].join("\n"));
    const rows = readRows(text);
    expect([rows.length, rows.at(-1)?.[0]]).toEqual([1000, expect.stringContaining("MESAMESA1234")]);
    expect(text).not.toContain("left out");
    expect(text).toContain("Words that are not IDs (3): “County”, “of”, “Polk”.");
    expect(text).toMatch(/1,000 entries repeat\s+another and count once: ZZZZ00000000, /);
    const csv = await ask("/check.csv", { body: String(new URLSearchParams({ u: pasted.join("\n") })) });
    expect(parse(csv.text, { columns: true, bom: true })).toHaveLength(1000);
  });

  it("counts all entries, and lists those that may be mistyped with what may be meant", async () => {
    const list = "LC67HONF2H11,POLKPOLK1234,Nonsense1,MESAMESA123,MESAMESA1243,ZZZZZZZZ1234,GSA_MIGRATION";
    const { text } = await ask(`/check?u=${list}&year=2023`);
    expect(text).toContain(
      "7 entries: 3 read, 3 not understood, 1 without a UEI. Audit year 2023: 1 with a public report, 2 with no public report (1 similar",
    );
    expect(text).toContain("“Check of 7 entries, audit year 2023.”");
    const [, notice = ""] = /<div class="notice">(.*?)<\/div>/s.exec(text) ?? [];
    expect(
      Array.from(notice.matchAll(/<li>(.*?)<\/li>/gs), ([, entry]) => entry?.replace(/<[^>]*>/g, "")),
    ).toEqual([
      "“LC67HONF2H11”, not a UEI, because UEIs have no letter O: is it LC67H0NF2H11?",
      "“Nonsense1”, not understood",
      "“MESAMESA123”, not understood: did you mean MESAMESA1234 (Mesa)?",
      "“MESAMESA1243”, no public report: did you mean MESAMESA1234 (Mesa)?",
    ]);
    expect(notice).toContain("Check the list with the suggested IDs");
  });

  it("has rows for entries that may be mistyped IDs, and says why", async () => {
    const list = "LC67HONF2H11,POLKPOLK1234,Nonsense1";
    const { text } = await ask(`/check?u=${list}&year=2023`);
    const [mistyped, , nonsense] = readRows(text);
    expect(mistyped?.[1]).toBe("not a UEI, because UEIs have no letter O: is it LC67H0NF2H11?");
    expect(nonsense?.slice(0, 2)).toEqual(["Nonsense1", "not understood"]);
    const saved: Record<string, string>[] = parse((await ask(`/check.csv?u=${list}`)).text, {
      columns: true,
      bom: true,
    });
    expect(saved.map(({ entry }) => entry)).toEqual(list.split(",").map((typed) => `="${typed}"`));
    // Only an entry that was understood may have no public report.
    const compared: Record<string, string>[] = parse(
      (await ask(`/check.csv?u=${list},ZZZZZZZZ1234&year=2023,2021`)).text,
      { columns: true, bom: true },
    );
    expect(compared.map((row) => [row.result_2023, row.result_2021])).toEqual([
      ["", ""],
      ["not clean", "no public report"],
      ["", ""],
      ["no public report", "no public report"],
    ]);
  });

  it("suggests the ID of an auditee for one with a wrong, missing, repeated or swapped character", async () => {
    const list =
      "MESAMESA1243,942600542,HHHHHHHH1243,998877656,MESAMESAI234,MESAMESA123,MESAMMESA1234,9942600524,HHHHHHH1234,HHHHHHHH12344";
    const answers = readRows((await ask(`/check?u=${list}`)).text).map(([, answer]) => answer);
    expect(answers).toEqual([
      "no public report: did you mean MESAMESA1234 (Mesa)?",
      "no public report: did you mean 942600524 (Mesa)?",
      "no public report",
      "no public report",
      "not a UEI, because UEIs have no letter I: did you mean MESAMESA1234 (Mesa)?",
      "not understood: did you mean MESAMESA1234 (Mesa)?",
      "not understood: did you mean MESAMESA1234 (Mesa)?",
      "not understood: did you mean 942600524 (Mesa)?",
      "not understood",
      "not understood",
    ]);
    const { text: byYear } = await ask(`/check?u=${list}&year=all`);
    expect(byYear).toContain('did you mean <a href="/auditee/MESAMESA1234">');
    const [saved]: Record<string, string>[] = parse((await ask(`/check.csv?u=${list}`)).text, {
      columns: true,
      bom: true,
    });
    expect(saved?.answer).toBe(answers[0]);
  });

  it("without an ID suggests those that may be meant", async () => {
    const { text } = await ask("/check?u=MESAMESA123");
    expect(text).toContain("Nothing in the list is a UEI");
    expect(text).not.toContain("no entries, ");
    expect(readRows(text)[0]?.[1]).toContain("did you mean MESAMESA1234 (Mesa)?");
  });

  it("of report IDs has the decisions on all of them, whatever their year", async () => {
    const { text } = await ask(`/check?u=${id(1)}&year=2022`);
    expect(text.replace(/\s+/g, " ")).toContain(
      "A decision is due on every report in the list that has findings.",
    );
  });

  it("suggests IDs for the first 20 entries without a public report, and says so", async () => {
    const unknown = Array.from({ length: 20 }, (_, index) => `ZZZZ${String(index).padStart(8, "0")}`);
    const few = await ask(`/check?u=${["POLKPOLK1234", ...unknown.slice(1), "MESAMESA1243"].join(",")}`);
    expect(few.text).toContain("did you mean");
    expect(few.text).not.toContain("only for the first 20");
    const more = await ask(`/check?u=${[...unknown, "MESAMESA1243"].join(",")}`);
    expect(more.text).not.toContain("did you mean");
    expect(more.text).toContain("only for the first 20 without a public report.");
  });

  it("is read as people paste it", () => {
    const read = (typed: string) => readList(typed).entries.map((entry) => entry.id);
    const ids = ["POLKPOLK1234", "042600524"];
    for (const typed of [
      "polkpolk1234\t04-2600524",
      "UEI,EIN\r\nPOLKPOLK1234;04 2600524\r\n",
      '"POLKPOLK1234","042600524"',
      'UEI:POLKPOLK1234 ="042600524"',
      // Spreadsheets remove zeros.
      "POLKPOLK1234 42600524",
      "\ufeffPOLK\u200bPOLK1234\n04–2600524",
      "ＰＯＬＫＰＯＬＫ１２３４　042600524",
    ])
      expect(read(typed), typed).toEqual(ids);
    expect(readList("Philadelphia 12345 POLKPOLK1234")).toMatchObject({
      entries: [{ id: "POLKPOLK1234" }],
      unread: ["Philadelphia", "12345"],
    });
    // "No. 8" and "#304" are parts of names, and no rows.
    expect(readList("District No. 8 #304 POLKPOLK1234 Nonsense1").lines).toMatchObject([
      { id: "POLKPOLK1234" },
      { typed: "Nonsense1" },
    ]);
  });

  it("that fits into an address gets one, and a longer one says that it has none", async () => {
    const short = await post("POLKPOLK1234\nZZZZZZZZ1234", { year: "2023", aln: "" });
    expect([short.status, short.headers.location]).toEqual([
      303,
      "/check?u=POLKPOLK1234,ZZZZZZZZ1234&year=2023",
    ]);
    const many = Array.from({ length: 1000 }, (_, index) => `ZZZZ${String(index).padStart(8, "0")}`);
    const long = await post([...many.slice(0, 999), "POLKPOLK1234", "MESAMESA1234"].join("\n"));
    expect(long.status).toBe(200);
    expect(long.text).toContain("too long for an address");
    expect(long.text).toMatch(
      /<button [^>]*form="again" formaction="\/check#due" name="due" value="past"[^>]*>Past due \(1\)</,
    );
    expect(long.text).toMatch(/<button [^>]*form="again" [^>]*name="sort" value="findings"/);
    expect(long.text).toContain("Only the first 1,000 entries were checked. 1 more were left out.");
    const rows = readRows(long.text);
    expect([rows.length, rows.at(-1)?.[0]]).toEqual([1000, expect.stringContaining("Polk County")]);
  });

  it("is a CSV file for spreadsheets, from an address or a form", async () => {
    const answers = await Promise.all([
      ask("/check.csv?u=MESAMESA1234,042600524,=1%2B1111&year=2023"),
      ask("/check.csv", { body: "u=MESAMESA1234%0D%0A042600524%0D%0A%3D1%2B1111&year=2023" }),
    ]);
    for (const { status, headers, text } of answers) {
      expect([status, headers["content-type"]]).toEqual([200, "text/csv; charset=utf-8"]);
      const rows: Record<string, string>[] = parse(text, { columns: true, bom: true });
      expect(rows.map(({ answer }) => answer)).toEqual(["filed", "filed", "not understood"]);
      expect(rows[0]?.auditee_name).toBe("'=cmd|calc <b>");
      expect(rows[1]).toMatchObject({
        entry: '="042600524"',
        findings: "2",
        result: "not clean",
        management_decision_due: "2024-09-30",
      });
    }
  });

  it("comes with the API's requests for the same rows, and the data set", async () => {
    const { text } = await ask("/check?u=POLKPOLK1234&year=2023");
    const [{ data_set: dataSet } = { data_set: "" }] = await here.select(
      "select id::text as data_set from publication.data_sets where state = 'live'",
    );
    expect(text).toContain(`https://api.example.gov/general?report_id=in.(${id(1)})`);
    expect(text).toContain(`https://api.example.gov/finding_summaries?report_id=in.(${id(1)})`);
    expect(text).toContain(dataSet);
    expect(text).toContain("/check.csv?u=POLKPOLK1234&amp;year=2023&amp;as_of=");
    const ofProgram = (await ask("/check?u=POLKPOLK1234&aln=93.778")).text;
    expect(ofProgram).toMatch(/finding_summaries\?report_id=in\.[^"<]*alns=cs\.(\{|%7B)93\.778/);
    const ofAgency = (await ask("/check?u=POLKPOLK1234&aln=93")).text;
    expect(ofAgency).toMatch(/\/findings\?[^"<]*report_id=in\.[^"<]*federal_agency_prefix=eq\.93/);
    expect(text).toContain('type="application/atom+xml" href="/changes.atom?u=POLKPOLK1234"');
  });

  // Polk's report was accepted on 2024-03-31, Mesa's older one on 2020-03-01.
  it.each([
    ["2024-03-31", 2, ""],
    ["2024-03-30", 1, "1 report accepted after March 30, 2024 is left out."],
    ["2020-02-29", 0, "None as of February 29, 2020: 2 reports with findings were accepted after that day."],
  ])("leaves out decisions on reports accepted after the day: %s", async (asOf, listed, words) => {
    const list = `u=POLKPOLK1234,942600524&due=all&as_of=${asOf}`;
    const { text } = await ask(`/check?${list}`);
    const [section = ""] = /<section aria-labelledby="due">.*?<\/section>/s.exec(text) ?? [];
    expect(readRows(section)).toHaveLength(listed);
    expect(section).toContain(words);
    expect(section.includes("accepted after")).toBe(words !== "");
    expect(await readCsv(`/check.csv?${list}&rows=decisions`)).toHaveLength(listed);
  });

  it("leads to what changed after the data set that it shows", async () => {
    const { text } = await ask("/check?u=POLKPOLK1234");
    const [, path = "", words = ""] = /<a href="(\/changes[^"]*)">(What changed [^<]*)</.exec(text) ?? [];
    expect(words).toMatch(/^What changed for this auditee after \w+ \d+, \d{4} at .* Eastern$/);
    const { text: changes } = await ask(path.replaceAll("&amp;", "&"));
    expect(changes).toContain("Changes to reports with the ID POLKPOLK1234, after ");
    expect(changes).not.toContain("Not understood");
  });

  it("leads to its findings, as a page and as a file", async () => {
    const list = `u=POLKPOLK1234,942600524,${id(4)}`;
    const { text } = await ask(`/check?${list}&aln=93&year=2023`);
    const address = /<a href="(\/findings\?[^"]*)">Read/.exec(text)?.[1]?.replaceAll("&amp;", "&") ?? "";
    expect(Object.fromEntries(new URLSearchParams(address.split("?")[1]))).toEqual({
      u: list.slice(2),
      year: "2023",
      program: "93",
    });
    expect((await ask(address)).text).toMatch(/1 finding: 93 .*, Audit year 2023, A list of 3 IDs\./);
    expect(text).toContain(
      `href="${address.replace("/findings", "/findings.csv").replaceAll("&", "&amp;")}"`,
    );
    expect((await ask("/check?u=ELM4ELM41234")).text).not.toContain("/findings?");
    const compared = await ask(`/check?${list}&year=2023,2022`);
    expect(compared.text).toMatch(/href="\/findings\?year=2022,2023&amp;u=[^"]*">Read/);
  });
});

describe("a suppressed report", () => {
  /** A page, with one ID in place of another. */
  const replace = (page: string, id: string) =>
    page.replaceAll(id, "THE-ID").replaceAll(id.replaceAll("I", "1"), "ITS-DIGITS");

  it.each([
    ["HHHHHHHH1234", "ZZZZZZZZ1234"],
    ["HIDDENUEI123", "HIDDENUEI999"],
    ["SUPPRESSED12", "SUPPRESSED99"],
    ["998877665", "998877999"],
    ["998877663", "998877999"],
    [id(20), id(99)],
  ])("is like an unknown one: %s", async (hidden, unknown) => {
    for (const target of ["/check?year=2023&u=", "/check?year=all&u=", "/check.csv?year=2023,2022&u="]) {
      const pages = await Promise.all(
        [hidden, unknown].map(async (each) => replace((await ask(target + each)).text, each)),
      );
      expect(pages[0], target).toBe(pages[1]);
    }
  });

  it("of the asked year is like none, if its auditee has other reports", async () => {
    const share = (uei: string) =>
      here.select(
        `update suppressed.general set auditee_uei = '${uei}', audit_year = '2022' where report_id = '${id(20)}'`,
      );
    const read = async () =>
      (
        await Promise.all(
          ["/check?year=2022&u=", "/check?year=all&u=", "/check?u="].map((target) =>
            ask(`${target}MESAMESA1234`),
          ),
        )
      ).map(({ text }) => text);
    const before = await read();
    await share("MESAMESA1234");
    onTestFinished(async () => void (await share("HHHHHHHH1234")));
    expect(await read()).toEqual(before);
  });

  it("costs what an unknown one costs", async () => {
    const measure = async (each: string) => {
      const plan = await here.select(
        `explain (analyze, buffers, format json) select * from publication.check_reports(array['${each}'], array['2023'], '93.778')`,
      );
      const { Plan: counted } = plan[0]?.["QUERY PLAN"][0] ?? { Plan: {} };
      return (counted["Shared Hit Blocks"] ?? 0) + (counted["Shared Read Blocks"] ?? 0);
    };
    for (const [hidden, unknown] of [
      ["HHHHHHHH1234", "ZZZZZZZZ1234"],
      ["998877665", "998877999"],
      [id(20), id(99)],
    ] as const) {
      // PostgreSQL may choose another plan at the sixth call of a connection.
      for (let call = 0; call < 6; call += 1) await measure(unknown);
      expect(await measure(hidden)).toBe(await measure(unknown));
    }
  });
});

describe("hostile input", () => {
  it.each([
    ["nonsense", Array.from({ length: 1000 }, (_, index) => `Nonsense-${index}`).join("\n")],
    ["HTML", '"><script>alert(1)</script>'],
    ["characters of other encodings", "\u00fe\u00ff\u0000P\u0000O\u0000L\u0000K"],
    ["separators", ",,, ;\n\t"],
    ["half of a pair", "\ud800 \u202e"],
  ])("gets a clear sentence: %s", async (_name, typed) => {
    const { status, headers } = await post(typed);
    const { text } = status === 303 ? await ask(String(headers.location)) : await post(typed);
    expect(text).toContain("Nothing in the list is a UEI");
    expect(text).not.toContain("<script>alert");
  });

  it("in bytes that are not UTF-8 gets a page", async () => {
    for (const target of [
      "/check?u=%FF%FE%50%00",
      "/check?u=%E0%A4%A",
      "/check?u=%00",
      "/check?u[]=1&year=%FF",
    ])
      expect((await ask(target)).text, target).toContain("<h1>Check a list</h1>");
  });

  it("that is no form, or too long, is refused with a page that says what to do", async () => {
    for (const type of ["text/plain", "form", ";", " "]) {
      const other = await ask("/check", { body: "POLKPOLK1234", type });
      expect([other.status, other.text], type).toEqual([415, expect.stringContaining("not sent as a form")]);
    }
    const long = await ask("/check", { body: `u=${"x".repeat(300_000)}` });
    expect([long.status, long.text]).toEqual([413, expect.stringContaining("longer than 256 KB")]);
    expect(long.text).toContain("<!doctype html>");
  });

  it("in an address that is too long is refused with a sentence", async () => {
    const { status, text } = await ask(`/check?u=${"POLKPOLK1234,".repeat(1500)}`);
    expect([status, JSON.parse(text).message]).toEqual([431, expect.stringContaining("longer than 16 KB")]);
  });

  it("in a parameter is named and not used, and refused for a file", async () => {
    const { text } = await ask(
      "/check?u=POLKPOLK1234&year=<b>&aln=';--&due=soon&sort=<i>&rows=x&as_of=2026-02-30",
    );
    for (const sentence of [
      "“2026-02-30” is not a date from 1900 to 2099, such as 2026-01-31.",
      "“soon” is not a value of due",
      "“&lt;i&gt;” is not a value of sort",
      "“x” is not a value of rows",
    ])
      expect(text).toContain(sentence);
    for (const each of ["year=2022,x", "aln=zz", "due=soon", "sort=x", "rows=x", "as_of=soon"])
      expect((await ask(`/check.csv?u=POLKPOLK1234&${each}`)).status, each).toBe(400);
    expect(text).toContain("“&lt;b&gt;” is not an audit year");
    expect(text).toContain("“&#39;;--” is neither a program’s number");
    expect(readRows(text)).toHaveLength(1);
  });
});

it("lists are limited with searches for each client network", async () => {
  const from = "2001:db8:fffe:1::1";
  for (let count = 0; count < searchesAMinute; count += 1)
    expect((await ask("/check?u=POLKPOLK1234", { from })).status).toBe(200);
  expect((await ask("/check?u=POLKPOLK1234", { from })).status).toBe(429);
  const many = `u=${"POLKPOLK1234%0A".repeat(900)}`;
  expect((await ask("/check", { from, body: many })).status).toBe(429);
  // The form alone asks the database nothing.
  expect((await ask("/check", { from })).status).toBe(200);
});

it.each([
  ["/check.csv?u=POLKPOLK1234&rows=decisions", "/check.csv?u=ZZZZZZZZ1234&rows=decisions"],
  ["/findings.csv?program=93.778", "/findings.csv?auditee=ZZZZZZZZ1234"],
  ["/search.csv?q=Polk", "/search.csv?q=Atlantis"],
])(
  "files name their data set, its date and their address, and have the same columns without rows: %s, %s",
  async (some, none) => {
    const [{ id: dataSet, published } = { id: "", published: new Date(0) }] = await here.select(
      "select id::text, published_at as published from publication.data_sets where state = 'live'",
    );
    const at = new Date(published).toISOString();
    const files = await Promise.all([some, none].map(async (target) => (await ask(target)).text));
    const [rows, noRows] = files.map((text) => parse(text, { columns: true, bom: true }));
    expect(rows?.[0]).toMatchObject({ data_set: dataSet, data_set_published_at: at });
    expect(rows?.[0]).toMatchObject({ source: expect.stringContaining(some) });
    expect(noRows).toEqual([]);
    const [full = [], empty = []] = files.map(
      (text) => (parse(text, { bom: true, toLine: 1 }) as string[][])[0],
    );
    expect(empty).toEqual(full);
  },
);

it("changes are filtered by the name of an agency too", async () => {
  const { text } = await ask("/changes?aln=HHS");
  expect(text).toContain("<h1>Changes to reports with awards of Health and Human Services (93)</h1>");
  expect(text).not.toContain("Not understood");
});

it("a search for several IDs leads to their check", async () => {
  const { status, headers } = await ask("/search?q=POLKPOLK1234%20%2094-2600524");
  expect([status, headers.location]).toEqual([302, "/check?u=POLKPOLK1234,94-2600524"]);
  expect((await ask("/search?q=POLKPOLK1234%202023")).status).toBe(200);
});
