import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { adaptForSpreadsheets } from "../../site/browser/spreadsheet-csv.ts";

const read = (csv: string): string[][] => parse(csv, { relax_quotes: false });

test.each([
  ["=1+1", "'=1+1"],
  ['"=HYPERLINK(""https://example.com"",1)"', '\'=HYPERLINK("https://example.com",1)'],
  ["+1 555", "'+1 555"],
  ["-", "'-"],
  ["-2+3", "'-2+3"],
  ["@SUM(A1)", "'@SUM(A1)"],
  ["\tx", "'\tx"],
  ['"\rx"', "'\rx"],
  ["-5", "-5"],
  ["-5.25", "-5.25"],
  ["0", "0"],
  ["1000000", "1000000"],
  ["2023-06-30", "2023-06-30"],
  ['"a, b\n=c ""d"""', 'a, b\n=c "d"'],
  ["043015799", '="043015799"'],
  ['"00610"', '="00610"'],
  ["10.010", '="10.010"'],
  ["2023-001", '="2023-001"'],
  ["12345678E123", '="12345678E123"'],
])("the cell %j is %j for spreadsheet programs", (cell, expected) => {
  const [row] = read(adaptForSpreadsheets(`x,${cell},${cell}\n`));
  expect(row?.[1]).toBe(expected);
  const lines = read(adaptForSpreadsheets(`a,b,c\n${cell},,${cell}\n,x,y\n`));
  expect(lines).toHaveLength(3);
  expect(lines[1]?.[0]).toBe(expected);
});
