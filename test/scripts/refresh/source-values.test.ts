import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { columnNames } from "../../support/columns.ts";
import { useDeployedDatabase } from "../../support/scratch-database.ts";
import { refreshHere } from "./support/refresh.ts";
import { id, makeDirectory, submission, writeCsv } from "./support/source-files.ts";

// What PostgreSQL would take, and read as something else than stands there; and files that are not whole.

const database = useDeployedDatabase();
let directory: string;
let removeDirectory: () => Promise<void>;
let live: unknown;

beforeAll(async () => {
  live = await readLive();
});
beforeEach(async () => {
  ({ directory, remove: removeDirectory } = await makeDirectory());
});
afterEach(async () => {
  await removeDirectory();
  expect(await readLive()).toEqual(live);
});

const readLive = async () =>
  (await database.client.query("select id, to_regnamespace('staging') as left from dissemination.data_set"))
    .rows;
const file = (name: string) => path.join(directory, name);
const refresh = (more: Record<string, string> = {}) =>
  refreshHere(["--from", directory], { DATABASE_URL: database.url, ...more });

/** What is said of the files, when nothing is published. */
async function expectRefusal(more: Record<string, string> = {}): Promise<string> {
  const { code, output } = await refresh(more);
  expect(code).toBe(1);
  return output;
}

describe("a value that says one thing and would be read as another", () => {
  const date = "is not a date of the form 2023-01-31, from 1900 to 2099";
  const number = "is not a whole number";
  const asType = "is not of the column's type";
  it.each([
    ...["today", "now", "epoch", "infinity", "-infinity", "20230304", "2023-3-4", "Jan 3 2023", "J2451187"]
      .concat(["2023-03-04 10:00", "2023-03-04T10:00:00Z", "2023.063", " 2023-03-04", "2023-03-04 "])
      .concat(["2023-03-04 BC", "0000-01-01", "0023-03-04", "9999-12-31", "12023-03-04", '"today"', '""'])
      .map((value) => ["fac_accepted_date", value, date]),
    ["fac_accepted_date", "2023-02-30", asType],
    ...["NaN", "Infinity", "0x1F", "0b1", "1_000", "+5", " 5", "5 ", "1e3", "1.0", '""'].map((value) => [
      "total_amount_expended",
      value,
      number,
    ]),
    ["total_amount_expended", "99999999999999999999", asType],
    ...["0000", "9999", "2023 ", "23", "FY23"].map((value) => [
      "audit_year",
      value,
      "is not a year from 1900 to 2099",
    ]),
  ])("is refused: %s = %s", async (column, value, problem) => {
    await writeCsv(directory, "general", [submission(1), submission(2, { [column as string]: value })]);
    const shown = problem === asType ? value : value;
    expect(await expectRefusal()).toContain(
      `  ${file("general.csv")}:3: column ${column}, value ${JSON.stringify(shown)} ${problem}\n`,
    );
  });
});

describe("quotes that are not those of RFC 4180", () => {
  it.each([
    ['5" pipe, 6" pipe', "has a quote in the middle", '5" pipe'],
    ['x"a,b"', "has a quote in the middle", 'x"a'],
    ['"a"b', "has text after its closing quote", '"a"b'],
    ['"he said "yes" to it"', "has text after its closing quote", '"he said "yes" to it"'],
    ['"a" ', "has text after its closing quote", '"a" '],
    [' "a"', "has a quote in the middle", ' "a"'],
  ])("are told with their column: %s", async (value, problem, shown) => {
    await writeCsv(directory, "general", [submission(1)]);
    const rows = [`${id(1)},ok`, `${id(1)},${value}`, `${id(1)},"fine ""quoted"" text"`];
    await writeFile(file("additional_ueis.csv"), `report_id,additional_uei\n${rows.join("\n")}\n`);
    expect(await expectRefusal()).toContain(
      `1 row cannot be published. Nothing has changed.\n  ${file("additional_ueis.csv")}:3: ` +
        `column additional_uei, value ${JSON.stringify(shown)} ${problem}\n`,
    );
  });

  it("are told where they are never closed", async () => {
    await writeCsv(directory, "general", [submission(1)]);
    const text = `report_id,additional_uei\n${id(1)},ok\n${id(1)},"never closed\n${id(1)},ok\n`;
    await writeFile(file("additional_ueis.csv"), text);
    expect(await expectRefusal()).toContain(
      `${file("additional_ueis.csv")}:3: column additional_uei, ` +
        `value "\\"never closed\\n${id(1)},ok\\n" has a quote that is never closed\n`,
    );
  });

  it("are told in a header, too", async () => {
    await writeFile(file("general.csv"), 'report_id,audit"year"\n');
    expect(await expectRefusal()).toContain(
      `${file("general.csv")}:1: the file cannot be read: the first line has a quote in the middle.`,
    );
  });
});

describe("a file that is not whole", () => {
  it.each([
    ["within its last value", -3],
    ["at the end of a value", -1],
  ])("is refused when it is cut off %s", async (_where, end) => {
    const text = await writeCsv(directory, "general", [submission(1), submission(2)], {
      columns: [...Object.keys(submission(1)).filter((name) => name !== "audit_year"), "audit_year"],
    });
    await writeFile(file("general.csv"), text.slice(0, end));
    expect(await expectRefusal()).toMatch(/general\.csv/);
  });

  it.each(["\n", "\r\n"])(
    "is refused wherever it is cut off within a line, and not after one (%j)",
    async (ending) => {
      await writeCsv(directory, "general", [submission(1)]);
      const text = ["report_id,additional_uei", `${id(1)},AB`, `${id(1)},CD`, ""].join(ending);
      const second = text.lastIndexOf(id(1));
      const value = text.lastIndexOf(",");
      const ends = [second + 1, value - 1, value, value + 1, value + 2, value + 3, text.length - 1];
      for (const end of new Set(ends)) {
        await writeFile(file("additional_ueis.csv"), text.slice(0, end));
        expect(await expectRefusal(), text.slice(second, end)).toMatch(
          /additional_ueis\.csv:3: column (report_id|additional_uei), value "[^"]*" has no line break after it: the file may have been cut off/,
        );
      }
    },
  );

  it("is refused when its lines end with a carriage return alone", async () => {
    const text = await writeCsv(directory, "general", [submission(1), submission(2)]);
    const problem = "has a carriage return outside quotes, where lines end with a line feed";
    await writeFile(file("general.csv"), text.replaceAll("\n", "\r"));
    expect(await expectRefusal()).toContain(
      `${file("general.csv")}:1: the file cannot be read: the first line ${problem}.`,
    );
    await writeFile(file("general.csv"), text.replace(/\n(?=.+\n$)/, "\r"));
    expect(await expectRefusal()).toContain(
      `${file("general.csv")}:2: column ${columnNames("general").at(-1)}, value "\\r${id(2)}" ${problem}`,
    );
  });

  it("is refused when two were joined, with header and byte order mark", async () => {
    const text = await writeCsv(directory, "general", [submission(1)]);
    await writeFile(file("general.csv"), `\ufeff${text}\ufeff${text}`);
    expect(await expectRefusal()).toMatch(
      /general\.csv:3: value "\ufeffreport_id,.*" begins with a byte order mark, as where two files were joined/,
    );
    await writeFile(file("general.csv"), text + text);
    expect(await expectRefusal()).toMatch(
      /general\.csv:3: column audit_year, value "audit_year" is not a year/,
    );
    await writeCsv(directory, "general", [submission(1)]);
    const child = `report_id,additional_uei\n${id(1)},A\n`;
    await writeFile(file("additional_ueis.csv"), child + child);
    expect(await expectRefusal()).toMatch(
      /additional_ueis\.csv:3: column report_id, value "report_id" has not/,
    );
  });

  it.each([
    ["is not UTF-8", Buffer.from("caf\xe9", "latin1"), "has a byte that is not UTF-8"],
    ["is a zero byte", Buffer.from("a\0b"), "has a zero byte"],
  ])("is refused when it holds what %s", async (_what, value, problem) => {
    await writeCsv(directory, "general", [submission(1)]);
    const head = `report_id,additional_uei\n${id(1)},ok\n${id(1)},`;
    await writeFile(
      file("additional_ueis.csv"),
      Buffer.concat([Buffer.from(head), value, Buffer.from("\n")]),
    );
    expect(await expectRefusal()).toMatch(
      new RegExp(`additional_ueis\\.csv:3: column additional_uei, value .* ${problem}`),
    );
  });

  it("is told of in gzipped files as well", async () => {
    const text = await writeCsv(directory, "general", [submission(1)]);
    await rm(file("general.csv"));
    await writeFile(file("general.csv.gz"), gzipSync(text.slice(0, -1)));
    expect(await expectRefusal()).toMatch(
      /general\.csv\.gz:2: column .*, value .* has no line break after it/,
    );
  });
});

describe("what is no file, or is broken", () => {
  it("is named: a directory in a source file's place", async () => {
    await writeCsv(directory, "general", [submission(1)]);
    await mkdir(file("findings.csv"));
    expect(await expectRefusal()).toContain(`${file("findings.csv")} is not a file.`);
  });

  it("is named: a file in the source directory's place", async () => {
    await writeFile(file("general.csv"), "");
    const { code, output } = await refreshHere(["--from", file("general.csv")], {
      DATABASE_URL: database.url,
    });
    expect([code, output]).toEqual([1, `${file("general.csv")} cannot be read: ENOTDIR.\n`]);
  });

  it("is named before anything is published: a directory in the manifest's place", async () => {
    await writeCsv(directory, "general", [submission(1)]);
    await mkdir(file("public/manifest.json"), { recursive: true });
    expect(await expectRefusal({ PUBLIC_DATA: file("public") })).toContain(
      `${file("public/manifest.json")} is not a file.`,
    );
  });

  it("is named: the facts of a running stack", async () => {
    await writeCsv(directory, "general", [submission(1)]);
    const stat = await readFile(`/proc/${process.pid}/stat`, "utf8");
    const started = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
    await writeFile(file("stack.lock"), JSON.stringify({ pid: process.pid, started }));
    await writeFile(file("stack.json"), '{"database_url": "postgres://');
    const { code, output } = await refreshHere(["--from", directory], { STACK_DIRECTORY: directory });
    expect([code, output]).toEqual([1, `${file("stack.json")} is not JSON: it is broken.\n`]);
  });
});
