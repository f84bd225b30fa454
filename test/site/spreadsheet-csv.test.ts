import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { adaptForSpreadsheets } from "../../site/spreadsheet-csv.ts";

test.each([
  ["title", "=1+1", "'=1+1"],
  ["title", '"=HYPERLINK(""https://example.com"",1)"', '\'=HYPERLINK("https://example.com",1)'],
  ["title", "+1 555", "'+1 555"],
  ["title", "-", "'-"],
  ["title", "-2+3", "'-2+3"],
  ["auditee_ein", "@SUM(A1)", "'@SUM(A1)"],
  ["title", "\tx", "'\tx"],
  ["title", '"\rx"', "'\rx"],
  ["amount_expended", "-5", "-5"],
  ["amount_expended", "-5.25", "-5.25"],
  ["amount_expended", "0", "0"],
  ["audit_year", "2023", "2023"],
  ["fac_accepted_date", "2023-06-30", "2023-06-30"],
  ["content", '"a, b\n=c ""d"""', 'a, b\n=c "d"'],
  ["auditee_ein", "143015799", '="143015799"'],
  ["agencies_with_prior_findings", '"10,020"', '="10,020"'],
  ["auditee_zip", '"00610"', '="00610"'],
  ["passthrough_id", '"a ""b"""', 'a "b"'],
  ["loan_balance", "1234567.0", "1234567.0"],
  ["loan_balance", "-1.0", "-1.0"],
  ["passthrough_id", "10.010", '="10.010"'],
  ["title", "10.010", '="10.010"'],
  ["alns", "93.498", '="93.498"'],
  ["alns", "93.600; 93.498", '="93.600; 93.498"'],
  ["reference_number", "2023-001", '="2023-001"'],
  ["title", "2023-001", '="2023-001"'],
  ["auditee_uei", "12345678E123", '="12345678E123"'],
  // The columns of a list have UEIs, EINs and report IDs.
  ["auditee_uei", "POLKPOLK1234", '="POLKPOLK1234"'],
  ["entry", "POLKPOLK1234", '="POLKPOLK1234"'],
  ["id", "POLKPOLK1234", '="POLKPOLK1234"'],
  ["id", "942600524", '="942600524"'],
  ["entry", "12345678E123", '="12345678E123"'],
  ["findings_on_program", "2", "2"],
  ["report_id", "2023-06-GSAFAC-0000000001", "2023-06-GSAFAC-0000000001"],
  ["is_public", "t", "true"],
])("in the column %s, writes %j as %j for spreadsheet programs", (name, cell, expected) => {
  const csv = `${name},x,${name}\n${cell},${cell},${cell}\n${cell},,${cell}\n`;
  const lines = parse(adaptForSpreadsheets(csv), { relax_quotes: false });
  const whole = [expected, expect.any(String), expected];
  expect(lines).toEqual([[name, "x", name], whole, [expected, "", expected]]);
});

test.each([
  ["93,778", '="93.778"'],
  ['"84","048"', '="84.048"'],
  ["93,", '="93"'],
  [",", ""],
  ['"=9","1,""2"', "'=9.1,\"2"],
])("an Assistance Listing number with the parts %s is one text, %s", (parts, expected) => {
  const csv = `report_id,federal_agency_prefix,federal_award_extension,title\nx,${parts},y\n`;
  expect(parse(adaptForSpreadsheets(csv), { relax_quotes: true })).toEqual([
    ["report_id", "aln", "title"],
    ["x", expected, "y"],
  ]);
});
