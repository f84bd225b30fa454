import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { useRefresh } from "../scripts/refresh/support/refresh.ts";
import {
  id,
  listColumns,
  type Row,
  range,
  submission,
  writeCsv,
} from "../scripts/refresh/support/source-files.ts";
import { columnNames, tables } from "../support/columns.ts";

const here = useRefresh();
const { select } = here;
afterEach(() => select("delete from publication.suppressed_reports"));

/** Writes source files and publishes them. `columns` overrides the columns of a file. */
async function publish(rows: Record<string, Row[]>, columns: Record<string, string[]> = {}) {
  for (const table of tables)
    await writeCsv(here.directory, table, rows[table] ?? [], { columns: columns[table] });
  await here.load();
}

/** Parses rows of a child table. Each line has a report's number, then a cell for each column; a dash is a null. */
function rowsOf(columns: string, lines: string): Row[] {
  const names = ["report_id", ...columns.split(" ")];
  const fill = (name: string, cell = "-") =>
    cell === "-" ? "" : name.endsWith("report_id") ? id(Number(cell)) : cell;
  return lines
    .trim()
    .split(/\n\s*/)
    .map((line) => line.split(" "))
    .map((cells) => Object.fromEntries(names.map((name, index) => [name, fill(name, cells[index])])));
}

/** The values of each row, separated by spaces. */
const list = async (sql: string) => (await select(sql)).map((row) => Object.values(row).join(" "));

const superseded = "deprecated_via_resubmission";

describe("a data set", () => {
  it("has totals of its public rows, by state and by agency", async () => {
    const inCalifornia = (number: number, more: Row = {}) =>
      submission(number, { audit_year: "2023", auditee_state: "CA", ...more });
    await publish({
      general: [
        inCalifornia(1),
        inCalifornia(2),
        inCalifornia(3, { is_public: "f" }),
        inCalifornia(4, { resubmission_status: superseded }),
        inCalifornia(5, { auditee_state: "" }),
      ],
      federal_awards: rowsOf(
        "award_reference federal_agency_prefix amount_expended",
        `1 AWARD-0001 93 100
         1 AWARD-0002 93 -30
         1 AWARD-0003 84 7
         2 AWARD-0001 84 1000
         3 AWARD-0001 93 50000
         4 AWARD-0001 93 600000`,
      ),
      // The first three rows are one finding on three awards, whose references have five digits here.
      findings: rowsOf(
        "reference_number award_reference is_material_weakness",
        `1 2023-001 AWARD-00001 N
         1 2023-001 AWARD-00002 Y
         1 2023-001 AWARD-00003 N
         1 2023-002 AWARD-0003 N
         3 2023-001 AWARD-0001 Y
         4 2023-001 AWARD-0001 Y`,
      ),
    });
    // Year, state or agency, submissions, awards, dollars, findings, material weaknesses.
    const byState = ["2023 CA 2 4 1077 2 1", "2023  1 0 0 0 0"];
    expect(await list("select * from api_v1_1_0.totals_by_state")).toEqual(byState);
    const byAgency = ["2023 84 2 2 1007 2 0", "2023 93 1 2 70 1 1"];
    expect(await list("select * from api_v1_1_0.totals_by_agency")).toEqual(byAgency);
  });

  it("has each public finding once, the newest first", async () => {
    await publish({
      general: [
        submission(1, {
          audit_year: "2023",
          fac_accepted_date: "2024-01-01",
          auditee_state: "CA",
          entity_type: "local",
        }),
        submission(2, {
          audit_year: "2023",
          fac_accepted_date: "2024-02-01",
          auditee_state: "TX",
          entity_type: "state",
        }),
        submission(3, { audit_year: "2023", is_public: "f" }),
        submission(4, { audit_year: "2023", resubmission_status: superseded }),
      ],
      federal_awards: rowsOf(
        "award_reference federal_agency_prefix federal_award_extension amount_expended is_direct",
        `1 AWARD-0001 93 778 100 Y
         1 AWARD-0002 84 010 20 N
         1 AWARD-0003 - 010 3 N
         2 AWARD-0001 10 555 7 N
         3 AWARD-0001 93 778 5 Y
         4 AWARD-0001 93 778 5 Y`,
      ),
      // The first three rows are one finding on three awards.
      findings: rowsOf(
        "reference_number award_reference type_requirement is_material_weakness is_repeat_finding prior_finding_ref_numbers",
        `1 2023-001 AWARD-0001 BA N N N/A
         1 2023-001 AWARD-0002 L Y N 2022-001
         1 2023-001 AWARD-0003 B N N 2022-001
         1 2023-002 AWARD-0003 I N Y -
         2 2023-001 AWARD-0001 E N N N/A
         2 2023-002 AWARD-0009 E N N N/A
         3 2023-001 AWARD-0001 A Y Y -
         4 2023-001 AWARD-0001 A Y Y -`,
      ),
    });
    expect(
      await list(
        `select report_id, reference_number, auditee_state, entity_type, alns, type_requirement, is_material_weakness,
           is_repeat_finding, prior_finding_ref_numbers, is_direct, awards, amount_expended
         from api_v1_1_0.finding_summaries`,
      ),
    ).toEqual([
      `${id(2)} 2023-001 TX state 10.555 E N N  N 1 7`,
      `${id(2)} 2023-002 TX state  E N N   1 `,
      `${id(1)} 2023-001 CA local 84.010,93.778 ABL Y N 2022-001 Both 3 123`,
      `${id(1)} 2023-002 CA local  I N Y  N 1 3`,
    ]);
  });

  it("finds the first 10,000 characters of a name of any length", async () => {
    const words = Array.from({ length: 150_000 }, (_, number) => `word${number}`);
    for (const name of [words.join(" "), words.join("-")]) {
      await publish({ general: [submission(1, { auditee_name: name })] });
      const found = (word: string) =>
        list(
          `select report_id from api_v1_1_0.general where request.words(general) @@ to_tsquery('request.names', '${word}')`,
        );
      expect([await found("word7"), await found("word149999")]).toEqual([[id(1)], []]);
    }
  });

  it("has totals of its public rows by program, whose name is its most frequent one", async () => {
    const states = ["TX", "CA", "", "", "TX"];
    const general = [1, 2, 5].map((number) =>
      submission(number, { audit_year: "2023", auditee_state: states[number - 1] ?? "" }),
    );
    general.push(submission(3, { audit_year: "2023", is_public: "f" }));
    general.push(submission(4, { audit_year: "2023", resubmission_status: superseded }));
    general.push(submission(6, { audit_year: "2022" }));
    await publish({
      general,
      federal_awards: rowsOf(
        "award_reference federal_agency_prefix federal_award_extension amount_expended federal_program_name",
        `1 AWARD-0001 93 778 100 Medicaid
         1 AWARD-0002 93 778 -30 Medical_Assistance
         1 AWARD-0003 84 048 7 Career
         2 AWARD-0001 93 778 1000 -
         2 AWARD-0002 - 778 5 Unknown
         2 AWARD-0003 93 - 6 Unknown
         2 AWARD-0004 9.3 778 7 Unknown
         2 AWARD-0005 XX N/A 8 Odd
         3 AWARD-0001 93 778 50000 Suppressed
         4 AWARD-0001 93 778 600000 Superseded
         5 AWARD-0001 84 048 1 -
         6 AWARD-0001 93 778 9 Medical_Assistance
         6 AWARD-0002 93 778 9 Medicaid
         6 AWARD-0003 93 778 9 Suppressed`,
      ),
      // The first three rows are one finding on three awards, whose references have five digits here.
      findings: rowsOf(
        "reference_number award_reference is_material_weakness",
        `1 2023-001 AWARD-00001 N
         1 2023-001 AWARD-00002 Y
         1 2023-001 AWARD-00003 N
         1 2023-002 AWARD-0003 N
         2 2023-001 AWARD-0002 Y
         2 2023-001 AWARD-0003 N
         3 2023-001 AWARD-0001 Y
         4 2023-001 AWARD-0001 Y
         6 2022-001 AWARD-0001 N`,
      ),
    });
    // Year, program, name, awards, dollars, findings, material weaknesses.
    expect(await list("select * from api_v1_1_0.totals_by_program")).toEqual([
      "2022 93.778 Medicaid 3 27 1 0",
      "2023 84.048 Career 2 8 2 0",
      "2023 93.778 Medicaid 3 1070 1 1",
      "2023 XX.N/A Odd 1 8 0 0",
      "2023   3 18 1 1",
    ]);
    // Year, program, state, awards, dollars, findings, material weaknesses.
    expect(await list("select * from api_v1_1_0.totals_by_program_and_state")).toEqual([
      "2023 84.048 TX 2 8 2 0",
      "2022 93.778  3 27 1 0",
      "2023 93.778 CA 1 1000 0 0",
      "2023 93.778 TX 2 70 1 1",
      "2023 XX.N/A CA 1 8 0 0",
      "2023  CA 3 18 1 1",
    ]);
    const describe = async (...values: unknown[]) =>
      (await select("select publication.describe_programs($1, $2, $3, $4) as found", values))[0].found;
    const { count, programs } = await describe(null, "material_weaknesses", 0, 2);
    expect(count).toBe(4);
    expect(programs).toEqual([
      {
        aln: "93.778",
        federal_program_name: "Medicaid",
        awards: 6,
        amount_expended: 1097,
        findings: 2,
        material_weaknesses: 1,
      },
      expect.objectContaining({ aln: null, federal_program_name: null, material_weaknesses: 1 }),
    ]);
    expect((await describe("2023", "aln", 3, 2)).programs).toMatchObject([{ aln: null, awards: 3 }]);
    expect(await describe("1999", "aln", 0, 2)).toEqual({ count: 0, programs: [] });
  });

  it("gives findings the numbers of their awards, which older files write with other digits", async () => {
    const report = (number: number, is_public: string) => submission(number, { is_public });
    await publish({
      general: [report(1, "t"), report(2, "t"), report(3, "f")],
      federal_awards: rowsOf(
        "award_reference",
        `1 AWARD-0001
         1 AWARD-0010
         2 AWARD-0001
         2 AWARD-0002
         2 AWARD-00003
         2 AWARD-0003
         2 AWARD-0004
         3 AWARD-0001`,
      ),
      findings: rowsOf(
        "reference_number award_reference",
        `1 2023-001 AWARD-00010
         1 2023-001 AWARD-00001
         1 2023-002 AWARD-00001
         1 2023-003 AWARD-00002
         2 2023-001 AWARD-0001
         2 2023-001 AWARD-00001
         2 2023-002 AWARD-00001
         2 2023-001 AWARD-000003
         2 2023-001 AWARD-00004
         2 2023-001 AWARD-000004
         3 2023-001 AWARD-00001`,
      ),
    });
    const numbers = (side: string) =>
      list(`select right(report_id, 1) as id, award_reference from ${side}.findings order by ctid`);
    expect(await numbers("suppressed")).toEqual(["3 AWARD-0001"]);
    expect(await numbers("disclosed")).toEqual([
      "1 AWARD-0010",
      "1 AWARD-0001",
      "1 AWARD-0001",
      // The report has no such award.
      "1 AWARD-00002",
      "2 AWARD-0001",
      // Another row of the finding has the award's number.
      "2 AWARD-00001",
      "2 AWARD-0001",
      // It could be either of two awards.
      "2 AWARD-000003",
      "2 AWARD-00004",
      "2 AWARD-0004",
    ]);
  });

  it("separates public from suppressed rows, and keeps the order of the files", async () => {
    await publish({
      general: [submission(1), submission(2, { is_public: "f" }), submission(3, { is_public: "" })],
      federal_awards: rowsOf(
        "award_reference",
        `1 AWARD-0002
         2 AWARD-0001
         1 AWARD-0001`,
      ),
    });
    const [{ row_counts: counts }] = await select(
      "select row_counts from publication.data_sets where state = 'live'",
    );
    expect(counts.general).toEqual({ disclosed: 1, suppressed: 2 });
    expect(await list("select report_id from suppressed.general")).toEqual([id(2), id(3)]);
    expect(await select("select * from disclosed.general_stubs")).toEqual(
      [2, 3].map((number) => ({ report_id: id(number), is_public: false })),
    );
    const awards = await list("select award_reference from disclosed.federal_awards");
    expect(awards).toEqual(["AWARD-0002", "AWARD-0001"]);
    expect(await list("select report_id from suppressed.federal_awards")).toEqual([id(2)]);
  });

  it("lists the stubs of suppressed submissions by report_id, whatever the order of the files", async () => {
    const general = [3, 1, 4, 2].map((number) => submission(number, { is_public: "f" }));
    await publish({ general });
    expect(await list("select report_id from suppressed.general")).toEqual([3, 1, 4, 2].map(id));
    expect(await list("select report_id from disclosed.general_stubs")).toEqual([1, 2, 3, 4].map(id));
  });

  it("keeps the order of narratives of very different lengths", async () => {
    const findings_text = range(3000).map((number) => ({
      report_id: id(1),
      finding_ref_number: String(number),
      finding_text: "x".repeat((number * 7919) % 1900),
    }));
    await publish({ general: [submission(1)], findings_text });
    const numbers = await list("select finding_ref_number from disclosed.findings_text");
    expect(numbers).toEqual(findings_text.map(({ finding_ref_number }) => finding_ref_number));
  });

  it("accepts columns in any order, and takes a submission's columns from general if a file lacks them", async () => {
    const general = [
      submission(1, { is_public: "True", auditee_city: '""' }),
      submission(2, { is_public: "False" }),
    ];
    await publish(
      { general, findings_text: [{ report_id: id(1), finding_text: '"a, ""b""\nc"' }] },
      {
        general: listColumns("general").reverse(),
        findings_text: ["finding_text", "report_id", "finding_ref_number", "contains_chart_or_table"],
      },
    );
    const columns = "auditee_uei, audit_year, fac_accepted_date::text, finding_text";
    expect(await list(`select ${columns} from disclosed.findings_text`)).toEqual([
      'UEI1 2023 2024-01-31 a, "b"\nc',
    ]);
    // Null and the empty string differ, and booleans have more than one spelling.
    const texts = "report_id, auditee_city, auditee_name, cognizant_agency, resubmission_version";
    expect(await select(`select ${texts} from disclosed.general`)).toEqual([
      {
        report_id: id(1),
        auditee_city: "",
        auditee_name: null,
        cognizant_agency: "",
        resubmission_version: "0",
      },
    ]);
  });

  it("computes is_multiple_eins and is_secondary_auditors from the child tables", async () => {
    await publish({
      general: [submission(1), submission(2)],
      additional_eins: [{ report_id: id(1), additional_ein: "123456789" }],
      secondary_auditors: [{ report_id: id(2) }],
    });
    const flags = await list("select is_multiple_eins, is_secondary_auditors from disclosed.general");
    expect(flags).toEqual(["Yes No", "No Yes"]);
  });

  it("leaves superseded submissions out of every table except resubmission", async () => {
    await publish({
      general: [
        submission(1, { resubmission_status: superseded, fac_accepted_date: "2023-01-01" }),
        submission(2, { fac_accepted_date: "2023-06-01" }),
        submission(3, { resubmission_status: "most_recent", fac_accepted_date: "2024-01-01" }),
      ],
      federal_awards: [1, 2, 3].map((number) => ({ report_id: id(number) })),
      resubmission: rowsOf(
        "version status previous_report_id next_report_id",
        `3 3 most_recent 2 -
         2 2 ${superseded} 1 3
         1 1 ${superseded} - 2`,
      ),
    });
    expect(await list("select report_id from disclosed.general")).toEqual([id(3)]);
    expect(await list("select report_id from disclosed.federal_awards")).toEqual([id(3)]);
    const dates = "select report_id, original_submission_date::text from disclosed.resubmission";
    expect(await list(dates)).toEqual([3, 2, 1].map((number) => `${id(number)} 2023-01-01`));
  });

  it("loads a circular chain without looping forever", async () => {
    const general = [submission(1), submission(2)];
    await publish({ general, resubmission: rowsOf("previous_report_id", "1 2\n2 1") });
    const served = await list("select report_id, previous_report_id from disclosed.resubmission");
    expect(served).toEqual([`${id(1)} ${id(2)}`, `${id(2)} ${id(1)}`]);
  });
});

describe("constraints", () => {
  const keyed = ["general", "federal_awards", "findings", "resubmission"];
  beforeAll(async () => {
    const general = [submission(1), submission(2, { is_public: "f" })];
    // Null counts as a value in a key.
    const rows = [{ report_id: id(1) }, { report_id: id(2) }];
    await publish({ general, federal_awards: rows, findings: rows, resubmission: rows });
  });

  it.each([
    ...keyed.flatMap((table) => [`disclosed.${table}`, `suppressed.${table}`]),
    "disclosed.general_stubs",
  ])("refuse a second row with the key of another: %s", async (table) => {
    await expect(select(`insert into ${table} table ${table} limit 1`)).rejects.toThrow(
      /^duplicate key value violates unique constraint/,
    );
  });

  it("keep public and suppressed rows apart", async () => {
    const insert = (table: string, isPublic: boolean) =>
      select(`insert into ${table} (report_id, auditee_uei, is_public) values ('x', 'UEI', ${isPublic})`);
    await expect(select("update disclosed.general set is_public = null")).rejects.toThrow('"is_public"');
    await expect(insert("disclosed.general", false)).rejects.toThrow('"general_is_public"');
    await expect(insert("suppressed.general", true)).rejects.toThrow('"general_is_suppressed"');
    await expect(
      select("insert into disclosed.general_stubs (report_id, is_public) values ('x', true)"),
    ).rejects.toThrow('"general_stubs_is_suppressed"');
  });

  it("are the keys that the API's description names", async () => {
    // Neither index is a key: other rows have other values than these, or null.
    await select(
      `begin;
       create unique index on disclosed.additional_eins (report_id) where report_id = 'x';
       create unique index on disclosed.passthrough (passthrough_id);
       set local role report_service`,
    );
    const [described] = await select("select publication.describe_api() -> 0 -> 'tables' as tables").finally(
      () => select("rollback"),
    );
    const keys = described.tables.map(({ name, key }: { name: string; key: string[] }) => [name, key]);
    const numbered = tables.filter((table) => columnNames(table).includes("row_number"));
    expect(Object.fromEntries(keys)).toEqual({
      general: ["report_id"],
      federal_awards: ["report_id", "award_reference"],
      findings: ["report_id", "award_reference", "reference_number"],
      resubmission: ["report_id"],
      totals_by_state: ["audit_year", "auditee_state"],
      totals_by_agency: ["audit_year", "federal_agency_prefix"],
      totals_by_program: ["aln", "audit_year"],
      totals_by_program_and_state: ["aln", "audit_year", "auditee_state"],
      totals_by_peers: ["audit_year", "entity_type", "expended_from", "findings"],
      finding_summaries: ["report_id", "reference_number"],
      ...Object.fromEntries(numbered.map((table) => [table, ["row_number"]])),
    });
  });
});

/** Submissions, oldest first. Each replaces the one before it. */
type Chain = { number: number; isPublic: boolean }[];

/** Returns a chain's rows of the source file general, and its links in the source file resubmission. */
function describeChain(chain: Chain) {
  const status = (index: number) => (index < chain.length - 1 ? superseded : "most_recent");
  const isVersioned = chain.length > 1;
  const rows: Row[] = chain.map(({ number, isPublic }, index) => ({
    ...submission(number, { fac_accepted_date: `2024-0${number % 10}-01`, is_public: isPublic ? "t" : "f" }),
    ...(isVersioned && { resubmission_version: String(index + 1), resubmission_status: status(index) }),
  }));
  const links = rows.map(({ report_id = "" }, index) => ({
    report_id,
    version: String(index + 1),
    status: status(index),
    previous_report_id: rows[index - 1]?.report_id ?? "",
    next_report_id: rows[index + 1]?.report_id ?? "",
  }));
  return { rows, links: isVersioned ? links : [] };
}

async function publishChains(chains: Chain[]): Promise<void> {
  const all = chains.map(describeChain);
  const general = all.flatMap(({ rows }) => rows);
  await publish({
    general,
    federal_awards: general.map(({ report_id = "" }) => ({ report_id, award_reference: "AWARD-0001" })),
    resubmission: all.flatMap(({ links }) => links),
  });
}

async function readAsPublic() {
  await select("begin; set local role api_public");
  const seen = {
    general: await select("select * from api_v1_1_0.general where is_public"),
    awards: await select("select * from api_v1_1_0.federal_awards"),
    resubmission: await select("select * from api_v1_1_0.resubmission"),
  };
  await select("commit");
  return seen;
}

describe("a chain of public and suppressed submissions", () => {
  // Oldest first: P is a public submission, s a suppressed one.
  const chains = ["Ps", "sP", "PsP", "PPs", "sPP", "sPs", "PssP", "PsPs", "sPPsP"].map(
    (members, index): [string, Chain] => [
      members,
      [...members].map((member, at) => ({ number: 10 * index + at + 1, isPublic: member === "P" })),
    ],
  );
  const takePublic = (chain: Chain) => chain.filter(({ isPublic }) => isPublic);

  /** What the public reads if only the public submissions are published, and if the whole chains are. */
  let alone: Awaited<ReturnType<typeof readAsPublic>>;
  let whole: typeof alone;
  let suppressed: Row[];
  let stubs: Row[];
  beforeAll(async () => {
    const all = chains.map(([, chain]) => chain);
    await publishChains(all.map(takePublic));
    alone = await readAsPublic();
    await publishChains(all);
    whole = await readAsPublic();
    suppressed = await select(
      `select report_id, version, status, coalesce(previous_report_id, '') as previous_report_id,
         coalesce(next_report_id, '') as next_report_id from suppressed.resubmission`,
    );
    stubs = await select("select report_id from disclosed.general_stubs");
  });

  it.each(chains)("%s looks to the public as if it had only its public submissions", (members, chain) => {
    const ids = chain.map(({ number }) => id(number));
    const pick = (rows: Row[]) => rows.filter(({ report_id = "" }) => ids.includes(report_id));
    const pickAll = (read: typeof alone) => Object.values(read).map((rows) => pick(rows));

    const count = takePublic(chain).length;
    expect(pick(alone.general)).toHaveLength(1);
    expect(pick(alone.resubmission)).toHaveLength(count === 1 ? 0 : count);
    expect(pickAll(whole)).toEqual(pickAll(alone));
    // Keys that may read suppressed submissions see the links as the source files give them.
    const kept = describeChain(chain).links.filter((_, index) => members[index] === "s");
    expect(pick(suppressed)).toEqual(kept);
    expect(pick(stubs)).toEqual(members.endsWith("s") ? [{ report_id: ids.at(-1) }] : []);
  });

  it("leaves a report alone as most reports without links are that were accepted on the nearest day", async () => {
    const lone = (number: number, day: string, version: string, status: string) =>
      submission(number, {
        fac_accepted_date: day,
        resubmission_version: version,
        resubmission_status: status,
      });
    const [unknown, original] = ["unknown_resubmission_status", "original_submission"];
    const general = [
      ...[1, 2, 3].map((number) => lone(number, "2023-05-01", "0", unknown)),
      lone(4, "2023-05-01", "1", original),
      ...[5, 6].map((number) => lone(number, "2025-05-01", "1", original)),
      lone(7, "2025-05-02", "", ""),
      // Each is replaced by a suppressed report.
      lone(11, "2023-05-01", "1", superseded),
      lone(12, "2025-04-30", "1", superseded),
      lone(13, "2025-05-03", "1", superseded),
      ...[21, 22, 23].map((number) => submission(number, { is_public: "f", resubmission_version: "2" })),
    ];
    const row = (number: number, version: string, status: string, next = "", previous = "") => ({
      report_id: id(number),
      version,
      status,
      next_report_id: next,
      previous_report_id: previous,
    });
    await publish({
      general,
      resubmission: [
        ...[1, 2, 3].map((number) => row(number, "0", unknown)),
        ...[4, 5, 6].map((number) => row(number, "1", original)),
        ...[11, 12, 13].map((number) => row(number, "1", superseded, id(number + 10))),
        ...[21, 22, 23].map((number) => row(number, "2", "most_recent", "", id(number - 10))),
      ],
    });
    const { general: shown, resubmission } = await readAsPublic();
    const find = (rows: Row[], number: number) => rows.find(({ report_id: each }) => each === id(number));
    for (const [left, like] of [
      [11, 1],
      [12, 5],
      [13, 7],
    ] as const) {
      const { resubmission_version, resubmission_status } = find(shown, like) ?? {};
      expect(find(shown, left)).toMatchObject({ resubmission_version, resubmission_status });
      const { version, status, previous_report_id, next_report_id } = find(resubmission, like) ?? {};
      const expected = { version, status, previous_report_id, next_report_id };
      const leftRow = find(resubmission, left);
      expect(leftRow && { ...leftRow, ...expected }).toEqual(leftRow);
      expect(leftRow?.original_submission_date).toEqual(leftRow && find(shown, left)?.fac_accepted_date);
      expect(leftRow === undefined).toBe(find(resubmission, like) === undefined);
    }
  });

  it("is recognized even if only one of two submissions names the link", async () => {
    await publish({
      general: [
        submission(1, { resubmission_version: "1", resubmission_status: superseded }),
        submission(2, { is_public: "f" }),
      ],
      resubmission: rowsOf(
        "version status previous_report_id",
        `1 1 ${superseded} -
         2 2 most_recent 1`,
      ),
    });
    expect(await readAsPublic()).toMatchObject({
      general: [{ report_id: id(1), resubmission_version: "0", resubmission_status: null }],
      resubmission: [],
    });
  });
});
