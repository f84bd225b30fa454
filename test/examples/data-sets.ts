import { readFileSync } from "node:fs";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import { findFiles } from "../../scripts/refresh/find-files.ts";
import { loadDataSet } from "../../scripts/refresh/load-data-set.ts";
import { openStorage } from "../../scripts/refresh/open-storage.ts";
import { rollBack } from "../../scripts/refresh/roll-back.ts";
import { releaseReport } from "../../scripts/refresh/suppression.ts";
import { settlePublicFiles, writePublicFiles } from "../../scripts/refresh/write-public-files.ts";
import { connect } from "../../service/connect.ts";
import { runStack } from "../support/run-stack.ts";
import { makeSmallSample } from "../support/small-sample.ts";

export const newReports = [1, 2, 3, 4, 5].map((number) => `2024-06-GSAFAC-00099999${number}0`);
export const newName = 'Peña "New", Inc.\nSecond line';

const emptyText = "EMPTY-TEXT";

/** A stack of its own with two data sets, of which either can be made the live one. */
export async function startTwoDataSets() {
  const older = await makeSmallSample(200);
  const parent = await mkdtemp(path.join(tmpdir(), "single-audit-newer-"));
  const newer = path.join(parent, "csv");
  await cp(older.directory, newer, { recursive: true });
  const { changed, hidden } = await changeReports(path.join(newer, "general.csv"));

  const stack = await runStack({ args: ["--data", older.directory] });
  const publisher = await connect(stack.facts.database_url, "test");
  await publisher.query("set role publisher");
  const store = await openStorage(path.join(stack.directory, "public-data"));
  await loadDataSet(
    publisher,
    { source: newer, files: await findFiles(newer) },
    { writePublicFiles: (next) => writePublicFiles(next, store, "disclosed_next") },
  );
  await settlePublicFiles(publisher, store);
  // Or the older data set, in which it is public, could not be brought back.
  await releaseReport(publisher, hidden);
  let live: "older" | "newer" = "newer";
  const swap = async () => {
    await rollBack(publisher);
    await settlePublicFiles(publisher, store);
    live = live === "older" ? "newer" : "older";
  };
  return {
    facts: stack.facts,
    /** The report of the older data set's last day that the newer one has under another name. */
    changed,
    /** A public report of the older data set that the newer one suppresses. */
    hidden,
    swap,
    readManifest: (): Record<string, unknown> =>
      JSON.parse(readFileSync(path.join(stack.directory, "public-data/manifest.json"), "utf8")),
    makeLive: async (wanted: typeof live) => {
      if (live !== wanted) await swap();
    },
    dispose: async () => {
      await publisher.end();
      await stack.dispose();
      await older.remove();
      await rm(parent, { recursive: true });
    },
  };
}

/**
 * Puts new reports in front of the others, so that every page changes: two that were accepted on the last day that is
 * there already, two on one later day, one on none. And gives the last report that is there another name, and suppresses
 * the first.
 */
async function changeReports(file: string): Promise<{ changed: string; hidden: string }> {
  // The empty string is not null, and has to stay in quotes.
  const rows: Record<string, string>[] = parse(await readFile(file, "utf8"), {
    columns: true,
    cast: (value, { quoting }) => (quoting && value === "" ? emptyText : value),
  });
  const isPublic = (row: Record<string, string>) => row.is_public?.startsWith("t");
  const last = rows
    .filter(isPublic)
    .reduce((one, other) => ((other.fac_accepted_date ?? "") > (one.fac_accepted_date ?? "") ? other : one));
  const added = newReports.map((report_id, index) => ({
    ...last,
    report_id,
    auditee_name: newName,
    fac_accepted_date:
      [last.fac_accepted_date, last.fac_accepted_date, "2026-10-30", "2026-10-30"][index] ?? "",
  }));
  const first = rows.find((row) => isPublic(row) && row !== last && row.resubmission_version === "0");
  if (first === undefined) throw new Error("The sample has no public report to suppress.");
  first.is_public = "false";
  last.auditee_name = "Another name";
  const text = stringify([...added, ...rows], { header: true });
  await writeFile(file, text.replaceAll(emptyText, '""'));
  return { changed: last.report_id ?? "", hidden: first.report_id ?? "" };
}
