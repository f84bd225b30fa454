import { beforeAll, describe, expect, it } from "vitest";
import { type FileRow, generate, type Sample } from "./read-sample.ts";

let sample: Sample;
let current: Set<string>;
let visible: Sample;

beforeAll(async () => {
  sample = await generate();
  const rows = sample.general.filter((row) => row.resubmission_status !== "deprecated_via_resubmission");
  current = new Set(rows.map((row) => row.report_id ?? ""));
  const open = new Set(rows.filter((row) => row.is_public === "t").map((row) => row.report_id ?? ""));
  visible = Object.fromEntries(
    Object.entries(sample).map(([table, all]) => [table, all.filter((row) => open.has(row.report_id ?? ""))]),
  ) as Sample;
});

const pinned = (number: number) => `2023-06-GSAFAC-${String(number).padStart(10, "0")}`;
const award = (row: FileRow) => `${row.report_id} ${row.award_reference}`;

describe("the default sample holds together", () => {
  it("has one row of general for each report", () => {
    expect(new Set(sample.general.map((row) => row.report_id)).size).toBe(sample.general.length);
    expect(current.size).toBe(2000);
  });

  it("has no child row without its report, whose key it repeats", () => {
    const keys = new Set(sample.general.map(describeKey));
    for (const rows of Object.values(sample)) {
      expect(rows.filter((row) => !keys.has(describeKey(row)))).toEqual([]);
    }
  });

  it("has the award of each finding and pass-through, but for references of 5 digits in older reports", () => {
    const awards = new Set(sample.federal_awards.map(award));
    expect(sample.passthrough.filter((row) => !awards.has(award(row)))).toEqual([]);
    const missing = sample.findings.filter((row) => !awards.has(award(row)));
    expect(missing.length).toBeGreaterThan(0);
    for (const row of missing) {
      expect(row.report_id).toContain("CENSUS");
      expect(
        awards.has(award({ ...row, award_reference: (row.award_reference ?? "").replace("-0", "-") })),
      ).toBe(true);
    }
  });

  it("adds up", () => {
    const totals = sumBy(sample.federal_awards, (row) => row.report_id ?? "");
    for (const row of sample.general) {
      expect(totals.get(row.report_id ?? ""), row.report_id).toBe(Number(row.total_amount_expended));
    }
    const program = (row: FileRow) =>
      `${row.report_id} ${row.federal_agency_prefix}.${row.federal_award_extension}`;
    const cluster = (row: FileRow) =>
      [row.report_id, row.cluster_name, row.other_cluster_name, row.state_cluster_name].join();
    const programs = sumBy(sample.federal_awards, program);
    const clusters = sumBy(sample.federal_awards, cluster);
    const wrong = sample.federal_awards.filter(
      (row) =>
        programs.get(program(row)) !== Number(row.federal_program_total) ||
        (row.cluster_name === "N/A" ? 0 : clusters.get(cluster(row))) !== Number(row.cluster_total),
    );
    expect(wrong).toEqual([]);
  });

  it("counts the findings of each award", () => {
    const short = (row: FileRow) => award(row).replace(/AWARD-0*/, "");
    const counts = new Map<string, number>();
    for (const row of sample.findings) counts.set(short(row), (counts.get(short(row)) ?? 0) + 1);
    const wrong = sample.federal_awards.filter(
      (row) => (counts.get(short(row)) ?? 0) !== Number(row.findings_count),
    );
    expect(wrong).toEqual([]);
  });

  it("has texts and plans for each finding, some in several rows", () => {
    const keys = new Set(sample.findings.map((row) => `${row.report_id} ${row.reference_number}`));
    for (const rows of [sample.findings_text, sample.corrective_action_plans]) {
      const own = rows.map((row) => `${row.report_id} ${row.finding_ref_number}`);
      expect(new Set(own)).toEqual(keys);
      expect(own.length).toBeGreaterThan(new Set(own).size);
    }
  });

  it("links resubmissions both ways, in the order of their versions", () => {
    const rows = new Map(sample.resubmission.map((row) => [row.report_id, row]));
    const general = new Map(sample.general.map((row) => [row.report_id, row]));
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
    const statuses = new Set(sample.resubmission.map((row) => row.status));
    expect(statuses).toEqual(
      new Set(["most_recent", "deprecated_via_resubmission", "unknown_resubmission_status"]),
    );
    expect(sample.resubmission.some((row) => row.version === "3")).toBe(true);
  });

  it("names exactly one of cognizant and oversight agency", () => {
    const named = (row: FileRow) =>
      [row.cognizant_agency, row.oversight_agency].filter((each) => each !== "").length;
    expect(sample.general.filter((row) => named(row) !== 1)).toEqual([]);
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
    for (const row of sample.general) {
      const dates = columns.map((column) => row[column]);
      expect(dates, row.report_id).toEqual([...dates].sort());
      expect(row.fy_end_date?.slice(0, 7)).toBe(row.report_id?.slice(0, 7));
    }
  });
});

describe("the default sample has the proportions of real data", () => {
  it("has more awards than one page, also behind one simple filter", () => {
    expect(sample.federal_awards.length).toBeGreaterThan(32_000);
    expect(visible.federal_awards.filter((row) => row.is_major === "N").length).toBeGreaterThan(20_000);
  });

  it("suppresses about one in a hundred submissions, nearly all tribal, and most tribal ones", () => {
    const rows = sample.general.filter((row) => current.has(row.report_id ?? ""));
    const suppressed = rows.filter((row) => row.is_public === "f");
    const tribal = rows.filter((row) => row.entity_type === "tribal");
    const both = suppressed.filter((row) => row.entity_type === "tribal");
    expect(suppressed.length).toBeGreaterThanOrEqual(15);
    expect(suppressed.length).toBeLessThan(40);
    expect(both.length / suppressed.length).toBeGreaterThan(0.9);
    expect(both.length / tribal.length).toBeGreaterThan(0.5);
    expect(both.length).toBeLessThan(tribal.length);
    const ids = new Set(suppressed.map((row) => row.report_id));
    expect(sample.findings.some((row) => ids.has(row.report_id ?? ""))).toBe(true);
  });

  it.each([
    ["median of awards a report", 0.5, 5, 8, () => [...countBy(sample.federal_awards).values()]],
    ["95th percentile of awards a report", 0.95, 35, 70, () => [...countBy(sample.federal_awards).values()]],
    ["median of finding rows a report", 0.5, 2, 4, () => [...countBy(sample.findings).values()]],
    [
      "median of amounts",
      0.5,
      90_000,
      170_000,
      () => sample.federal_awards.map((row) => Number(row.amount_expended)),
    ],
    [
      "99th percentile of amounts",
      0.99,
      100e6,
      300e6,
      () => sample.federal_awards.map((row) => Number(row.amount_expended)),
    ],
    [
      "negative amounts",
      0.035,
      -3_000,
      3_000,
      () => sample.federal_awards.map((row) => Number(row.amount_expended)),
    ],
    [
      "length of finding texts",
      0.5,
      1_000,
      3_400,
      () => sample.findings_text.map((row) => row.finding_text?.length ?? 0),
    ],
    [
      "longest finding text",
      1,
      5_000,
      32_000,
      () => sample.findings_text.map((row) => row.finding_text?.length ?? 0),
    ],
    [
      "length of plans",
      0.5,
      150,
      650,
      () => sample.corrective_action_plans.map((row) => row.planned_action?.length ?? 0),
    ],
  ])("has a plausible %s", (_, share, low, high, list) => {
    const values = list().sort((a, b) => a - b);
    const value = values[Math.min(values.length - 1, Math.floor(values.length * share))];
    expect(value).toBeGreaterThanOrEqual(low);
    expect(value).toBeLessThanOrEqual(high);
  });

  it("has what makes real files hard to read", () => {
    const texts = sample.findings_text.map((row) => row.finding_text ?? "");
    for (const part of ["\u00a0", "’", "“", "—", "\n", '"'])
      expect(
        texts.some((text) => text.includes(part)),
        part,
      ).toBe(true);
    expect(sample.general.some((row) => row.auditee_uei === "GSA_MIGRATION")).toBe(true);
    expect(sample.general.some((row) => row.dollar_threshold === "-999999999")).toBe(true);
    expect(sample.federal_awards.some((row) => row.award_reference?.length === "AWARD-00001".length)).toBe(
      true,
    );
    expect(sample.federal_awards.some((row) => row.loan_balance === "N/A")).toBe(true);
    expect(sample.notes_to_sefa.some((row) => row.is_minimis_rate_used === "Both")).toBe(true);
    expect(sample.findings.some((row) => row.is_modified_opinion === "")).toBe(true);
  });

  it("belongs to nobody: mail to reserved domains, fictional telephone numbers", () => {
    for (const row of sample.general) {
      expect(row.auditee_email).toMatch(/^[a-z.]+@[a-z0-9]+\.example\.org$/);
      expect(row.auditor_phone).toMatch(/^\d{3}55501\d\d$/);
    }
  });
});

describe("the default sample has what clients ask for", () => {
  it("has the public, current reports 2023-06-GSAFAC-0000000002 to …41", () => {
    const ids = new Set(visible.general.map((row) => row.report_id));
    for (let number = 2; number <= 41; number += 1) expect(ids).toContain(pinned(number));
  });

  const year = (row: FileRow) => Number(row.audit_year);
  const total = (row: FileRow) => Number(row.total_amount_expended);
  const number = (row: FileRow) => `${row.federal_agency_prefix}.${row.federal_award_extension}`;

  it.each<[string, keyof Sample, (row: FileRow) => boolean, number?]>([
    ["findings of one report", "findings", (row) => row.report_id === pinned(2), 4],
    [
      "prior findings as a list",
      "general",
      (row) => row.report_id === pinned(2) && row.agencies_with_prior_findings === "84,93",
    ],
    [
      "awards with several findings",
      "federal_awards",
      (row) => row.report_id === pinned(2) && Number(row.findings_count) > 1,
    ],
    [
      "direct Medicaid in 2023",
      "federal_awards",
      (row) => number(row) === "93.778" && row.audit_year === "2023" && row.is_direct === "Y",
    ],
    [
      "several EINs and auditors",
      "general",
      (row) => row.is_multiple_eins === "Yes" && row.is_secondary_auditors === "Yes",
    ],
    ["a UEI", "general", (row) => row.auditee_uei === "ABCDEFGH1234", 2],
    ["an auditee's EIN over the years", "general", (row) => row.auditee_ein === "941234567", 4],
    ["an auditor's EIN", "general", (row) => row.auditor_ein === "941234567", 2],
    [
      "a UEI and a report",
      "federal_awards",
      (row) => row.auditee_uei === "ABCDEFGH1234" && row.report_id === pinned(2),
      5,
    ],
    ["news since March 2024", "general", (row) => (row.fac_accepted_date ?? "") >= "2024-03-01", 100],
    [
      "Añasco, one wildcard a letter",
      "general",
      (row) => /Municip(io|ality) de ...SC.$/i.test(row.auditee_name ?? ""),
    ],
    [
      "middle-sized in California",
      "general",
      (row) => row.auditee_state === "CA" && total(row) >= 1e6 && total(row) <= 5e6,
      10,
    ],
    [
      "plans that name a casino",
      "corrective_action_plans",
      (row) => /casino/i.test(row.planned_action ?? ""),
    ],
    ["three years beyond one page of 500", "general", (row) => year(row) >= 2022, 800],
    ["2023 beyond one page of 100", "general", (row) => year(row) === 2023, 200],
    [
      "higher education 2018 to 2023",
      "general",
      (row) => row.entity_type === "higher-ed" && year(row) >= 2018 && year(row) <= 2023,
      50,
    ],
    [
      "AmeriCorps in 2023",
      "federal_awards",
      (row) => row.federal_agency_prefix === "94" && row.audit_year === "2023",
    ],
    [
      "a report's resubmission",
      "resubmission",
      (row) => row.report_id === pinned(2) && row.previous_report_id !== "",
    ],
    [
      "crime victims, with findings",
      "federal_awards",
      (row) => number(row) === "16.575" && Number(row.findings_count) > 0,
    ],
    [
      "crime victims at discretion, with findings",
      "federal_awards",
      (row) => number(row) === "16.582" && Number(row.findings_count) > 0,
    ],
    [
      "towns in California",
      "general",
      (row) => row.auditee_state === "CA" && /^town of/i.test(row.auditee_name ?? ""),
    ],
    [
      "weaknesses in California, 2023",
      "general",
      (row) =>
        row.auditee_state === "CA" &&
        year(row) === 2023 &&
        row.is_internal_control_material_weakness_disclosed === "Yes",
    ],
    ["research", "federal_awards", (row) => row.cluster_name === "RESEARCH AND DEVELOPMENT", 2_000],
    [
      "nutrition of the aging, indirect",
      "federal_awards",
      (row) =>
        number(row) === "93.045" &&
        row.is_direct === "N" &&
        [pinned(2), pinned(3)].includes(row.report_id ?? ""),
      2,
    ],
    [
      "Polk County, Iowa",
      "general",
      (row) => row.auditee_state === "IA" && /POLK COUNTY/i.test(row.auditee_name ?? ""),
    ],
    [
      "a name with an ampersand",
      "general",
      (row) =>
        row.auditee_state === "CA" &&
        year(row) === 2024 &&
        /Carlsbad Housing & Homeless Services/.test(row.auditee_name ?? ""),
    ],
    ["a public tribal report", "general", (row) => row.entity_type === "tribal"],
  ])("finds %s", (_, table, matches, atLeast = 1) => {
    expect(visible[table].filter(matches).length).toBeGreaterThanOrEqual(atLeast);
  });

  it("finds nothing where clients expect nothing", () => {
    expect(visible.findings.filter((row) => row.report_id === pinned(4))).toEqual([]);
    expect(visible.findings.filter((row) => Object.values(row).includes("true"))).toEqual([]);
    expect(visible.general.filter((row) => /Carlsbad Housing $/i.test(row.auditee_name ?? ""))).toEqual([]);
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
