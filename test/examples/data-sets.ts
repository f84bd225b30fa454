import path from "node:path";
import { runRefreshProgram } from "../../scripts/refresh/refresh-program.ts";
import { id, type Row, range, submission, writeCsv } from "../scripts/refresh/support/source-files.ts";
import { tables } from "../support/columns.ts";
import { makeDirectory } from "../support/make-directory.ts";
import { runHere } from "../support/run-here.ts";
import { runStack } from "../support/run-stack.ts";

const newReports = range(5, 9001).map(id);
const newName = 'Peña "New", Inc.\nSecond line';
/** Public reports of the older data set: the newer one suppresses the first, and renames the auditee of the second. */
export const [hidden, changed] = [id(1), id(2)];
/** A report that is suppressed in both data sets. */
export const suppressed = id(10);
/** A table without rows. */
export const emptyTable = "secondary_auditors";
/** Report IDs and auditee names of the newer data set that the older one lacks. */
export const differences = [[changed, "Another name"], ...newReports.map((report) => [report, newName])];

const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;
const older: Row[] = range(150).map((number) =>
  submission(number, {
    auditee_name: `Auditee ${number}`,
    // An empty string for even numbers, null for odd ones.
    auditee_city: number % 2 === 0 ? '""' : "",
    auditee_state: "CA",
    total_amount_expended: String(number * 1000),
    is_public: number % 10 === 0 ? "f" : "t",
  }),
);
/** The new reports come first, so that every page changes. */
const newer: Row[] = [
  ...newReports.map((report_id) => submission(1, { report_id, auditee_name: quote(newName) })),
  ...older.map((row) => ({
    ...row,
    ...(row.report_id === hidden && { is_public: "f" }),
    ...(row.report_id === changed && { auditee_name: "Another name" }),
  })),
];
const text = quote('A line,\nand "another"');
const notes: Row[] = range(120).map((number) => ({
  report_id: id(number),
  finding_text: text,
  note_title: text,
}));

/** Starts a separate stack with two data sets, either of which can be made live. */
export async function startTwoDataSets() {
  const [one, other] = [await makeDirectory(), await makeDirectory()];
  for (const directory of [one, other]) {
    const rows: Record<string, Row[]> = { general: directory === one ? older : newer, [emptyTable]: [] };
    for (const table of tables) await writeCsv(directory, table, rows[table] ?? notes);
  }
  const stack = await runStack({ args: ["--data", one] });
  const env = {
    DATABASE_URL: stack.facts.database_url,
    PUBLIC_DATA: path.join(stack.directory, "public-data"),
  };
  const refresh = async (...args: string[]) => {
    const { code, stderr } = await runHere(runRefreshProgram, args, { env });
    if (code !== 0) throw new Error(stderr);
  };
  await refresh("--from", other);
  // A rollback must not make a suppressed report public, so the report has to be released first.
  await refresh("--release", hidden);
  let live: "older" | "newer" = "newer";
  const swap = async () => {
    await refresh("--rollback");
    live = live === "older" ? "newer" : "older";
  };
  return {
    facts: stack.facts,
    swap,
    makeLive: async (wanted: typeof live) => {
      if (live !== wanted) await swap();
    },
    dispose: () => stack.dispose(),
  };
}
