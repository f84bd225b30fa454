import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { columnNames } from "../../support/columns.ts";
import { useDeployedDatabase } from "../../support/scratch-database.ts";
import { refreshHere } from "./support/refresh.ts";
import { id, makeDirectory, type Row, submission, writeCsv } from "./support/source-files.ts";

const database = useDeployedDatabase();
let directory: string;
let removeDirectory: () => Promise<void>;

beforeEach(async () => {
  ({ directory, remove: removeDirectory } = await makeDirectory());
});
afterEach(async () => {
  await removeDirectory();
  await database.client.query("truncate publication.suppressed_reports");
});

const refresh = (...args: string[]) =>
  refreshHere(["--from", directory, "--force", "--accept-shrink", ...args], {
    DATABASE_URL: database.url,
    PUBLIC_DATA: path.join(directory, "public"),
  });
const write = (year: number, table: string, rows: Row[], columns?: string[]) =>
  writeCsv(directory, table, rows, { name: `${year}-${table}.csv`, ...(columns ? { columns } : {}) });
const select = async (sql: string) =>
  (await database.client.query({ text: sql, rowMode: "array" })).rows.flat();
const award = (number: number, reference: string, more: Row = {}): Row => ({
  report_id: id(number),
  award_reference: reference,
  ...more,
});
const publicAwards = () =>
  select("select right(report_id, 1) || ' ' || award_reference from disclosed.federal_awards");

describe("source files that overlap", () => {
  it("give a report that stands in two of them once, with its rows once, in the order of the files", async () => {
    await write(2022, "general", [
      submission(1),
      submission(2, { auditee_name: '"Ñ ""x""\n,"' }),
      submission(9, { is_public: "f" }),
    ]);
    await write(2023, "general", [
      submission(9, { is_public: "False" }),
      submission(2, { auditee_name: '"Ñ ""x""\n,"', is_public: "True" }),
      submission(3),
    ]);
    await write(2022, "federal_awards", [award(1, "A"), award(2, "B"), award(2, "A"), award(9, "A")]);
    await write(
      2023,
      "federal_awards",
      [award(9, "A"), award(2, "A"), award(2, "B"), award(3, "A")],
      ["award_reference", ...columnNames("federal_awards").filter((name) => name !== "award_reference")],
    );
    // Rows of one file that are alike are all there.
    const note = { report_id: id(2), title: "note" };
    await write(2022, "notes_to_sefa", [note, note]);
    await write(2023, "notes_to_sefa", [note, note]);
    await write(2024, "notes_to_sefa", [note, note, { report_id: id(3), title: "note" }]);
    const { code, output } = await refresh();
    expect(code, output).toBe(0);
    expect(output).toContain(
      "federal_awards: 3 rows of later files left out, which an earlier file has alike\n" +
        "general: 2 rows of later files left out, which an earlier file has alike\n" +
        "notes_to_sefa: 4 rows of later files left out, which an earlier file has alike\n",
    );
    expect(await select("select report_id from disclosed.general")).toEqual([id(1), id(2), id(3)]);
    expect(await select("select auditee_name from disclosed.general where report_id ~ '2$'")).toEqual([
      'Ñ "x"\n,',
    ]);
    expect(await select("select report_id from suppressed.general")).toEqual([id(9)]);
    expect(await publicAwards()).toEqual(["1 A", "2 B", "2 A", "3 A"]);
    expect(await select("select award_reference from suppressed.federal_awards")).toEqual(["A"]);
    expect(await select("select report_id from disclosed.notes_to_sefa")).toEqual([id(2), id(2), id(3)]);
  });

  it("are refused where they contradict each other, with both places", async () => {
    await write(2022, "general", [submission(1), submission(2), submission(3), submission(4), submission(4)]);
    await write(2023, "general", [
      submission(1),
      submission(2, { auditee_city: '""' }),
      submission(3),
      submission(4),
    ]);
    await write(2022, "federal_awards", [
      award(1, "A"),
      award(1, "A"),
      award(2, "A", { amount_expended: "1" }),
      award(3, "A"),
    ]);
    await write(2023, "federal_awards", [
      award(1, "A"),
      award(2, "A", { amount_expended: "2" }),
      award(3, "A"),
      award(3, "B"),
    ]);
    const { code, output } = await refresh();
    expect(code).toBe(1);
    const at = (name: string) => path.join(directory, name);
    const contradicts = (file: string, line: number, number: number, firstLine: number) =>
      `  ${at(`2023-${file}`)}:${line}: column report_id, value "${id(number)}" ` +
      `stands in another file with other content: first at ${at(`2022-${file}`)}:${firstLine}\n`;
    expect(output).toContain(
      [
        "6 rows cannot be published. Nothing has changed.\n",
        `  ${at("2022-general.csv")}:6: column report_id, value "${id(4)}" `,
        `stands there twice: first at ${at("2022-general.csv")}:5\n`,
        contradicts("general.csv", 3, 2, 3),
        contradicts("federal_awards.csv", 2, 1, 2),
        contradicts("federal_awards.csv", 3, 2, 4),
        contradicts("federal_awards.csv", 4, 3, 5),
        contradicts("federal_awards.csv", 5, 3, 5),
      ].join(""),
    );
    expect(output).toContain(
      "4 rows: federal_awards, column report_id: stands in another file with other content",
    );
  });

  it("count as the first file has it where contradictions are tolerated, and as suppressed if any says so", async () => {
    await write(2022, "general", [submission(1), submission(2)]);
    await write(2023, "general", [submission(1, { auditee_city: "x" }), submission(2, { is_public: "f" })]);
    await write(2022, "federal_awards", [award(1, "A"), award(2, "A")]);
    await write(2023, "federal_awards", [award(1, "B"), award(2, "A")]);
    const { code, output } = await refresh("--tolerate", "3", "--rejects", path.join(directory, "r.csv"));
    expect(code, output).toBe(0);
    expect(await select("select auditee_city from disclosed.general")).toEqual([null]);
    expect(await publicAwards()).toEqual(["1 A"]);
    expect(await select("select report_id from suppressed.general")).toEqual([id(2)]);
  });

  it("lose a report whole when its row in one of them is refused", async () => {
    await write(2022, "general", [submission(1, { fy_end_date: "soon" }), submission(2)]);
    await write(2023, "general", [submission(1), submission(3)]);
    await write(2023, "federal_awards", [award(1, "A"), award(3, "A")]);
    const { code, output } = await refresh("--tolerate", "1", "--rejects", path.join(directory, "r.csv"));
    expect(code, output).toBe(0);
    expect(output).toContain("1 row left out, and 2 more of their reports");
    expect(await select("select report_id from disclosed.general")).toEqual([id(2), id(3)]);
    expect(await publicAwards()).toEqual(["3 A"]);
  });
});
