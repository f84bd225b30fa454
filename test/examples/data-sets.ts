import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import { findFiles } from "../../scripts/refresh/find-files.ts";
import { loadDataSet } from "../../scripts/refresh/load-data-set.ts";
import { rollBack } from "../../scripts/refresh/roll-back.ts";
import { connect } from "../../service/connect.ts";
import { runStack } from "../support/run-stack.ts";
import { makeSmallSample } from "../support/small-sample.ts";

export const newReports = [1, 2, 3, 4, 5].map((number) => `2024-06-GSAFAC-00099999${number}0`);
export const newName = 'Peña "New", Inc.\nSecond line';

/** A stack of its own with two data sets, of which either can be made the live one. */
export async function startTwoDataSets() {
  const older = await makeSmallSample(200);
  const parent = await mkdtemp(path.join(tmpdir(), "single-audit-newer-"));
  const newer = path.join(parent, "csv");
  await cp(older.directory, newer, { recursive: true });
  const changed = await addReports(path.join(newer, "general.csv"));

  const stack = await runStack({ args: ["--data", older.directory] });
  const publisher = await connect(stack.facts.database_url, "test");
  await publisher.query("set role publisher");
  await loadDataSet(publisher, { source: newer, files: await findFiles(newer) });
  let live: "older" | "newer" = "newer";
  const swap = async () => {
    await rollBack(publisher);
    live = live === "older" ? "newer" : "older";
  };
  return {
    facts: stack.facts,
    /** The report of the older data set's last day that the newer one has under another name. */
    changed,
    swap,
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
 * there already, and three on one later day. And gives the last report that is there another name.
 */
async function addReports(file: string): Promise<string> {
  const rows: Record<string, string>[] = parse(await readFile(file, "utf8"), { columns: true });
  const isPublic = (row: Record<string, string>) => row.is_public?.startsWith("t");
  const last = rows
    .filter(isPublic)
    .reduce((one, other) => ((other.fac_accepted_date ?? "") > (one.fac_accepted_date ?? "") ? other : one));
  const added = newReports.map((report_id, index) => ({
    ...last,
    report_id,
    auditee_name: newName,
    fac_accepted_date: index < 2 ? (last.fac_accepted_date ?? "") : "2026-10-30",
  }));
  last.auditee_name = "Another name";
  await writeFile(file, stringify([...added, ...rows], { header: true }));
  return last.report_id ?? "";
}
