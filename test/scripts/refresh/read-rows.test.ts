import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { readRows } from "../../../scripts/refresh/read-rows.ts";
import { useDeployedDatabase } from "../../support/scratch-database.ts";

// What the loader reports about a file, row by row. It reports no row that PostgreSQL reads as the file means it.

const database = useDeployedDatabase();

/** Reads a file with a text column and a column of this type, in chunks of `chunkBytes`. Returns the problems. */
async function findProblems(
  file: string | Buffer,
  { type = "text", name = "value", chunkBytes = 1 << 18 } = {},
): Promise<string[]> {
  const bytes = Buffer.from(file);
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes) chunks.push(bytes.subarray(at, at + chunkBytes));
  const id = { name: "id", type: "text" };
  const problems: string[] = [];
  for await (const { rows } of readRows(Readable.from(chunks), [id, { name, type }]))
    for (const { line, problem } of rows)
      if (problem !== undefined)
        problems.push(`${line} ${problem.column} ${JSON.stringify(problem.value)} ${problem.problem}`);
  return problems;
}

const whole = (digits: number) => `is not a whole number of at most ${digits} digits`;
const time = "is not a time of the form 2023-01-31 12:00:00Z, from 1900 to 2099";
const times = "2023-01-31 12:00:00Z|2023-01-31T23:59|2024-02-29 12:00:00.5+01:00";
const date = "is not a date of the form 2023-01-31, from 1900 to 2099";
const dates = '2023-03-04|"2023-03-04"|2024-02-29|2000-02-29|1900-02-28|2099-12-31';
const badDates =
  'today|20230304|2023-3-4|2023-03-04T10:00:00Z|0023-03-04|9999-12-31|12023-03-04|"today"|""|2023-02-30|2023-02-29';
const moreBadDates = "1900-02-29|2023-04-31|2023-13-01|2023-00-10|2023-03-04 10:00| 2023-03-04|2023-03-04 BC";
const badBigints = `NaN|0x1F|1_000|+5| 5|5 |1e3|1.0|""|${"9".repeat(19)}`;
const boolean = "is not a boolean such as t, false, Yes or 0";

/** Accepted and refused values of each type, separated by `|`, and the problem. All types accept an empty value. */
const types: [type: string, good: string, bad: string, problem: string][] = [
  ["date", dates, `${badDates}|${moreBadDates}`, date],
  ["bigint", '0|-5|007|"12"|999999999999999999', badBigints, whole(18)],
  ["integer", "999999999", "9999999999", whole(9)],
  ["smallint", "-9999", "32768", whole(4)],
  ["boolean", 't|TRUE|False|yes|N|on|OFF|0|"t"', 'perhaps|2| t|""|wahr', boolean],
  ["numeric(12,2)", "1.5|-2e3", "NaN|Infinity|1;5|.", "is not a number"],
  ["timestamp with time zone", times, "now|2023-01-31|2023-02-30 12:00:00|2023-01-31 25:00", time],
  ["character varying(3)", '""|ÄÖÜ|"a""b"|",\n,"', 'ABCD|"ÄÖÜx"', "is longer than 3 characters"],
  ["audit_year", '1999|"2023"', "0000|9999|2023 |23|FY23", "is not a year from 1900 to 2099"],
];

it.each(types)("%s: only well-formed values are accepted", async (kind, good, bad, problem) => {
  const column = kind === "audit_year" ? { type: "text", name: kind } : { type: kind, name: "value" };
  const write = (values: string[]) => `id,${column.name}\n${values.map((value) => `x,${value}\n`).join("")}`;
  const accepted = ["", ...good.split("|")];
  expect(await findProblems(write(accepted), column)).toEqual([]);
  // The value in line 2 is empty, which means null.
  for (const value of bad.split("|"))
    expect(await findProblems(write(["", value]), column)).toEqual([
      `3 ${column.name} ${JSON.stringify(value)} ${problem}`,
    ]);
  const values = accepted
    .map((value) => value.replace(/^"(.*)"$/s, "$1").replaceAll('""', '"'))
    .filter(Boolean);
  const sql = "select value from unnest($1::text[]) as value where not pg_input_is_valid(value, $2)";
  expect((await database.client.query(sql, [values, column.type])).rows).toEqual([]);
});

it("a text that a B-tree index could not take is reported", async () => {
  const { rows } = await database.client.query<{ name: string }>(
    `select distinct attname as name
     from pg_index
     join pg_class as index on index.oid = indexrelid and index.relnamespace = 'disclosed'::regnamespace
     join pg_am on pg_am.oid = index.relam and amname = 'btree'
     join pg_class as indexed on indexed.oid = indrelid
     join data_set.tables on tables.name = indexed.relname and tables.is_source
     join pg_attribute on attrelid = indrelid and attnum = any (indkey) and atttypid = 'text'::regtype
     -- reject_rows.sql refuses report IDs of another form.
     where attname <> 'report_id'`,
  );
  expect(rows.length).toBeGreaterThan(5);
  for (const { name } of rows) {
    const values = name === "audit_year" ? ["2023"] : ["x".repeat(1000), `"${'""'.repeat(1000)}"`];
    for (const value of values) {
      expect(await findProblems(`id,${name}\nx,${value}\n`, { name })).toEqual([]);
      const [problem, ...others] = await findProblems(
        `id,${name}\nx,${value.slice(0, -1)}xx${value.slice(-1)}\n`,
        { name },
      );
      expect([problem, ...others]).toEqual([expect.stringContaining(`2 ${name} `)]);
    }
  }
});

describe("a malformed row", () => {
  const latin1 = Buffer.from("caf\xe9", "latin1");
  const carriageReturn = "has a carriage return outside quotes, where lines end with a line feed";
  it.each<[string, string | Buffer, string]>([
    ["a quote in a value", '5" pipe', '3 value "5\\" pipe" has a quote in the middle'],
    ["a quote before a comma", 'x"a,b"', '3 value "x\\"a" has a quote in the middle'],
    ["a space before the quote", ' "a"', '3 value " \\"a\\"" has a quote in the middle'],
    ["text after the quote", '"a"b', '3 value "\\"a\\"b" has text after its closing quote'],
    ["unescaped quotes", '"a "b" c"', '3 value "\\"a \\"b\\" c\\"" has text after its closing quote'],
    ["a carriage return", "a\rb", `3 value "a\\rb" ${carriageReturn}`],
    ["a byte that is not UTF-8", latin1, '3 value "caf\ufffd" has a byte that is not UTF-8'],
    ["a zero byte", "a\0b", '3 value "a\\u0000b" has a zero byte'],
    ["too many values", "1,2", '3 undefined "x,1,2" has 3 values where the header has 2'],
    ["an empty line", "ok\r\n", '4 undefined "" has 1 value where the header has 2'],
    ["a different line break", "ok\nx,ok", '3 undefined "x,ok" ends with another line break than the header'],
  ])("is reported: %s", async (_what, value, problem) => {
    const parts = ["id,value\r\nx,ok\r\nx,", value, "\r\nx,ok\r\n"].map((part) => Buffer.from(part));
    for (const chunkBytes of [1 << 18, 7, 1])
      expect(await findProblems(Buffer.concat(parts), { chunkBytes })).toEqual([problem]);
  });

  it("is reported if a quote is never closed, which fails the whole file after 2 MB", async () => {
    expect(await findProblems('id,value\nx,ok\nx,"never closed\nx,ok\n')).toEqual([
      '3 value "\\"never closed\\nx,ok\\n" has a quote that is never closed',
    ]);
    // The rest of the file could be part of the row, so --tolerate does not apply.
    for (const text of ["y", '""', "\n"])
      await expect(findProblems(`id,value\nx,"${text.repeat(9 << 20)}"\n`)).rejects.toThrow(
        /^column value does not end within 2 MB: a closing quote may be missing$/,
      );
  });

  it.each(["\n", "\r\n"])("is reported wherever the file is cut off, with line breaks %j", async (end) => {
    const text = ["id,value", "a,AB", "c,CD", ""].join(end);
    expect(await findProblems(text)).toEqual([]);
    for (let length = text.lastIndexOf("c,") + 1; length < text.length; length += 1) {
      const [, id, value] = /^(?:c|(c),(.*?))\r?$/s.exec(text.slice(text.lastIndexOf("c,"), length)) ?? [];
      expect(await findProblems(text.slice(0, length))).toEqual([
        `3 ${id === undefined ? "id" : "value"} ${JSON.stringify(value ?? "c")} has no line break after it: the file may have been cut off`,
      ]);
    }
  });
});

it("line numbers stay correct after line breaks within quotes, with chunks of any size", async () => {
  const good = 'é,"two\nlines ""quoted"",\r\n"\n';
  const text = `id,value\n${good.repeat(50)}"broken\n"x,y\n${good}z\n`;
  for (const chunkBytes of [1 << 18, 100, 3])
    expect(await findProblems(text, { chunkBytes })).toEqual([
      '152 id "\\"broken\\n\\"x" has text after its closing quote',
      '157 undefined "z" has 1 value where the header has 2',
    ]);
});
