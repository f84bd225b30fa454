import { describe, expect, it } from "vitest";
import { pinned, useDefaultSample } from "./default-sample.ts";
import type { FileRow, Sample } from "./read-sample.ts";

const made = useDefaultSample();

describe("the default sample has what clients ask for", () => {
  it("has the public, made.current reports 2023-06-GSAFAC-0000000002 to …41", () => {
    const ids = new Set(made.visible.general.map((row) => row.report_id));
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
    expect(made.visible[table].filter(matches).length).toBeGreaterThanOrEqual(atLeast);
  });

  it("finds nothing where clients expect nothing", () => {
    expect(made.visible.findings.filter((row) => row.report_id === pinned(4))).toEqual([]);
    expect(made.visible.findings.filter((row) => Object.values(row).includes("true"))).toEqual([]);
    expect(made.visible.general.filter((row) => /Carlsbad Housing $/i.test(row.auditee_name ?? ""))).toEqual(
      [],
    );
  });
});
