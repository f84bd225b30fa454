import { appendFileSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type RefreshOptions, refreshDataSet } from "../../../scripts/refresh/refresh-data-set.ts";
import { columnNames } from "../../support/columns.ts";
import { useDeployedDatabase } from "../../support/scratch-database.ts";
import { id, makeDirectory, range, submission, writeCsv } from "./support/source-files.ts";

const database = useDeployedDatabase();
let directory: string;
let removeDirectory: () => Promise<void>;

beforeAll(async () => {
  await database.client.query("set role publisher");
});
beforeEach(async () => {
  ({ directory, remove: removeDirectory } = await makeDirectory());
});
afterEach(async () => {
  await removeDirectory();
  await database.client.query("reset role; truncate publication.suppressed_reports; set role publisher");
});

const refresh = (options: Partial<RefreshOptions> = {}) =>
  refreshDataSet(database.client, { from: directory, acceptShrink: true, force: true, ...options });
const select = async (sql: string) => (await database.client.query(sql)).rows;
const messageOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "no error",
    (error: Error) => error.message,
  );
const file = (name: string) => path.join(directory, name);

describe("faults in source files", () => {
  it("are all told at once, each with its file, line, column and value", async () => {
    await writeCsv(directory, "general", [
      submission(1, { auditee_name: '"two\nlines"', total_amount_expended: "1.5" }),
      submission(2, { fac_accepted_date: "01/02/2023" }),
      submission(3),
      submission(3),
      submission(4, { report_id: "2023-06-GSAFAC-1" }),
      submission(5, { report_id: "" }),
      submission(6, { resubmission_status: "x".repeat(31) }),
    ]);
    await writeCsv(directory, "findings", [{ report_id: id(99) }, { report_id: id(3) }]);
    await writeFile(file("additional_eins.csv"), `report_id,additional_ein\n${id(3)},1,2\n\n`);
    const message = await messageOf(refresh());
    const at = (name: string) => `${file(name)}`;
    expect(message.split("\n")).toEqual([
      "9 rows cannot be published. Nothing has changed.",
      `  ${at("general.csv")}:2: column total_amount_expended, value "1.5" is not a whole number`,
      `  ${at("general.csv")}:4: column fac_accepted_date, value "01/02/2023" is not a date of the form 2023-01-31, from 1900 to 2099`,
      `  ${at("general.csv")}:6: column report_id, value "${id(3)}" stands there twice: first at ${at("general.csv")}:5`,
      `  ${at("general.csv")}:7: column report_id, value "2023-06-GSAFAC-1" has not the form 2023-06-GSAFAC-0000000001`,
      `  ${at("general.csv")}:8: column report_id is missing`,
      `  ${at("general.csv")}:9: column resubmission_status, value "${"x".repeat(31)}" is not of the column's type`,
      `  ${at("findings.csv")}:2: column report_id, value "${id(99)}" is of no report in general`,
      `  ${at("additional_eins.csv")}:2: value "${id(3)},1,2" has 3 values where the header has 2`,
      `  ${at("additional_eins.csv")}:3: value "" has 1 value where the header has 2`,
      "1 row: general, column total_amount_expended: is not a whole number",
      "1 row: general, column fac_accepted_date: is not a date of the form 2023-01-31, from 1900 to 2099",
      "1 row: general, column resubmission_status: is not of the column's type",
      "1 row: additional_eins: has 3 values where the header has 2",
      "1 row: additional_eins: has 1 value where the header has 2",
      "1 row: general, column report_id: stands there twice",
      "1 row: general, column report_id: has not the form 2023-06-GSAFAC-0000000001",
      "1 row: general, column report_id: is missing",
      "1 row: findings, column report_id: is of no report in general",
      "--tolerate 9 would publish the rest, and keep these in a file.",
    ]);
  });

  it("are counted where there are more than twenty", async () => {
    await writeCsv(
      directory,
      "general",
      range(30).map((number) => submission(number, { total_amount_expended: "many" })),
    );
    const message = await messageOf(refresh());
    expect(message).toContain("30 rows cannot be published.");
    expect(message.match(/^ {2}\S+general\.csv:\d+: /gm)).toHaveLength(20);
    expect(message).toContain("… and 10 more.");
    expect(message).toContain(`${file("general.csv")}:21: `);
  });

  it("name the line in files with other rows out of order before it", async () => {
    await writeCsv(directory, "general", [submission(1)]);
    const rows = range(2000).map((number) => `${id(1)},"${number}\n,\n"`);
    rows.splice(500, 0, "broken");
    rows.splice(1500, 0, `${id(77)},x`);
    rows.push('"never closed');
    await writeFile(file("additional_ueis.csv"), `report_id,additional_uei\r\n${rows.join("\r\n")}`);
    const message = await messageOf(refresh());
    expect(message).toContain(`${file("additional_ueis.csv")}:1502: value "broken"`);
    expect(message).toContain(`${file("additional_ueis.csv")}:4500: column report_id, value "${id(77)}"`);
    expect(message).toContain(`${file("additional_ueis.csv")}:6004: `);
    expect(message).toContain("has a quote that is never closed");
  });

  it("of gzipped files are told as of plain ones", async () => {
    const text = await writeCsv(directory, "general", [
      submission(1),
      submission(2, { is_public: "perhaps" }),
    ]);
    await rm(file("general.csv"));
    await writeFile(file("general.csv.gz"), gzipSync(text));
    expect(await messageOf(refresh())).toContain(
      `${file("general.csv.gz")}:3: column is_public, value "perhaps" is not of the column's type`,
    );
  });

  it("include gzipped data that breaks off", async () => {
    const rows = range(5000).map((number) => submission(number, { auditee_name: String(Math.random()) }));
    const text = await writeCsv(directory, "general", rows);
    await rm(file("general.csv"));
    const gzipped = gzipSync(text);
    await writeFile(file("general.csv.gz"), gzipped.subarray(0, gzipped.length - 4000));
    expect(await messageOf(refresh())).toMatch(
      /general\.csv\.gz:\d{4}: the file cannot be read on from here: the gzipped data breaks off/,
    );
    expect(await select("select nspname from pg_namespace where nspname ~ '_next$|^staging$'")).toEqual([]);
  });

  it("include a header that is none, in whichever file", async () => {
    await writeCsv(directory, "general", [submission(1)]);
    await writeFile(file("findings.csv"), "<!DOCTYPE html>\n");
    await writeFile(file("passthrough.csv"), "");
    const message = await messageOf(refresh());
    expect(message).toMatch(/findings\.csv:1: unknown columns "<!DOCTYPE html>"; missing columns report_id/);
    expect(message).toMatch(/passthrough\.csv:1: the file is empty/);
  });
});

describe("rows that are tolerated", () => {
  it("go to a file, with the other rows of their reports left out", async () => {
    await writeCsv(directory, "general", [
      submission(1),
      submission(2, { total_amount_expended: "?", auditee_name: '"a\nb"' }),
      submission(3, { is_public: "f" }),
      submission(1, { auditee_name: "again" }),
    ]);
    await writeCsv(directory, "federal_awards", [
      { report_id: id(1), award_reference: "AWARD-0001" },
      { report_id: id(2), award_reference: "AWARD-0001" },
      { report_id: id(2), award_reference: "AWARD-0002" },
      { report_id: id(9), award_reference: "AWARD-0001" },
    ]);
    const rejects = file("rejects.csv");
    expect(await messageOf(refresh({ tolerate: 2, rejects }))).toMatch(
      /^3 rows cannot be published, and 2 are/,
    );
    expect(await refresh({ tolerate: 3, rejects })).toMatchObject({ outcome: "published" });
    expect(await select("select report_id, auditee_name from disclosed.general")).toEqual([
      { report_id: id(1), auditee_name: null },
    ]);
    expect(await select("select report_id from suppressed.general")).toEqual([{ report_id: id(3) }]);
    expect(await select("select report_id from disclosed.federal_awards")).toEqual([{ report_id: id(1) }]);
    const rows = parse(await readFile(rejects, "utf8"), { columns: true }) as Record<string, string>[];
    expect(rows.map(({ file: name, line, column }) => [name, line, column])).toEqual([
      [file("general.csv"), "3", "total_amount_expended"],
      [file("general.csv"), "6", "report_id"],
      [file("federal_awards.csv"), "5", "report_id"],
    ]);
    expect(rows[0]?.record).toContain(`${id(2)},UEI2,2023`);
    expect(rows[0]?.record).toContain('"a\nb"');
    const history = "select rejected_rows::integer from publication.data_sets where state = 'live'";
    expect(await select(history)).toEqual([{ rejected_rows: 5 }]);
  });
});

describe("a data set that does not look like the next one", () => {
  beforeEach(async () => {
    const rows = range(200).map((number) => submission(number, { is_public: number > 4 ? "t" : "f" }));
    await writeCsv(directory, "general", rows);
    await writeCsv(
      directory,
      "passthrough",
      range(200).map((number) => ({ report_id: id(number) })),
    );
    await refresh();
  });

  it("is refused when a table loses more than 5 % of its rows, unless that is accepted", async () => {
    await writeCsv(
      directory,
      "passthrough",
      range(189).map((number) => ({ report_id: id(number) })),
    );
    expect(await messageOf(refresh({ acceptShrink: false }))).toBe(
      [
        "This does not look like the next data set. Nothing has changed.",
        "  passthrough would fall from 200 to 189 rows (5.5 % less; 5 % at most).",
        "If the files are right, publish them with --accept-shrink.",
      ].join("\n"),
    );
    expect(await select("select count(*)::integer from dissemination.passthrough")).toEqual([{ count: 200 }]);
    expect(await refresh()).toMatchObject({ outcome: "published" });
  });

  it("is let through when a table loses 5 %", async () => {
    await writeCsv(
      directory,
      "passthrough",
      range(190).map((number) => ({ report_id: id(number) })),
    );
    expect(await refresh({ acceptShrink: false })).toMatchObject({ outcome: "published" });
  });

  it.each([
    ["rises", 200, 7, /from 2\.0 % to 3\.5 %/],
    ["falls", 800, 4, /from 2\.0 % to 0\.5 %/],
  ])(
    "is refused when the share of suppressed submissions %s by more than a point",
    async (_name, count, last, message) => {
      const rows = range(count).map((number) => submission(number, { is_public: number > last ? "t" : "f" }));
      await writeCsv(directory, "general", rows);
      expect(await messageOf(refresh({ acceptShrink: false }))).toMatch(message);
    },
  );
});

describe("a table that more than doubles", () => {
  const passthrough = (count: number) =>
    writeCsv(
      directory,
      "passthrough",
      range(count).map((number) => ({ report_id: id((number % 200) + 1) })),
    );
  beforeEach(async () => {
    await writeCsv(
      directory,
      "general",
      range(200).map((number) => submission(number)),
    );
    await passthrough(1000);
    await refresh();
  });

  it("is refused, unless that is accepted", async () => {
    await passthrough(2001);
    expect(await messageOf(refresh())).toBe(
      [
        "This does not look like the next data set. Nothing has changed.",
        "  passthrough would grow from 1000 to 2001 rows (2.0 times as many; 2 times at most).",
        "If the files are right, publish them with --accept-growth.",
      ].join("\n"),
    );
    await writeCsv(
      directory,
      "general",
      range(200).map((number) => submission(number, { is_public: number > 100 ? "t" : "f" })),
    );
    expect(await messageOf(refresh({ acceptShrink: false }))).toContain(
      "publish them with --accept-shrink --accept-growth.",
    );
    expect(await refresh({ acceptGrowth: true })).toMatchObject({ outcome: "published" });
  });

  it("is let through when it gains 1,000 rows or doubles", async () => {
    await passthrough(2000);
    expect(await refresh()).toMatchObject({ outcome: "published" });
    await writeCsv(
      directory,
      "findings",
      range(1000).map(() => ({ report_id: id(1) })),
    );
    expect(await refresh()).toMatchObject({ outcome: "published" });
  });
});

it("awards of another audit year than their report are named", async () => {
  await writeCsv(directory, "general", [submission(1), submission(2)]);
  await writeCsv(directory, "federal_awards", [
    { report_id: id(1), audit_year: "2023" },
    { report_id: id(1), audit_year: "2021" },
    { report_id: id(2), audit_year: "" },
  ]);
  expect(await messageOf(refresh())).toBe(
    [
      "1 row cannot be published. Nothing has changed.",
      `  ${file("federal_awards.csv")}:3: column audit_year, value "2021" is not the audit year that general has for its report`,
      "1 row: federal_awards, column audit_year: is not the audit year that general has for its report",
      "--tolerate 1 would publish the rest, and keep these in a file.",
    ].join("\n"),
  );
});

it("a file that grows while it is read is refused", async () => {
  const text = await writeCsv(directory, "general", [submission(1)]);
  const more = `${text.trimEnd().split("\n").at(-1)?.replace(id(1), id(2))}\n`;
  const grow = (line: string) => {
    if (line.startsWith("general.csv: ")) appendFileSync(file("general.csv"), more);
  };
  expect(await messageOf(refresh({ report: grow }))).toBe(
    `${file("general.csv")} was written to while it was read: it had ${text.length} bytes and has ${text.length + more.length} now. ` +
      "Nothing was published. Wait until it is complete, then run this again.",
  );
  expect(await refresh()).toMatchObject({ outcome: "published" });
});

describe("several gzipped files of a table", () => {
  it("are read in the order of their names, whatever their columns' order", async () => {
    for (const [year, number] of [
      ["2022", 2],
      ["2023", 1],
    ] as const) {
      const columns = columnNames("general");
      if (year === "2023") columns.reverse();
      const name = `${year}-general.csv`;
      const text = await writeCsv(directory, "general", [submission(number)], { columns, name });
      await rm(file(name));
      await writeFile(file(`${name}.gz`), gzipSync(text));
    }
    await refresh();
    expect(await select("select report_id from disclosed.general")).toEqual([
      { report_id: id(2) },
      { report_id: id(1) },
    ]);
  });
});
