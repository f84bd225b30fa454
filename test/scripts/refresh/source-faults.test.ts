import { appendFileSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import { beforeEach, describe, expect, it } from "vitest";
import { explainFailure } from "../../../scripts/refresh/explain-failure.ts";
import { type RefreshOptions, refreshDataSet } from "../../../scripts/refresh/refresh-data-set.ts";
import { tables as sourceTables } from "../../support/columns.ts";
import { useRefresh } from "./support/refresh.ts";
import {
  id,
  listColumns,
  type Row,
  range,
  submission,
  submissions,
  writeCsv,
} from "./support/source-files.ts";

const here = useRefresh();
const { list, write } = here;
const file = (name: string) => path.join(here.directory, name);
const refresh = (more: Partial<RefreshOptions> = {}) => {
  const options = { from: here.directory, acceptShrink: true, force: true, ...more };
  return here.asPublisher(() => refreshDataSet(here.database.client, options));
};
const general = (...rows: Row[]) => write("general", rows);

beforeEach(async () => {
  for (const name of await readdir(here.directory)) await rm(file(name), { recursive: true });
  await list("delete from publication.suppressed_reports");
});

/** Runs a refresh that must publish nothing and leave nothing behind. Returns its error message. */
async function expectRefusal(options: Partial<RefreshOptions> = {}): Promise<string> {
  const before = await here.liveId();
  const message = await refresh(options).then(() => "It was published.", explainFailure);
  expect(await here.liveId()).toEqual(before);
  expect(await list("select nspname from pg_namespace where nspname ~ '_next$|^staging$'")).toEqual([]);
  return message;
}

describe("faults in source files", () => {
  it("are all reported at once, each with its file, line and column", async () => {
    await general(
      submission(1, { auditee_name: '"two\nlines"', total_amount_expended: "1.5" }),
      submission(2, { fac_accepted_date: "01/02/2023" }),
      submission(3),
      submission(3),
      submission(4, { report_id: "2023-06-GSAFAC-1" }),
      submission(5, { report_id: "" }),
      submission(6, { is_public: "perhaps" }),
    );
    const rows = [
      { report_id: id(3) },
      { report_id: id(3), audit_year: "2021", award_reference: "A" },
      { report_id: id(99) },
    ];
    await write("federal_awards", rows);
    await writeFile(file("additional_eins.csv"), `report_id,additional_ein\n${id(3)},1,2\n`);
    // Table, line, column, problem, and the first occurrence of a duplicate.
    const faults = `
      general|2|total_amount_expended|is not a whole number of at most 18 digits
      general|4|fac_accepted_date|is not a date of the form 2023-01-31, from 1900 to 2099
      general|6|report_id|is a duplicate|: first at ${file("general.csv")}:5
      general|7|report_id|is not a valid report ID (example: 2023-06-GSAFAC-0000000001)
      general|8|report_id|is missing
      general|9|is_public|is not a boolean such as t, false, Yes or 0
      federal_awards|3|audit_year|differs from its report in general
      federal_awards|4|report_id|is not a report in general
      additional_eins|2||has 3 values where the header has 2`;
    const listed: string[] = [];
    const counted: string[] = [];
    for (const fault of faults.trim().split(/\n\s+/)) {
      const [table, line, column, problem, other = ""] = fault.split("|");
      const where = column ? `column ${column}` : "the row";
      listed.push(`  ${file(`${table}.csv`)}:${line}: ${where} ${problem}${other}`);
      counted.push(`1 row: ${table}${column && `, column ${column}`}: ${problem}`);
    }
    const [first, ...lines] = (await expectRefusal()).split("\n");
    expect(first).toBe("9 rows cannot be published. Nothing has changed.");
    expect(lines.slice(0, listed.length)).toEqual(listed);
    expect(lines.slice(listed.length, -2).sort()).toEqual(counted.sort());
    expect(lines.slice(-2)).toEqual([
      "To publish the rest and write these rows to a file, add --tolerate 9.",
      expect.stringMatching(/is_public .* suppressed/),
    ]);
  });

  it("are values that differ from those of the report in general", async () => {
    await general(submission(1), submission(2, { auditee_uei: "" }));
    await write("additional_ueis", [
      { report_id: id(1), auditee_uei: "UEI1", audit_year: "2023", fac_accepted_date: "2024-01-31" },
      { report_id: id(1), auditee_uei: "UEI2" },
      { report_id: id(1), audit_year: "2022" },
      { report_id: id(1), fac_accepted_date: "2024-02-01" },
    ]);
    const message = await expectRefusal();
    expect(message).toContain(`${file("general.csv")}:3: column auditee_uei is missing\n`);
    for (const [index, column] of ["auditee_uei", "audit_year", "fac_accepted_date"].entries())
      expect(message).toContain(
        `${file("additional_ueis.csv")}:${index + 3}: column ${column} differs from its report in general\n`,
      );
  });

  it("are listed up to 20, and counted beyond that", async () => {
    await general(...range(30).map((number) => submission(number, { total_amount_expended: "many" })));
    const message = await expectRefusal();
    expect(message).toMatch(/^30 rows cannot be published\..*\n {2}… and 10 more\.\n/s);
    expect(message.match(/^ {2}\S+general\.csv:\d+: /gm)).toHaveLength(20);
  });

  it("have correct line numbers in gzipped files with line breaks in values", async () => {
    await general(submission(1));
    const rows = range(2000).map((number) => `${id(1)},"${number}\n,\n"`);
    rows.splice(500, 0, "broken");
    rows.splice(1500, 0, `${id(77)},x`);
    const text = `report_id,additional_uei\r\n${rows.join("\r\n")}\r\n`;
    await writeFile(file("additional_ueis.csv.gz"), gzipSync(text));
    const message = await expectRefusal();
    expect(message).toContain(`${file("additional_ueis.csv.gz")}:1502: the row has 1 value`);
    expect(message).toContain(`${file("additional_ueis.csv.gz")}:4500: column report_id is not a report`);
  });

  it("are written to a file if they are tolerated, and other rows of their reports are left out", async () => {
    const broken = submission(2, { total_amount_expended: "?", auditee_name: '"a\nb"' });
    await general(submission(1), broken, submission(3, { is_public: "f" }), submission(1));
    const awards = [1, 2, 2, 9].map((number, index) => ({
      report_id: id(number),
      award_reference: String(index),
    }));
    await write("federal_awards", awards);
    const rejects = file("rejects.csv");
    const refused = /^3 rows cannot be published; at most 2 may be/;
    await expect(refresh({ tolerate: 2, rejects })).rejects.toThrow(refused);
    expect(await refresh({ tolerate: 3, rejects })).toMatchObject({ outcome: "published" });
    expect(await list("select report_id, auditee_name from disclosed.general")).toEqual([id(1), null]);
    expect(await list("select report_id from suppressed.general")).toEqual([id(3)]);
    expect(await list("select report_id from disclosed.federal_awards")).toEqual([id(1)]);
    const rows: Record<string, string>[] = parse(await readFile(rejects, "utf8"), { columns: true });
    expect(rows.map(({ file: name, line, column }) => `${name} ${line} ${column}`)).toEqual([
      `${file("general.csv")} 3 total_amount_expended`,
      `${file("general.csv")} 6 report_id`,
      `${file("federal_awards.csv")} 5 report_id`,
    ]);
    expect(rows[0]?.record).toMatch(new RegExp(`^${id(2)},UEI2,2023.*"a\nb"`, "s"));
    const history = "select rejected_rows::integer from publication.data_sets where state = 'live'";
    expect(await list(history)).toEqual([5]);
  });
});

describe("a file that cannot be loaded", () => {
  const header = "report_id,additional_uei\n";
  const first = `${header}${id(1)},A\n`;
  const long = range(5000).map((number) => `${id(1)},${Math.sin(number)}\n`);
  const truncated = gzipSync(header + long.join("")).subarray(0, -4000);
  const notShown = "which are not shown, because the first line may be a row";
  const cannot = "the rest of the file cannot be read";
  it.each<[string, string | Buffer, string]>([
    ["an empty file", "", ":1: the file is empty"],
    [
      "an HTML page",
      "<html>\n",
      `:1: unknown columns at 1, ${notShown}; missing columns report_id, additional_uei.`,
    ],
    ["a column twice", "report_id,additional_uei,report_id\n", ":1: repeated columns report_id"],
    ["quotes in a header", 'report_id,a"b"\n', `:1: unknown columns at 2, ${notShown}; missing`],
    ["bare carriage returns", header.replace("\n", "\rx,y\r"), `:1: unknown columns at 2, 3, ${notShown}`],
    ["two files joined", first + header, ":3: column report_id is not a valid report ID"],
    [
      "two files joined that begin with a byte order mark",
      `\ufeff${first}\ufeff${header}`,
      ":3: column report_id is not a valid report ID",
    ],
    ["truncated gzip data", truncated, `: ${cannot}: the gzipped data ends too early`],
  ])("is reported: %s", async (_what, content, message) => {
    await general(submission(1));
    const target = file(typeof content === "string" ? "additional_ueis.csv" : "additional_ueis.csv.gz");
    await writeFile(target, content);
    // The line at which the data ends depends on the compression.
    expect((await expectRefusal()).replace(/:\d{4}: the rest/, ": the rest")).toContain(target + message);
  });

  it("is reported: general without the columns that other tables derive from it", async () => {
    await writeFile(file("general.csv"), `report_id\n${id(1)}\n`);
    expect(await expectRefusal()).toMatch(/missing columns auditee_uei, audit_year, .* fac_accepted_date,/);
  });

  it("is reported: a directory instead of the file or the manifest, a file instead of a directory", async () => {
    await general(submission(1));
    const wrong = file("general.csv");
    await expect(refresh({ from: wrong })).rejects.toThrow(`${wrong} cannot be read: ENOTDIR.`);
    await mkdir(file("findings.csv"));
    expect(await expectRefusal()).toContain(`${file("findings.csv")} is not a file.`);
    await rm(file("general.csv"));
    await rm(file("findings.csv"), { recursive: true });
    expect(await expectRefusal()).toContain(`${here.directory} has neither general.csv nor`);
  });

  it("is reported: a file that grows while it is read", async () => {
    const { length } = await general(submission(1));
    const report = (line: string) => {
      if (line.startsWith("general.csv: ")) appendFileSync(file("general.csv"), "more");
    };
    expect(await expectRefusal({ report })).toContain(
      `${file("general.csv")} changed while it was read: it had ${length} bytes and has ${length + 4} now.`,
    );
  });
});

describe("rows with the same key", () => {
  type Make = (report_id: string, more?: Row) => Row;
  const award: Make = (report_id, more) => ({ report_id, award_reference: "A", ...more });
  const finding: Make = (report_id, more) => award(report_id, { reference_number: "2023-001", ...more });
  const without =
    (make: Make, column: string): Make =>
    (report_id, more) =>
      make(report_id, { [column]: "", ...more });
  const keyOfFinding = "columns report_id, award_reference, reference_number";
  /** How to make a row of a table, another column of it, and how a fault names the row's key. */
  const cases: [table: string, make: Make, column: string, key: string][] = [
    [
      "general",
      (report_id, more) => submission(1, { report_id, ...more }),
      "auditee_name",
      "column report_id",
    ],
    ["federal_awards", award, "amount_expended", "columns report_id, award_reference"],
    [
      "federal_awards",
      without(award, "award_reference"),
      "amount_expended",
      "columns report_id, award_reference",
    ],
    ["findings", finding, "is_repeat_finding", keyOfFinding],
    ["findings", without(finding, "award_reference"), "is_repeat_finding", keyOfFinding],
    ["findings", without(finding, "reference_number"), "is_repeat_finding", keyOfFinding],
    ["resubmission", (report_id, more) => ({ report_id, ...more }), "version", "column report_id"],
  ];
  const tables = [...new Set(cases.map(([table]) => table))];
  const idOf = (index: number) => id(index + 1);
  const all = cases.map((_, index) => idOf(index));

  /** The rows of one file: each case has a report, and these values in its other column. */
  const rowsOf = (table: string, values: string[]) =>
    cases.flatMap(([name, make, column], index) => {
      if (name === table) return values.map((value) => make(idOf(index), { [column]: value }));
      return table === "general" ? [submission(1, { report_id: idOf(index) })] : [];
    });

  async function writeCases(first: string[], second: string[] = []) {
    await write(
      "notes_to_sefa",
      [...all, id(99)].map((report_id) => ({ report_id })),
    );
    for (const table of tables) {
      const rows = rowsOf(table, first);
      if (table === "general") rows.push(submission(99));
      await writeCsv(here.directory, table, rows, { name: `2022-${table}.csv` });
      const later = rowsOf(table, second);
      if (second.length > 0) await writeCsv(here.directory, table, later, { name: `2023-${table}.csv` });
    }
  }

  /** The line of each case's first row in the first file, whose cases have this many rows. */
  const lineOf = (index: number, values: string[]) => {
    const rows = rowsOf(cases[index]?.[0] ?? "", values);
    return rows.findIndex(({ report_id }) => report_id === idOf(index)) + 2;
  };
  const published = async () => [
    await list("select report_id from dissemination.general order by 1"),
    await list("select report_id from dissemination.notes_to_sefa order by 1"),
  ];

  it.each([
    ["copies, of which the first stays if that is tolerated", ["1", "1"], "is a duplicate", [...all, id(99)]],
    [
      "rows that differ, whose reports are left out if that is tolerated",
      ["1", "2"],
      "is a duplicate with other values",
      [id(99)],
    ],
  ])("are refused: %s", async (_what, values, problem, stay) => {
    await writeCases(values);
    const message = await expectRefusal();
    for (const [index, [table, , , key]] of cases.entries()) {
      const place = (line: number) => file(`2022-${table}.csv:${line}`);
      const line = lineOf(index, values);
      expect(message).toContain(`\n  ${place(line + 1)}: ${key} ${problem}: first at ${place(line)}\n`);
    }
    expect(message).toContain(`${cases.length} rows cannot be published.`);
    expect(await refresh({ tolerate: cases.length })).toMatchObject({ outcome: "published" });
    expect(await published()).toEqual([stay, stay]);
    const kept = stay.length - 1;
    expect(await list("select count(*)::integer from dissemination.findings")).toEqual([kept && 3]);
    expect(await list("select count(*)::integer from dissemination.federal_awards")).toEqual([kept && 2]);
  });

  it("are refused if two files differ, and accepted if the second file repeats the report", async () => {
    await writeCases(["1"], ["2"]);
    const message = await expectRefusal();
    for (const [index, [table]] of cases.entries()) {
      const first = file(`2022-${table}.csv:${lineOf(index, ["1"])}`);
      expect(message).toContain(`: column report_id has other content in another file: first at ${first}\n`);
    }
    await refresh({ tolerate: 20 });
    expect(await published()).toEqual([[id(99)], [id(99)]]);
    // Only the copies within the first file are faults.
    await writeCases(["1", "1"], ["1"]);
    await refresh({ tolerate: cases.length });
    expect(await published()).toEqual([
      [...all, id(99)],
      [...all, id(99)],
    ]);
  });

  it("are kept in tables without a key", async () => {
    await general(submission(1));
    const keyless = sourceTables.filter((table) => !tables.includes(table));
    for (const table of keyless) await write(table, [{ report_id: id(1) }, { report_id: id(1) }]);
    await refresh();
    for (const table of keyless)
      expect(await list(`select count(*)::integer from disclosed.${table}`), table).toEqual([2]);
  });
});

describe("several files of a table", () => {
  /** Writes a year's files. `1A 2B5` in `awards` means award A of report 1, and award B of report 2 with amount 5. */
  async function writeYear(year: number, reports: Row[], awards = "", isReversed = false): Promise<void> {
    const columns = isReversed ? listColumns("general").reverse() : listColumns("general");
    await writeCsv(here.directory, "general", reports, { name: `${year}-general.csv`, columns });
    const rows = awards
      .split(" ")
      .filter(Boolean)
      .map(([number, award_reference = "", amount = ""]) => {
        return { report_id: id(Number(number)), award_reference, amount_expended: amount };
      });
    await writeCsv(here.directory, "federal_awards", rows, { name: `${year}-federal_awards.csv` });
  }
  const publicAwards = () =>
    list("select right(report_id, 1) || award_reference from disclosed.federal_awards");

  it("are read in the order of their names, and rows that a later file repeats are left out", async () => {
    const [quoted, lines] = [{ auditee_name: '"Ñ ""x""\n,"' }, [] as string[]];
    const older = [submission(1), submission(2, quoted), submission(9, { is_public: "f" })];
    await writeYear(2022, older, "1A 2B 2A 9A");
    const [hidden, same] = [{ is_public: "False" }, { ...quoted, is_public: "True" }];
    const newer = [submission(9, hidden), submission(2, same), submission(3)];
    await writeYear(2023, newer, "9A 2A 2B 3A", true);
    // Equal rows within one file are all kept.
    const note = { report_id: id(2), title: "note" };
    for (const [year, more] of Object.entries({ 2022: [], 2023: [], 2024: [{ ...note, report_id: id(3) }] }))
      await writeCsv(here.directory, "notes_to_sefa", [note, note, ...more], {
        name: `${year}-notes_to_sefa.csv`,
      });
    await refresh({ report: (line) => void lines.push(line) });
    for (const [table, rows] of Object.entries({ federal_awards: 3, general: 2, notes_to_sefa: 4 }))
      expect(lines).toContain(`${table}: left out ${rows} rows that an earlier file also contains`);
    const names = await list("select concat(right(report_id, 1), auditee_name) from disclosed.general");
    expect(names).toEqual(["1", '2Ñ "x"\n,', "3"]);
    expect(await list("select report_id from suppressed.general")).toEqual([id(9)]);
    expect(await publicAwards()).toEqual(["1A", "2B", "2A", "3A"]);
    expect(await list("select award_reference from suppressed.federal_awards")).toEqual(["A"]);
    expect(await list("select report_id from disclosed.notes_to_sefa")).toEqual([id(2), id(2), id(3)]);
  });

  it("are refused if they contradict each other, and the message names both lines", async () => {
    await writeYear(2022, submissions(1, 2, 3, 4, 4), "1A 1C 2A1 3A");
    const other = submission(2, { auditee_city: '""' });
    await writeYear(2023, [submission(1), other, ...submissions(3, 4)], "1A 2A2 3A 3B");
    const differs = (name: string, line: number, firstLine: number) =>
      `  ${file(`2023-${name}`)}:${line}: column report_id ` +
      `has other content in another file: first at ${file(`2022-${name}`)}:${firstLine}\n`;
    const general = file("2022-general.csv");
    const message = await expectRefusal();
    expect(message).toContain(
      [
        "6 rows cannot be published. Nothing has changed.\n",
        `  ${general}:6: column report_id is a duplicate: first at ${general}:5\n`,
        differs("general.csv", 3, 3),
        differs("federal_awards.csv", 2, 2),
        differs("federal_awards.csv", 3, 4),
        differs("federal_awards.csv", 4, 5),
        differs("federal_awards.csv", 5, 5),
      ].join(""),
    );
    expect(message).toContain("4 rows: federal_awards, column report_id: has other content in another file");
  });

  it("lose a report that they contradict each other about, if that is tolerated", async () => {
    await writeYear(2022, submissions(1, 2, 3, 4), "1A 2A 3A 4A");
    const newer = [submission(1, { auditee_city: "x" }), submission(2, { is_public: "f" }), submission(3)];
    await writeYear(2023, newer, "1A 2A 3B");
    await refresh({ tolerate: 3 });
    expect(await list("select report_id from disclosed.general")).toEqual([id(4)]);
    expect(await publicAwards()).toEqual(["4A"]);
    expect(await list("select report_id from suppressed.general")).toEqual([]);
    // A row marked it as suppressed, so no later file makes it public.
    expect(await list("select report_id from publication.suppressed_reports")).toEqual([id(2)]);
    await here.select("delete from publication.suppressed_reports");
  });

  it("remember a report as suppressed if any of its rows does not mark it as public, even one with a fault", async () => {
    await writeYear(2022, [
      submission(1, { fy_end_date: "soon", is_public: "No" }),
      submission(2, { is_public: "perhaps" }),
      submission(3, { total_amount_expended: "?", is_public: '"TRUE"' }),
      submission(4, { auditee_name: "A,B" }),
    ]);
    await writeYear(2023, submissions(1, 2, 3, 4, 5));
    await refresh({ tolerate: 4 });
    expect(await list("select report_id from disclosed.general")).toEqual([id(5)]);
    const remembered = "select report_id from publication.suppressed_reports order by 1";
    expect(await list(remembered)).toEqual([id(1), id(2), id(4)]);
    await rm(file("2022-general.csv"));
    await refresh();
    expect(await list("select report_id from disclosed.general")).toEqual([id(3), id(5)]);
    await here.select("delete from publication.suppressed_reports");
  });

  it("lose a report completely if its row in one file is left out", async () => {
    await writeYear(2022, [submission(1, { fy_end_date: "soon" }), submission(2)]);
    await writeYear(2023, submissions(1, 3), "1A 3A");
    const lines: string[] = [];
    await refresh({ tolerate: 1, report: (line) => void lines.push(line) });
    expect(lines).toContain("Left out 1 row, and 2 other rows of the same reports.");
    expect(await list("select report_id from disclosed.general")).toEqual([id(2), id(3)]);
    expect(await publicAwards()).toEqual(["3A"]);
  });
});
