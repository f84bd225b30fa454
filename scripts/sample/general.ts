import { composeAuditor, FIRM_COUNT } from "./auditors.ts";
import { findLargestAgency, sumAmounts } from "./award-totals.ts";
import { addDays } from "./dates.ts";
import type { Award, Filing, Finding, Person, Row } from "./model.ts";
import { findPin } from "./pinned.ts";
import { createRandom, type Random } from "./random.ts";

/** Auditees that expend more have a cognizant agency, others an oversight agency. Dollars. */
const COGNIZANCE_THRESHOLD = 50_000_000;

/** Who the example firm, number 0, audits besides those pinned to it. */
const EXAMPLE_FIRM_SHARE = 0.004;

export type Extras = { ueis: number; eins: number; auditors: number };

/** The row of `general`. */
export function composeGeneral(
  filing: Filing,
  awards: readonly Award[],
  findings: readonly Finding[],
  extras: Extras,
): Row {
  const random = createRandom(filing.seed, filing.index, "general");
  const { auditee, dates, isMigrated } = filing;
  const total = sumAmounts(awards);
  const agency = findLargestAgency(awards);
  const isCognizant = total > COGNIZANCE_THRESHOLD;
  return {
    ...describePerson("auditee", auditee.contact, isMigrated),
    auditee_certify_name: auditee.certifier.name,
    auditee_certify_title: auditee.certifier.title,
    auditee_name: auditee.name,
    auditee_address_line_1: auditee.address,
    auditee_city: auditee.city,
    auditee_state: auditee.state,
    auditee_ein: auditee.ein,
    auditee_zip: auditee.zip,
    ...describeAuditor(random, filing),
    cognizant_agency: isCognizant ? agency : "",
    oversight_agency: isCognizant ? "" : agency,
    ...listDates(random, dates.accepted, isMigrated),
    fy_end_date: dates.end,
    fy_start_date: dates.start,
    audit_type: random.chance(0.985) ? "single-audit" : "program-specific",
    ...describeOpinions(random, filing, findings),
    dollar_threshold: isMigrated && random.chance(0.02) ? -999_999_999 : findDollarThreshold(total),
    is_low_risk_auditee: findings.length === 0 && random.chance(0.75) ? "Yes" : "No",
    agencies_with_prior_findings:
      findPin(filing.index)?.agenciesWithPriorFindings ?? listPriorAgencies(random, awards, findings),
    entity_type: auditee.entityType,
    number_months: filing.numberMonths,
    audit_period_covered: filing.periodCovered,
    total_amount_expended: total,
    type_audit_code: "UG",
    is_public: filing.isPublic,
    data_source: isMigrated ? "CENSUS" : "GSAFAC",
    is_additional_ueis:
      isMigrated && filing.uei === "GSA_MIGRATION" ? "GSA_MIGRATION" : toYesNo(extras.ueis > 0),
    resubmission_version: filing.resubmission?.version ?? 0,
    resubmission_status: filing.resubmission?.status ?? null,
    is_multiple_eins: toYesNo(extras.eins > 0),
    is_secondary_auditors: toYesNo(extras.auditors > 0),
  };
}

function describePerson(side: "auditee" | "auditor", person: Person, isMigrated: boolean): Row {
  return {
    [`${side}_contact_name`]: person.name,
    [`${side}_contact_title`]: isMigrated ? "GSA_MIGRATION" : person.title,
    [`${side}_email`]: person.email,
    [`${side}_phone`]: person.phone,
  };
}

function describeAuditor(random: Random, filing: Filing): Row {
  const isExample = findPin(filing.index)?.hasExampleAuditor === true || random.chance(EXAMPLE_FIRM_SHARE);
  const auditor = composeAuditor(filing.seed, isExample ? 0 : random.integer(1, FIRM_COUNT - 1));
  const isForeign = random.chance(0.002);
  return {
    ...describePerson("auditor", auditor.contact, filing.isMigrated),
    auditor_certify_name: auditor.certifier.name,
    auditor_certify_title: auditor.certifier.title,
    auditor_state: isForeign ? "" : auditor.state,
    auditor_city: isForeign ? "" : auditor.city,
    auditor_address_line_1: isForeign ? "" : auditor.address,
    auditor_zip: isForeign ? "" : auditor.zip,
    auditor_country: isForeign ? "Non-USA" : "USA",
    auditor_firm_name: auditor.firm,
    auditor_foreign_address: isForeign ? `${auditor.address}\nLondon, England` : "",
    auditor_ein: auditor.ein,
  };
}

function describeOpinions(random: Random, filing: Filing, findings: readonly Finding[]): Row {
  const opinions = random.weigh([
    ["unmodified_opinion", 90],
    ["unmodified_opinion,qualified_opinion", 2],
    ["qualified_opinion", 3],
    ["adverse_opinion", 1],
    ["disclaimer_of_opinion", 0.7],
    ["not_gaap", 3],
    ["unmodified_opinion,not_gaap", 0.3],
  ]);
  const isSpecial = opinions.includes("not_gaap");
  const isWeak = findings.some((finding) => finding.isMaterialWeakness) || random.chance(0.04);
  return {
    gaap_results: opinions,
    sp_framework_basis: isSpecial
      ? random.pick(["cash_basis", "tax_basis", "regulatory_basis", "contractual_basis", "other_basis"])
      : "",
    is_sp_framework_required: isSpecial ? random.pick(["Yes", "No"]) : "",
    sp_framework_opinions: isSpecial ? random.pick(["unmodified_opinion", "qualified_opinion"]) : "",
    is_going_concern_included: toYesNo(random.chance(0.015)),
    is_internal_control_deficiency_disclosed: toYesNo(findings.length > 0 || random.chance(0.1)),
    is_internal_control_material_weakness_disclosed: toYesNo(isWeak),
    is_material_noncompliance_disclosed: toYesNo(findings.length > 0 && random.chance(0.15)),
    is_aicpa_audit_guide_included: filing.isMigrated ? "GSA_MIGRATION" : toYesNo(random.chance(0.05)),
  };
}

/** The steps to acceptance, in order. The Census Bureau did not record when a submission was begun. */
function listDates(random: Random, accepted: string, isMigrated: boolean): Row {
  const submitted = addDays(accepted, isMigrated ? -random.integer(0, 4) : 0);
  const auditee = addDays(submitted, -random.integer(0, 2));
  const auditor = addDays(auditee, -random.integer(0, 9));
  const ready = addDays(auditor, -random.integer(0, 7));
  return {
    date_created: isMigrated ? null : addDays(ready, -random.integer(0, 70)),
    ready_for_certification_date: isMigrated ? null : ready,
    auditor_certified_date: auditor,
    auditee_certified_date: auditee,
    submitted_date: submitted,
  };
}

/** Type A programs' threshold, 2 CFR 200.518. */
function findDollarThreshold(total: number): number {
  if (total <= 25_000_000) return 750_000;
  if (total <= 100_000_000) return Math.round(total * 0.03);
  if (total <= 1_000_000_000) return 3_000_000;
  return total <= 10_000_000_000 ? Math.round(total * 0.003) : 30_000_000;
}

function listPriorAgencies(random: Random, awards: readonly Award[], findings: readonly Finding[]): string {
  if (!random.chance(findings.length > 0 ? 0.5 : 0.06)) return "00";
  const prefixes = awards.slice(0, random.integer(1, 3)).map((award) => award.federal_agency_prefix);
  return [...new Set(prefixes)].sort().join(",");
}

function toYesNo(value: boolean): string {
  return value ? "Yes" : "No";
}
