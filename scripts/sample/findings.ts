import type { Award, Filing, Finding, Row } from "./model.ts";
import { findPin } from "./pinned.ts";
import { AWARDS_PER_FINDING, FINDING_COUNTS, REQUIREMENTS, SHARES_WITH_FINDINGS } from "./proportions.ts";
import { at, createRandom, invertQuantiles, type Random } from "./random.ts";

/** The findings of a submission on its awards; none for most. */
export function composeFindings(filing: Filing, awards: readonly Award[]): Finding[] {
  const random = createRandom(filing.seed, filing.index, "findings");
  const pinned = findPin(filing.index)?.findings;
  const has = random.chance(SHARES_WITH_FINDINGS[filing.auditee.entityType]);
  const drawn = invertQuantiles(FINDING_COUNTS, random.next());
  const count = pinned ?? (has ? drawn : 0);
  const first = pinned === undefined ? random.integer(1, 3) : 1;
  return Array.from({ length: count }, (_, i) => {
    const isWeakness = random.chance(0.35);
    return {
      reference: composeReference(filing.auditYear, first + i),
      awards: chooseAwards(random, awards, pinned === undefined ? undefined : i),
      requirement: random.weigh(REQUIREMENTS),
      isMaterialWeakness: isWeakness || (i === 0 && findPin(filing.index)?.hasMaterialWeakness === true),
      isSignificantDeficiency: !isWeakness && random.chance(0.75),
      isModifiedOpinion: isWeakness && random.chance(0.4),
      isOtherMatters: random.chance(0.47),
      isOtherFindings: random.chance(0.06),
      hasQuestionedCosts: random.chance(0.15),
      priorReferences: listPriorReferences(random, filing.auditYear),
    };
  });
}

/** One row a finding and award. Some older reports number awards with 5 digits here and with 4 in federal_awards. */
export function listFindingRows(filing: Filing, findings: readonly Finding[]): Row[] {
  const random = createRandom(filing.seed, filing.index, "finding rows");
  const isWide = filing.isMigrated && random.chance(0.05);
  const isBlank = filing.isMigrated && random.chance(0.06);
  const flag = (value: boolean) => (value ? "Y" : isBlank ? "" : "N");
  return findings.flatMap((finding) =>
    finding.awards.map((award) => ({
      award_reference: isWide ? award.award_reference.replace("AWARD-", "AWARD-0") : award.award_reference,
      reference_number: finding.reference,
      is_material_weakness: flag(finding.isMaterialWeakness),
      is_modified_opinion: flag(finding.isModifiedOpinion),
      is_other_findings: flag(finding.isOtherFindings),
      is_other_matters: flag(finding.isOtherMatters),
      prior_finding_ref_numbers: finding.priorReferences,
      is_questioned_costs: flag(finding.hasQuestionedCosts),
      is_repeat_finding: flag(finding.priorReferences !== "N/A"),
      is_significant_deficiency: flag(finding.isSignificantDeficiency && !finding.isMaterialWeakness),
      type_requirement: finding.requirement,
    })),
  );
}

/** Neighbouring awards: a pinned finding n concerns the awards n and n + 1, others a run from anywhere. */
function chooseAwards(random: Random, awards: readonly Award[], pinned: number | undefined): Award[] {
  const wanted = pinned === undefined ? invertQuantiles(AWARDS_PER_FINDING, random.next()) : 2;
  const count = Math.min(wanted, awards.length);
  const start = pinned ?? random.integer(0, awards.length - 1);
  return Array.from({ length: count }, (_, i) => at(awards, (start + i) % awards.length));
}

function listPriorReferences(random: Random, year: number): string {
  if (random.chance(0.68)) return "N/A";
  const first = random.integer(1, 6);
  const numbers = Array.from({ length: random.chance(0.8) ? 1 : 2 }, (_, i) => first + i);
  return numbers.map((number) => composeReference(year - 1, number)).join(", ");
}

function composeReference(year: number, number: number): string {
  return `${year}-${String(number).padStart(3, "0")}`;
}
