import { completeAwards } from "./award-totals.ts";
import { chooseCluster, chooseProgram } from "./choose-program.ts";
import type { Award, Filing } from "./model.ts";
import { findPin } from "./pinned.ts";
import { findProgram, type Program, RESEARCH, STUDENT_AID } from "./programs.ts";
import { AWARD_AMOUNTS, AWARD_COUNTS, AWARD_DISTANCES } from "./proportions.ts";
import { at, createRandom, invertQuantiles, type Random } from "./random.ts";

/** The awards of a submission, with their totals; findings are counted later. */
export function composeAwards(filing: Filing): Award[] {
  const random = createRandom(filing.seed, filing.index, "awards");
  const pin = findPin(filing.index);
  const count = pin?.awardCount ?? countAwards(random, filing);
  const digits = filing.dates.accepted >= "2024-07-01" ? 5 : 4;
  const awards: Award[] = [];
  for (let i = 0; i < count; i += 1) {
    const pinned = pin?.awards?.[i];
    const program = pinned
      ? findProgram(pinned[0])
      : chooseProgram(random, filing.auditee.entityType, count, i);
    const award = composeAward(random, filing, program, count);
    award.award_reference = `AWARD-${String(i + 1).padStart(digits, "0")}`;
    if (pinned)
      Object.assign(award, { is_direct: pinned[1], amount_expended: Math.abs(award.amount_expended) });
    awards.push(award);
  }
  // What a later submission put right.
  const first = at(awards, 0);
  if (filing.superseded > 0)
    first.amount_expended -= Math.trunc((first.amount_expended * filing.superseded) / 20);
  return completeAwards(random, awards);
}

function countAwards(random: Random, { auditee }: Filing): number {
  const u = 1 - (1 - auditee.size) * AWARD_DISTANCES[auditee.entityType];
  const count = invertQuantiles(AWARD_COUNTS, u);
  return Math.max(1, Math.floor(count * (0.85 + 0.3 * random.next())));
}

function composeAward(random: Random, filing: Filing, program: Program, count: number): Award {
  const isStudentAid = program.cluster === STUDENT_AID;
  const isDirect = isStudentAid || random.chance(program.cluster === RESEARCH ? 0.6 : 0.4);
  const isLoan = program.extension === "268" ? program.prefix === "84" : random.chance(0.01);
  const isNegative = random.chance(0.035);
  // A report with few awards has few large ones.
  const u = random.next();
  const amount = invertQuantiles(AWARD_AMOUNTS, count < 20 && u > 0.9 ? u - 0.35 : u);
  const passesDown = !isNegative && random.chance(0.12);
  const cluster = chooseCluster(random, filing, program.cluster);
  const covid = random.chance(0.05);
  return {
    award_reference: "",
    federal_agency_prefix: program.prefix,
    federal_award_extension: program.extension,
    additional_award_identification: covid
      ? "COVID-19"
      : random.weigh<string | null>([
          [null, 55],
          ["", 35],
          [composeAwardNumber(random), 10],
        ]),
    federal_program_name:
      covid && !program.name.startsWith("COVID") ? `COVID-19 - ${program.name}` : program.name,
    amount_expended: isNegative ? -random.integer(100, 250_000) : amount,
    cluster_name: cluster.name,
    other_cluster_name: cluster.other,
    state_cluster_name: cluster.state,
    cluster_total: 0,
    federal_program_total: 0,
    is_major: "N",
    is_loan: isLoan ? "Y" : "N",
    loan_balance: isLoan
      ? random.weigh([
          [String(random.integer(1_000, 90_000_000)), 6],
          ["N/A", 2],
          ["", 2],
        ])
      : "",
    is_direct: isDirect ? "Y" : "N",
    audit_report_type: "",
    findings_count: 0,
    is_passthrough_award: passesDown ? "Y" : "N",
    passthrough_amount: passesDown ? Math.floor((amount * random.integer(5, 95)) / 100) : null,
  };
}

function composeAwardNumber(random: Random): string {
  return random.pick(["NA", "H79SM", "R01AI", "G-22-", "S010A", "ARP 20"]) + random.digits(6);
}
