import type { Award } from "./model.ts";
import { NO_CLUSTER, RESEARCH, STUDENT_AID } from "./programs.ts";
import type { Random } from "./random.ts";

/** Who expends less in a year needs no Single Audit. Dollars. */
export const AUDIT_THRESHOLD = 750_000;

/** Raises what is expended to the threshold, adds cluster and program totals and says what was audited as major. */
export function completeAwards(random: Random, awards: Award[]): Award[] {
  const largest = awards.reduce((a, b) => (b.amount_expended > a.amount_expended ? b : a));
  const missing = AUDIT_THRESHOLD - sumAmounts(awards);
  if (missing > 0) largest.amount_expended += missing + random.integer(0, 1_500_000);

  const programTotals = sumBy(awards, nameProgram);
  const clusterTotals = sumBy(awards, nameCluster);
  const majors = chooseMajors(random, awards, largest);
  for (const award of awards) {
    award.federal_program_total = programTotals.get(nameProgram(award)) ?? 0;
    award.cluster_total =
      award.cluster_name === NO_CLUSTER ? 0 : (clusterTotals.get(nameCluster(award)) ?? 0);
    const opinion = majors.get(nameAuditedUnit(award));
    award.is_major = opinion === undefined ? "N" : "Y";
    award.audit_report_type = opinion ?? "";
  }
  return awards;
}

export function sumAmounts(awards: readonly Award[]): number {
  return awards.reduce((sum, award) => sum + award.amount_expended, 0);
}

/** The prefix of the agency of the largest direct award, or of the largest of all where none is direct. */
export function findLargestAgency(awards: readonly Award[]): string {
  const direct = awards.filter((award) => award.is_direct === "Y");
  const largest = (direct.length > 0 ? direct : awards).reduce((a, b) =>
    b.amount_expended > a.amount_expended ? b : a,
  );
  return largest.federal_agency_prefix;
}

/** The opinion on each program or cluster that was audited as major; the largest one always is. */
function chooseMajors(random: Random, awards: readonly Award[], largest: Award): Map<string, string> {
  const majors = new Map<string, string>();
  for (const unit of new Set(awards.map(nameAuditedUnit))) {
    const isLargest = unit === nameAuditedUnit(largest);
    // Clusters with hundreds of awards would otherwise decide what share of all awards is major.
    const chance = unit === RESEARCH || unit === STUDENT_AID ? 0.25 : 0.13;
    const isMajor = random.chance(chance) || (isLargest && (unit !== RESEARCH || random.chance(0.3)));
    const opinion = random.weigh([
      ["U", 90],
      ["Q", 7.5],
      ["A", 1.5],
      ["D", 1],
    ]);
    if (isMajor || (isLargest && awards.length < 20)) majors.set(unit, opinion);
  }
  return majors;
}

function sumBy(awards: readonly Award[], name: (award: Award) => string): Map<string, number> {
  const totals = new Map<string, number>();
  for (const award of awards) totals.set(name(award), (totals.get(name(award)) ?? 0) + award.amount_expended);
  return totals;
}

function nameProgram(award: Award): string {
  return `${award.federal_agency_prefix}.${award.federal_award_extension}`;
}

function nameCluster(award: Award): string {
  return `${award.cluster_name}|${award.other_cluster_name}|${award.state_cluster_name}`;
}

function nameAuditedUnit(award: Award): string {
  return award.cluster_name === NO_CLUSTER ? nameProgram(award) : award.cluster_name;
}
