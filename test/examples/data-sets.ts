import { readFile } from "node:fs/promises";
import path from "node:path";
import { findFiles } from "../../scripts/refresh/find-files.ts";
import { loadDataSet } from "../../scripts/refresh/load-data-set.ts";
import { openStorage } from "../../scripts/refresh/open-storage.ts";
import { rollBack } from "../../scripts/refresh/roll-back.ts";
import { settlePublicFiles, writePublicFiles } from "../../scripts/refresh/write-public-files.ts";
import { connect } from "../../service/connect.ts";
import {
  id,
  makeDirectory,
  type Row,
  range,
  submission,
  writeCsv,
} from "../scripts/refresh/support/source-files.ts";
import { tables } from "../support/columns.ts";
import { runStack } from "../support/run-stack.ts";

const newReports = range(5, 9001).map(id);
const newName = 'Peña "New", Inc.\nSecond line';
/** A public report of the older data set that the newer one suppresses, and one that it gives another name. */
export const [hidden, changed] = [id(1), id(2)];
/** A report that both suppress. */
export const suppressed = id(10);
/** The names of reports in the newer data set that the older one does not have or has under another name. */
export const differences = [[changed, "Another name"], ...newReports.map((report) => [report, newName])];

const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;
const older: Row[] = range(150).map((number) =>
  submission(number, {
    auditee_name: `Auditee ${number}`,
    // The empty string is not null.
    auditee_city: number % 2 === 0 ? '""' : "",
    auditee_state: "CA",
    total_amount_expended: String(number * 1000),
    is_public: number % 10 === 0 ? "f" : "t",
  }),
);
/** The new reports stand in front of the others, so that every page changes. */
const newer: Row[] = [
  ...newReports.map((report_id) => submission(1, { report_id, auditee_name: quote(newName) })),
  ...older.map((row) => ({
    ...row,
    ...(row.report_id === hidden && { is_public: "f" }),
    ...(row.report_id === changed && { auditee_name: "Another name" }),
  })),
];
const text = quote('A line,\nand "another"');
const notes: Row[] = range(120, 2).map((number) => ({
  report_id: id(number),
  finding_text: text,
  note_title: text,
}));

/** A stack of its own with two data sets, of which either can be made the live one. */
export async function startTwoDataSets() {
  const [one, other] = [await makeDirectory(), await makeDirectory()];
  for (const { directory } of [one, other]) {
    const rows: Record<string, Row[]> = { general: directory === one.directory ? older : newer };
    for (const table of tables) await writeCsv(directory, table, rows[table] ?? notes);
  }
  const stack = await runStack({ args: ["--data", one.directory] });
  const publisher = await connect(stack.facts.database_url, "test");
  await publisher.query("set role publisher");
  const publicData = path.join(stack.directory, "public-data");
  const store = await openStorage(publicData);
  await loadDataSet(
    publisher,
    { source: other.directory, files: await findFiles(other.directory) },
    { writePublicFiles: () => writePublicFiles(publisher, store, "disclosed_next") },
  );
  await settlePublicFiles(publisher, store);
  // Or the older data set, in which it is public, could not be brought back.
  await publisher.query("select publication.release_report($1)", [hidden]);
  let live: "older" | "newer" = "newer";
  const swap = async () => {
    await rollBack(publisher);
    await settlePublicFiles(publisher, store);
    live = live === "older" ? "newer" : "older";
  };
  return {
    facts: stack.facts,
    swap,
    makeLive: async (wanted: typeof live) => {
      if (live !== wanted) await swap();
    },
    readManifest: async (): Promise<Record<string, unknown>> =>
      JSON.parse(await readFile(path.join(publicData, "manifest.json"), "utf8")),
    dispose: async () => {
      await publisher.end();
      await Promise.all([stack.dispose(), one.remove(), other.remove()]);
    },
  };
}
