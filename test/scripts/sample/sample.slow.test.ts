import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { parse } from "csv-parse/sync";
import { beforeAll, expect, it } from "vitest";
import { agencies } from "../../../site/names.ts";
import { tables } from "../../support/columns.ts";
import { makeDirectory } from "../../support/make-directory.ts";
import { runScript } from "../../support/run-stack.ts";
import { findOwnServer } from "../../support/scratch-database.ts";
import { writeTestSample } from "../../support/small-sample.ts";

type Row = Record<string, string>;

let directory: string;
const sample: Record<string, Row[]> = {};

beforeAll(async () => {
  directory = await makeDirectory();
  await writeTestSample({ directory: path.join(directory, "default") });
  for (const table of tables) sample[table] = await read("default", table);
});

const open = (name: string, table: string) => readFile(path.join(directory, name, `${table}.csv`), "utf8");
const read = async (name: string, table: string): Promise<Row[]> =>
  parse(await open(name, table), { columns: true });
const rows = (table: string) => sample[table] ?? [];
function group(table: string, key: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows(table)) groups.set(key(row), [...(groups.get(key(row)) ?? []), row]);
  return groups;
}
const sum = (list: Row[], column: string) => list.reduce((total, row) => total + Number(row[column]), 0);

it("writes the same bytes for the same seed, and a smaller sample is a prefix of a larger one", async () => {
  await writeTestSample({ directory: path.join(directory, "small"), submissions: 70 });
  await writeTestSample({ directory: path.join(directory, "other"), submissions: 70, seed: 2 });
  for (const table of tables)
    expect((await open("default", table)).startsWith(await open("small", table)), table).toBe(true);
  expect(await open("other", "general")).not.toBe(await open("small", "general"));
});

it("has totals that add up: awards, programs, findings of an award", () => {
  const awards = group("federal_awards", (row) => String(row.report_id));
  const programs = group("federal_awards", (row) =>
    [row.report_id, row.federal_agency_prefix, row.federal_award_extension].join(),
  );
  // Some older reports number awards with five digits in findings, but with four in federal_awards.
  const award = (row: Row) => `${row.report_id} ${Number(row.award_reference?.replace("AWARD-", ""))}`;
  const findings = group("findings", award);
  for (const { report_id, total_amount_expended } of rows("general"))
    expect(sum(awards.get(String(report_id)) ?? [], "amount_expended")).toBe(Number(total_amount_expended));
  for (const list of programs.values())
    expect(sum(list, "amount_expended")).toBe(Number(list[0]?.federal_program_total));
  for (const row of rows("federal_awards"))
    expect(findings.get(award(row))?.length ?? 0).toBe(Number(row.findings_count));
  expect(sum(rows("federal_awards"), "findings_count")).toBe(rows("findings").length);
});

it("links the submissions of a resubmission chain both ways", () => {
  const chains = new Map(rows("resubmission").map((row) => [row.report_id, row]));
  const isPublic = new Map(rows("general").map((row) => [row.report_id, row.is_public]));
  const kinds = new Set<string>();
  for (const { report_id, next_report_id, status, version } of chains.values()) {
    const next = chains.get(next_report_id);
    expect(status === "deprecated_via_resubmission").toBe(next !== undefined);
    if (next === undefined) continue;
    expect(next).toMatchObject({ previous_report_id: report_id, version: String(Number(version) + 1) });
    kinds.add([report_id, next_report_id].map((id) => isPublic.get(id)).join());
  }
  expect([...kinds]).toEqual(expect.arrayContaining(["t,t", "t,f", "f,t"]));
});

it("has the proportions of real submissions", () => {
  const general = rows("general");
  const tribal = general.filter((row) => row.entity_type === "tribal");
  const awards = rows("federal_awards");
  const awardsOfReports = [...group("federal_awards", (row) => String(row.report_id)).values()];
  const lengths = rows("findings_text").map((row) => String(row.finding_text).length);
  const proportions: Record<string, [low: number, value: number, high: number]> = {
    "awards, more than a page": [32_000, awards.length, 60_000],
    "awards of a report": [5, median(awardsOfReports.map((list) => list.length)), 8],
    "dollars of an award": [90_000, median(awards.map((row) => Number(row.amount_expended))), 170_000],
    "characters of a finding": [1_000, median(lengths), 3_500],
    "characters of the longest finding": [10_000, Math.max(...lengths), 32_000],
    suppressed: [15, general.filter((row) => row.is_public === "f").length, 50],
    "without is_public": [1, general.filter((row) => row.is_public === "").length, 10],
    "public tribal": [5, tribal.filter((row) => row.is_public === "t").length, 30],
  };
  for (const [name, [low, value, high]] of Object.entries(proportions))
    expect(value >= low && value <= high, `${name}: ${value}`).toBe(true);
  const prefixes = group("federal_awards", (row) => String(row.federal_agency_prefix)).keys();
  expect([...prefixes].sort()).toEqual(Object.keys(agencies).sort());
});

const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1] ?? 0;

it("writes a PDF for each report, with its ID, auditee and year in the text", async () => {
  const [from, out] = [path.join(directory, "default"), path.join(directory, "pdfs")];
  const run = runScript("sample.ts", ["--from", from, "--out", out], {});
  expect(await run.exited, run.output()).toBe(0);
  expect(await readdir(out)).toHaveLength(rows("general").length);
  const row = rows("general").find((each) => each.auditee_name?.includes("AÑASCO"));
  const pdf = await readFile(path.join(out, `${row?.report_id}.pdf`), "latin1");
  for (const text of [row?.report_id, row?.auditee_name, row?.audit_year])
    expect(pdf).toContain(Buffer.from(text ?? "", "latin1").toString("hex"));
});

it("writes into a directory that is not empty only when forced, and leaves no partial file behind", async () => {
  const out = path.join(directory, "default");
  const env = { SCRATCH_URL: findOwnServer() ?? "" };
  const before = await readdir(out);
  const refused = runScript("sample.ts", ["--out", out], env);
  expect(await refused.exited).toBe(1);
  expect(refused.output()).toMatch(/^error: \S+ is not empty\..*--force.*\n$/);
  const interrupted = runScript("sample.ts", ["--out", out, "--force"], env);
  await expect.poll(interrupted.output, { interval: 5 }).toContain("Writing findings_text.csv");
  interrupted.child.kill("SIGINT");
  expect(await interrupted.exited).toBe(130);
  expect(await readdir(out)).toEqual(before);
});
