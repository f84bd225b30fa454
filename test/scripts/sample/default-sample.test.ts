import { describe, expect, it } from "vitest";
import { award, useDefaultSample } from "./default-sample.ts";
import type { FileRow } from "./read-sample.ts";

const made = useDefaultSample();

describe("the default sample holds together", () => {
  it("has one row of general for each report", () => {
    expect(new Set(made.sample.general.map((row) => row.report_id)).size).toBe(made.sample.general.length);
    expect(made.current.size).toBe(2000);
  });

  it("has no child row without its report, whose key it repeats", () => {
    const keys = new Set(made.sample.general.map(describeKey));
    for (const rows of Object.values(made.sample)) {
      expect(rows.filter((row) => !keys.has(describeKey(row)))).toEqual([]);
    }
  });

  it("has the award of each finding and pass-through, but for references of 5 digits in older reports", () => {
    const awards = new Set(made.sample.federal_awards.map(award));
    expect(made.sample.passthrough.filter((row) => !awards.has(award(row)))).toEqual([]);
    const missing = made.sample.findings.filter((row) => !awards.has(award(row)));
    expect(missing.length).toBeGreaterThan(0);
    for (const row of missing) {
      expect(row.report_id).toContain("CENSUS");
      expect(
        awards.has(award({ ...row, award_reference: (row.award_reference ?? "").replace("-0", "-") })),
      ).toBe(true);
    }
  });

  it("adds up", () => {
    const totals = sumBy(made.sample.federal_awards, (row) => row.report_id ?? "");
    for (const row of made.sample.general) {
      expect(totals.get(row.report_id ?? ""), row.report_id).toBe(Number(row.total_amount_expended));
    }
    const program = (row: FileRow) =>
      `${row.report_id} ${row.federal_agency_prefix}.${row.federal_award_extension}`;
    const cluster = (row: FileRow) =>
      [row.report_id, row.cluster_name, row.other_cluster_name, row.state_cluster_name].join();
    const programs = sumBy(made.sample.federal_awards, program);
    const clusters = sumBy(made.sample.federal_awards, cluster);
    const wrong = made.sample.federal_awards.filter(
      (row) =>
        programs.get(program(row)) !== Number(row.federal_program_total) ||
        (row.cluster_name === "N/A" ? 0 : clusters.get(cluster(row))) !== Number(row.cluster_total),
    );
    expect(wrong).toEqual([]);
  });

  it("counts the findings of each award", () => {
    const short = (row: FileRow) => award(row).replace(/AWARD-0*/, "");
    const counts = new Map<string, number>();
    for (const row of made.sample.findings) counts.set(short(row), (counts.get(short(row)) ?? 0) + 1);
    const wrong = made.sample.federal_awards.filter(
      (row) => (counts.get(short(row)) ?? 0) !== Number(row.findings_count),
    );
    expect(wrong).toEqual([]);
  });

  it("has texts and plans for each finding, some in several rows", () => {
    const keys = new Set(made.sample.findings.map((row) => `${row.report_id} ${row.reference_number}`));
    for (const rows of [made.sample.findings_text, made.sample.corrective_action_plans]) {
      const own = rows.map((row) => `${row.report_id} ${row.finding_ref_number}`);
      expect(new Set(own)).toEqual(keys);
      expect(own.length).toBeGreaterThan(new Set(own).size);
    }
  });

  it("links resubmissions both ways, in the order of their versions", () => {
    const rows = new Map(made.sample.resubmission.map((row) => [row.report_id, row]));
    const general = new Map(made.sample.general.map((row) => [row.report_id, row]));
    for (const row of rows.values()) {
      expect(general.get(row.report_id ?? "")).toMatchObject({
        resubmission_status: row.status,
        resubmission_version: row.version,
      });
      if (row.next_report_id !== "")
        expect(rows.get(row.next_report_id ?? "")?.previous_report_id).toBe(row.report_id);
      if (row.previous_report_id === "") {
        expect(row.original_submission_date).toBe(row.fac_accepted_date);
        continue;
      }
      const previous = rows.get(row.previous_report_id ?? "");
      expect(previous).toMatchObject({
        next_report_id: row.report_id,
        status: "deprecated_via_resubmission",
      });
      expect(Number(row.version)).toBe(Number(previous?.version) + 1);
      expect(row.original_submission_date).toBe(previous?.original_submission_date);
      expect((row.fac_accepted_date ?? "") > (previous?.fac_accepted_date ?? "")).toBe(true);
    }
    const statuses = new Set(made.sample.resubmission.map((row) => row.status));
    expect(statuses).toEqual(
      new Set(["most_recent", "deprecated_via_resubmission", "unknown_resubmission_status"]),
    );
    expect(made.sample.resubmission.some((row) => row.version === "3")).toBe(true);
  });

  it("names exactly one of cognizant and oversight agency", () => {
    const named = (row: FileRow) =>
      [row.cognizant_agency, row.oversight_agency].filter((each) => each !== "").length;
    expect(made.sample.general.filter((row) => named(row) !== 1)).toEqual([]);
  });

  it("says the dates in the order in which they happen", () => {
    const columns = [
      "fy_start_date",
      "fy_end_date",
      "auditor_certified_date",
      "auditee_certified_date",
      "submitted_date",
      "fac_accepted_date",
    ];
    for (const row of made.sample.general) {
      const dates = columns.map((column) => row[column]);
      expect(dates, row.report_id).toEqual([...dates].sort());
      expect(row.fy_end_date?.slice(0, 7)).toBe(row.report_id?.slice(0, 7));
    }
  });
});

describe("the default sample has the proportions of real data", () => {
  it("has more awards than one page, also behind one simple filter", () => {
    expect(made.sample.federal_awards.length).toBeGreaterThan(32_000);
    expect(made.visible.federal_awards.filter((row) => row.is_major === "N").length).toBeGreaterThan(20_000);
  });

  it("suppresses about one in a hundred submissions, nearly all tribal, and most tribal ones", () => {
    const rows = made.sample.general.filter((row) => made.current.has(row.report_id ?? ""));
    const suppressed = rows.filter((row) => row.is_public === "f");
    const tribal = rows.filter((row) => row.entity_type === "tribal");
    const both = suppressed.filter((row) => row.entity_type === "tribal");
    expect(suppressed.length).toBeGreaterThanOrEqual(15);
    expect(suppressed.length).toBeLessThan(40);
    expect(both.length / suppressed.length).toBeGreaterThan(0.9);
    expect(both.length / tribal.length).toBeGreaterThan(0.5);
    expect(both.length).toBeLessThan(tribal.length);
    const ids = new Set(suppressed.map((row) => row.report_id));
    expect(made.sample.findings.some((row) => ids.has(row.report_id ?? ""))).toBe(true);
  });

  it.each([
    ["median of awards a report", 0.5, 5, 8, () => [...countBy(made.sample.federal_awards).values()]],
    [
      "95th percentile of awards a report",
      0.95,
      35,
      70,
      () => [...countBy(made.sample.federal_awards).values()],
    ],
    ["median of finding rows a report", 0.5, 2, 4, () => [...countBy(made.sample.findings).values()]],
    [
      "median of amounts",
      0.5,
      90_000,
      170_000,
      () => made.sample.federal_awards.map((row) => Number(row.amount_expended)),
    ],
    [
      "99th percentile of amounts",
      0.99,
      100e6,
      300e6,
      () => made.sample.federal_awards.map((row) => Number(row.amount_expended)),
    ],
    [
      "negative amounts",
      0.035,
      -3_000,
      3_000,
      () => made.sample.federal_awards.map((row) => Number(row.amount_expended)),
    ],
    [
      "length of finding texts",
      0.5,
      1_000,
      3_400,
      () => made.sample.findings_text.map((row) => row.finding_text?.length ?? 0),
    ],
    [
      "longest finding text",
      1,
      5_000,
      32_000,
      () => made.sample.findings_text.map((row) => row.finding_text?.length ?? 0),
    ],
    [
      "length of plans",
      0.5,
      150,
      650,
      () => made.sample.corrective_action_plans.map((row) => row.planned_action?.length ?? 0),
    ],
  ])("has a plausible %s", (_, share, low, high, list) => {
    const values = list().sort((a, b) => a - b);
    const value = values[Math.min(values.length - 1, Math.floor(values.length * share))];
    expect(value).toBeGreaterThanOrEqual(low);
    expect(value).toBeLessThanOrEqual(high);
  });

  it("has what makes real files hard to read", () => {
    const texts = made.sample.findings_text.map((row) => row.finding_text ?? "");
    for (const part of ["\u00a0", "’", "“", "—", "\n", '"'])
      expect(
        texts.some((text) => text.includes(part)),
        part,
      ).toBe(true);
    expect(made.sample.general.some((row) => row.auditee_uei === "GSA_MIGRATION")).toBe(true);
    expect(made.sample.general.some((row) => row.dollar_threshold === "-999999999")).toBe(true);
    expect(
      made.sample.federal_awards.some((row) => row.award_reference?.length === "AWARD-00001".length),
    ).toBe(true);
    expect(made.sample.federal_awards.some((row) => row.loan_balance === "N/A")).toBe(true);
    expect(made.sample.notes_to_sefa.some((row) => row.is_minimis_rate_used === "Both")).toBe(true);
    expect(made.sample.findings.some((row) => row.is_modified_opinion === "")).toBe(true);
  });

  it("belongs to nobody: mail to reserved domains, fictional telephone numbers", () => {
    for (const row of made.sample.general) {
      expect(row.auditee_email).toMatch(/^[a-z.]+@[a-z0-9]+\.example\.org$/);
      expect(row.auditor_phone).toMatch(/^\d{3}55501\d\d$/);
    }
  });
});

function describeKey(row: FileRow): string {
  return [row.report_id, row.auditee_uei, row.audit_year, row.fac_accepted_date].join();
}

function sumBy(rows: FileRow[], name: (row: FileRow) => string): Map<string, number> {
  const totals = new Map<string, number>();
  for (const row of rows) totals.set(name(row), (totals.get(name(row)) ?? 0) + Number(row.amount_expended));
  return totals;
}

function countBy(rows: FileRow[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { report_id = "" } of rows) counts.set(report_id, (counts.get(report_id) ?? 0) + 1);
  return counts;
}
