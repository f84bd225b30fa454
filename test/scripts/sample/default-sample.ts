import { beforeAll } from "vitest";
import { type FileRow, generate, type Sample } from "./read-sample.ts";

/** The default sample: all rows, which reports are current, and the rows of those that are public as well. */
export interface DefaultSample {
  sample: Sample;
  current: Set<string>;
  visible: Sample;
}

/** Filled in before the first of the tests that follow. */
export function useDefaultSample(): DefaultSample {
  const made = {} as DefaultSample;
  beforeAll(async () => {
    const sample = await generate();
    const rows = sample.general.filter((row) => row.resubmission_status !== "deprecated_via_resubmission");
    const current = new Set(rows.map((row) => row.report_id ?? ""));
    const open = new Set(rows.filter((row) => row.is_public === "t").map((row) => row.report_id ?? ""));
    const visible = Object.fromEntries(
      Object.entries(sample).map(([table, all]) => [
        table,
        all.filter((row) => open.has(row.report_id ?? "")),
      ]),
    ) as Sample;
    Object.assign(made, { sample, current, visible });
  });
  return made;
}

export const pinned = (number: number) => `2023-06-GSAFAC-${String(number).padStart(10, "0")}`;
export const award = (row: FileRow) => `${row.report_id} ${row.award_reference}`;
